"""What UCLS and UCLS-L keep as the covariance of w, by letting their kernels learn from a log."""

import functools
from typing import Any

import numpy as np

from ucls.algorithms import algorithm_module, ucls, ucls_l
from ucls.evaluation.log import Log, features
from ucls.kernels.active import Active
from ucls.kernels.compilation.jit import jit


@jit
def _one_action(x):
    """Features of the only action, in the types that the kernel is compiled for already."""
    return Active(x.index.astype(np.int64).reshape(1, -1), x.value.copy().reshape(1, -1))


@functools.cache
def _replay(name: str) -> Any:
    """Build the replay of a log around the kernels of an algorithm."""
    algorithm = algorithm_module(name)
    start, update = algorithm.start, algorithm.update

    @jit
    def replay(log, n, state, hyper, rng):
        for t in range(n):
            x, x_next = features(log, t)
            if log.decay[t] == 0.0:
                start(state, hyper, rng)
            update(state, hyper, _one_action(x), 0, log.reward[t], log.discount[t], _one_action(x_next), 0, rng)

    return replay


def linear_spread(log: Log, n: int, size: int, lambda_: float, alpha: float, alpha_var: float) -> np.ndarray:
    """w_var as UCLS-L has it after n transitions; its step sizes are parts of an error."""
    hyper = ucls_l.Settings(lambda_=float(lambda_), alpha=float(alpha), alpha_var=float(alpha_var))
    state = ucls_l.init(hyper, size, 1, size)
    _replay("ucls-l")(log, n, state, hyper, np.random.default_rng(0))
    return state.w_var


def running_covariance(log: Log, n: int, size: int, lambda_: float, beta: float) -> np.ndarray:
    """C as UCLS has it after n transitions, at its default settings but for lambda and beta."""
    hyper = ucls.Settings(lambda_=float(lambda_), beta=float(beta), trace_threshold=float(beta))
    state = ucls.init(hyper, size, 1, size)
    _replay("ucls")(log, n, state, hyper, np.random.default_rng(0))
    return np.tril(state.C) + np.tril(state.C, -1).T
