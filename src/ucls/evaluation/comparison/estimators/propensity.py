"""Probabilities of the logged actions, fitted where the log does not have them: logistic regression on the features."""

from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.estimators.systems import dense
from ucls.evaluation.logs.episodes import EpisodeLog

RIDGE = 1e-4  # per row, on the squares of the weights
MOST = 200_000  # rows that are used
ITERATIONS = 200
BINS = 10
LEAST = 1e-3  # a fitted probability is at least this


class Propensity(NamedTuple):
    """The fitted weights, the probability of every logged action, and the calibration error: the mean difference, over
    bins of equal size, of fitted probabilities and observed frequencies."""

    weights: np.ndarray
    probability: np.ndarray
    calibration_error: float


def fit_propensity(log: EpisodeLog, basis: Basis) -> Propensity:
    """Fit the probability of every action given the state by penalized maximum likelihood."""
    from scipy import optimize

    some = np.arange(log.n_steps) if log.n_steps <= MOST else np.linspace(0, log.n_steps - 1, MOST).astype(np.int64)
    x, taken = dense(basis.rows(log.states[some])), log.action[some]
    target = np.zeros((len(some), len(log.actions)))
    target[np.arange(len(some)), taken] = 1.0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(len(log.actions), -1)
        p = softmax(x @ W.T)
        likelihood = np.log(np.maximum(p[np.arange(len(some)), taken], 1e-300)).mean()
        return RIDGE * float(flat @ flat) - likelihood, ((p - target).T @ x / len(some) + 2 * RIDGE * W).ravel()

    start = np.zeros(len(log.actions) * basis.size)
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    W = found.x.reshape(len(log.actions), -1)
    probability = np.empty(log.n_steps)
    for begin in range(0, log.n_steps, 1 << 16):
        rows = slice(begin, begin + (1 << 16))
        p = probabilities(W, basis, log.states[rows])
        probability[rows] = p[np.arange(len(p)), log.action[rows]]
    return Propensity(W, probability, _calibration(softmax(x @ W.T), target))


def probabilities(weights: np.ndarray, basis: Basis, states: np.ndarray) -> np.ndarray:
    """The fitted probability of every action in some states."""
    p = np.maximum(softmax(dense(basis.rows(states)) @ weights.T), LEAST)
    return p / p.sum(axis=1, keepdims=True)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to the exponentials of scores."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def _calibration(fitted: np.ndarray, taken: np.ndarray) -> float:
    """The mean over bins of |mean fitted probability - observed frequency|, all actions together."""
    p, y = fitted.ravel(), taken.ravel()
    bins = np.array_split(np.argsort(p, kind="stable"), BINS)
    return float(np.mean([abs(p[each].mean() - y[each].mean()) for each in bins if len(each)]))
