"""UCLS's own running average of the covariance of w, by letting its kernel learn from a log."""

import numpy as np

from ucls.algorithms import ucls
from ucls.evaluation.log import Log, features
from ucls.kernels._jit import jit
from ucls.kernels.active import Active


@jit
def _one_action(x):
    """Features of the only action, in the types that the kernel is compiled for already."""
    return Active(x.index.astype(np.int64).reshape(1, -1), x.value.copy().reshape(1, -1))


@jit
def _replay(log, n, state, hyper, rng):
    for t in range(n):
        x, x_next = features(log, t)
        if log.decay[t] == 0.0:
            ucls.start(state, hyper, rng)
        ucls.update(state, hyper, _one_action(x), 0, log.reward[t], log.discount[t], _one_action(x_next), 0, rng)


def running_covariance(log: Log, n: int, size: int, lambda_: float, beta: float) -> np.ndarray:
    """C as UCLS has it after n transitions, at its default settings but for lambda and beta."""
    hyper = ucls.Hyper(lambda_=float(lambda_), beta=float(beta), trace_threshold=float(beta))
    state = ucls.init(hyper, size, 1, size)
    _replay(log, n, state, hyper, np.random.default_rng(0))
    return np.tril(state.C) + np.tril(state.C, -1).T
