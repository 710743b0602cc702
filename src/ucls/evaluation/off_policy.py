"""Importance ratios: which lambda leaves the trace a variance, and how many transitions the weighted ones are worth.

The trace z = rho (gamma lambda z + x) multiplies ratios. Its second moment grows by gamma^2 lambda^2 E[rho^2] per step,
which is measured over the logged transitions, each with its own gamma. From 1 on the trace has no variance, and no
interval means anything; docs/evaluation.md shows what was measured below that.
"""

import numpy as np

from ucls.errors import UserError
from ucls.evaluation.log import Log
from ucls.kernels.compilation.jit import jit

ON_POLICY = 0.9
GRID = tuple(i / 10 for i in range(9, -1, -1))
LARGEST = 0.5  # growth that a lambda may have if nobody gives one: at 1 there is no variance


def is_off_policy(log: Log, n: int) -> bool:
    """Whether some ratio of the first n transitions is not 1."""
    return bool((log.rho[:n] != 1).any())


def mean_square(log: Log, n: int) -> float:
    """The mean of (gamma rho)^2 over the first n transitions, 0 where an episode begins."""
    with np.errstate(over="ignore"):
        return float(np.mean(log.decay[:n] ** 2)) if n else 0.0


def choose_lambda(log: Log, n: int) -> float:
    """The largest lambda of a grid whose trace has a variance by a good margin; 0.9 where all ratios are 1."""
    if not is_off_policy(log, n):
        return ON_POLICY
    square = mean_square(log, n)
    return next((lambda_ for lambda_ in GRID if lambda_**2 * square <= LARGEST), 0.0)


def refuse_growth(log: Log, n: int, lambda_: float) -> None:
    """Refuse a lambda with which the importance-weighted trace has no variance."""
    if lambda_ == 0 or not is_off_policy(log, n) or (growth := lambda_**2 * mean_square(log, n)) < 1:
        return
    raise UserError(
        f"with lambda {lambda_:g} no variance exists: gamma^2 lambda^2 E[rho^2] is {growth:.3g}, and must be below 1; "
        f"give lambda {choose_lambda(log, n):g}, or none to have it chosen"
    )


def effective_sample_size(log: Log, n: int, lambda_: float) -> float:
    """(sum w)^2 / sum w^2 of the trace's weights: the trace of a constant feature 1, divided by what it would be if all
    ratios were 1. Without ratios it is n; 0 if all weights are 0."""
    if not is_off_policy(log, n):
        return float(n)
    weights = np.empty(n)
    _trace_weights(log.discount[:n], log.rho[:n], log.decay[:n], lambda_, weights)
    largest = weights.max(initial=0.0)
    if not 0 < largest < np.inf:
        return 0.0
    weights /= largest
    return float(weights.sum() ** 2 / (weights**2).sum())


@jit
def _trace_weights(discount, rho, decay, lambda_, weights):
    """The trace of a constant feature 1, over what it would be if all ratios were 1."""
    y, plain = 0.0, 0.0
    for t in range(len(weights)):
        follows = t > 0 and (decay[t] > 0.0 or rho[t - 1] == 0.0)
        y = 1.0 + lambda_ * decay[t] * y
        plain = 1.0 + (lambda_ * discount[t - 1] * plain if follows else 0.0)
        weights[t] = rho[t] * y / plain
