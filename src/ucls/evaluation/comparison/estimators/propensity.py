"""Probabilities of the logged actions, fitted where the log does not have them.

Logistic regression on state features (of several kinds that with the smallest loss on held-out episodes), recalibrated:
isotonic regression maps the probabilities of every action in held-out episodes to the frequencies with which it was
taken (Zadrozny and Elkan, 2002). The map is used if it lowers the loss on episodes that it was not fitted to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.estimators.systems import dense
from ucls.evaluation.logs.episodes import EpisodeLog

RIDGE = 1e-4  # per row, on the squares of the weights
MOST = 50_000  # rows that are used
ITERATIONS = 200
FOLDS = 5
BINS = 10
LEAST = 1e-3  # a fitted probability is at least this

Curve = tuple[np.ndarray, np.ndarray]  # fitted probabilities in increasing order, and the frequencies at them


class Propensity(NamedTuple):
    """The features and weights, the recalibration of every action (if it helps), the probability of every logged
    action, and the calibration error before and after recalibration.

    The error is the mean difference, over bins of equal size, of probabilities and frequencies in held-out episodes.
    """

    basis: Basis
    weights: np.ndarray
    curves: Sequence[Curve] | None
    probability: np.ndarray
    raw_error: float
    calibration_error: float

    def at(self, states: np.ndarray) -> np.ndarray:
        """The probability of every action in some states."""
        return recalibrated(softmax(dense(self.basis.rows(states)) @ self.weights.T), self.curves)


def fit_propensity(log: EpisodeLog, bases: Sequence[Basis]) -> Propensity:
    """Fit the probability of every action given the state, with the features that predict held-out episodes best."""
    some = np.arange(log.n_steps) if log.n_steps <= MOST else np.linspace(0, log.n_steps - 1, MOST).astype(np.int64)
    fold, target = log.episode[some] % FOLDS, np.zeros((len(some), len(log.actions)))
    target[np.arange(len(some)), log.action[some]] = 1.0
    fits = [_fitted(dense(basis.rows(log.states[some])), target, fold) for basis in bases]
    best = int(np.argmin([loss(held_out, target) for _, held_out in fits]))
    weights, held_out = fits[best]
    halves, even = held_out.copy(), fold % 2 == 0
    for mine in (even, ~even) if even.any() and not even.all() else ():
        halves[mine] = recalibrated(held_out[mine], curves_of(held_out[~mine], target[~mine]))
    helps = loss(halves, target) < loss(held_out, target)
    curves = curves_of(held_out, target) if helps else None
    errors = calibration(held_out, target), calibration(halves if helps else held_out, target)
    found = Propensity(bases[best], weights, curves, np.empty(log.n_steps), *errors)
    for begin in range(0, log.n_steps, 1 << 16):
        rows = slice(begin, begin + (1 << 16))
        p = found.at(log.states[rows])
        found.probability[rows] = p[np.arange(len(p)), log.action[rows]]
    return found


def _fitted(x: np.ndarray, target: np.ndarray, fold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights fitted to all rows, and probabilities with weights fitted to the other folds."""
    weights = _logistic(x, target, np.zeros((target.shape[1], x.shape[1])))
    held_out = np.empty_like(target)
    for f in np.unique(fold):
        mine = fold == f
        held_out[mine] = softmax(x[mine] @ _logistic(x[~mine], target[~mine], weights).T)
    return weights, held_out


def _logistic(x: np.ndarray, target: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Weights of penalized maximum likelihood."""
    from scipy import optimize

    if not len(x):
        return np.zeros_like(start)

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(start.shape)
        p = softmax(x @ W.T)
        likelihood = np.log(np.maximum((p * target).sum(axis=1), 1e-300)).mean()
        return RIDGE * float(flat @ flat) - likelihood, ((p - target).T @ x / len(x) + 2 * RIDGE * W).ravel()

    found = optimize.minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return found.x.reshape(start.shape)


def curves_of(p: np.ndarray, target: np.ndarray) -> list[Curve]:
    """For every action, frequencies as an increasing function of probabilities."""
    from scipy import optimize

    found = []
    for a in range(p.shape[1]):
        order = np.argsort(p[:, a], kind="stable")
        found.append((p[order, a], optimize.isotonic_regression(target[order, a]).x))
    return found


def recalibrated(p: np.ndarray, curves: Sequence[Curve] | None) -> np.ndarray:
    """Probabilities that follow from others by curves, if there are any; none is below `LEAST`."""
    if curves is not None:
        p = np.column_stack([np.interp(p[:, a], *curve) for a, curve in enumerate(curves)])
    p = np.maximum(p, LEAST)
    return p / p.sum(axis=1, keepdims=True)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to the exponentials of scores."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def loss(p: np.ndarray, target: np.ndarray) -> float:
    """The mean negative logarithm of the probabilities of the actions that were taken."""
    return -float(np.log(np.maximum((p * target).sum(axis=1), LEAST)).mean())


def calibration(p: np.ndarray, target: np.ndarray) -> float:
    """The mean over bins of |mean probability - frequency|, all actions together."""
    p, y = p.ravel(), target.ravel()
    bins = np.array_split(np.argsort(p, kind="stable"), BINS)
    return float(np.mean([abs(p[each].mean() - y[each].mean()) for each in bins if len(each)]))
