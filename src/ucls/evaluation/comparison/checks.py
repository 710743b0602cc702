"""Tests of the assumptions behind a comparison; each has a p-value, and a failed one forbids a verdict.

Every test compares two estimates of the same thing from the same episodes: if the assumptions hold, their difference is
0 up to noise, and the influence of every episode on both says how large that noise is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.estimators.estimate import Estimate, quantile
from ucls.evaluation.comparison.estimators.traces import LAMBDAS
from ucls.evaluation.logs.episodes import EpisodeLog

LEVEL = 0.01  # of every test
REST = 0.01  # discount at a truncation up to which the rest of an episode does not matter
FEW = 20  # episodes below which nothing is tested
ROUNDING = 1e-6  # of the standard error of the mean return: smaller differences are rounding errors


class Check(NamedTuple):
    """A test: what it compares, its p-value, and what a failure means."""

    name: str
    p_value: float
    meaning: str

    @property
    def failed(self) -> bool:
        """Whether the data contradict the assumption."""
        return self.p_value < LEVEL


def remaining(log: EpisodeLog) -> float:
    """The discount that remains where episodes were truncated, the largest of all: 0 if none was."""
    cut = log.truncated
    return float((log.discounting[log.first[1:] - 1] * log.gamma)[cut].max(initial=0.0))


def features_check(here: Estimate, other: Estimate, confidence: float, names: tuple[str, str]) -> Check:
    """Whether other features change the difference by more than its statistical error: then bias dominates.

    A smaller disagreement widens the interval (see `spans`) but does not forbid a verdict.
    """
    noise = quantile(confidence, here.freedom) * here.error
    return Check(
        "features",
        _p(here.minus(other), noise),
        f"the features ({names[0]}) cannot represent the values: with {names[1]} the difference is {other.value:.4g} "
        f"instead of {here.value:.4g}",
    )


def lambda_check(differences: Sequence[Estimate], confidence: float) -> Check:
    """Whether the largest lambda changes the difference by more than its statistical error."""
    here, other = differences[0], differences[-1]
    noise = quantile(confidence, here.freedom) * here.error
    return Check(
        "lambda",
        _p(here.minus(other), noise),
        f"the estimate depends on lambda: with {LAMBDAS[-1]:g} the difference is {other.value:.4g} instead of "
        f"{here.value:.4g}; the state is not Markov, or the features cannot represent the values",
    )


def returns_check(log: EpisodeLog, fitted: Estimate, returns: Estimate) -> Check | None:
    """Whether the fitted value of the logged policy is its mean return; None if truncations hide much of it."""
    if remaining(log) > REST:
        return None
    meaning = (
        f"the fitted value of the logged policy, {fitted.value:.4g}, is not its mean return, {returns.value:.4g}: the "
        "state is not Markov (something that matters is not logged), or the features cannot represent the values"
    )
    return Check("returns", _p(fitted.minus(returns), size=returns.error), meaning)


def estimators_check(fitted: Estimate, robust: Estimate) -> Check:
    """Whether LSTD-Q and doubly robust estimation agree on the difference."""
    meaning = (
        f"estimators disagree on the difference: LSTD-Q {fitted.value:.4g}, doubly robust {robust.value:.4g}; the "
        "state is not Markov, the features are too poor, or the logged probabilities are wrong"
    )
    return Check("estimators", _p(fitted.minus(robust)), meaning)


def stationarity_check(log: EpisodeLog, residuals: np.ndarray, influence: np.ndarray) -> Check | None:
    """Whether TD errors differ between the first and the second half of the episodes (Hotelling's T^2).

    A change of the logged policy alone leaves the mean of TD errors at 0; a change of the environment does not.
    """
    from scipy import special

    n = log.n_episodes
    spread = log.states.std(axis=0)
    wide = np.flatnonzero(spread > 0)[:3]
    scaled = (log.states[:, wide] - log.states[:, wide].mean(axis=0)) / spread[wide]
    per_step = np.column_stack([residuals, residuals[:, None] * scaled])
    scores = np.add.reduceat(per_step, log.first[:-1], axis=0)
    scores = np.column_stack([scores, influence])
    if n < FEW or not np.isfinite(scores).all():
        return None
    early, late = scores[: n // 2], scores[n // 2 :]
    change = late.mean(axis=0) - early.mean(axis=0)
    covariance = np.cov(early.T) / len(early) + np.cov(late.T) / len(late)
    size = np.sqrt(np.diag(covariance))
    if not (size > 0).all():
        return None
    squared = float(change / size @ np.linalg.pinv(covariance / np.outer(size, size), rcond=1e-6) @ (change / size))
    q = len(change)
    p = float(special.fdtrc(q, n - q - 1, squared * (n - q - 1) / (q * (n - 2))))
    return Check("stationarity", p, "the environment changed over time: TD errors in the first half of the episodes "
                 "differ from those in the second")  # fmt: skip


def _p(gap: Estimate, margin: float = 0.0, size: float = 0.0) -> float:
    """The p-value of a difference beyond a margin; 1 where it is within rounding of numbers of some size."""
    if not np.isfinite(gap.value) or len(gap.influence) < FEW or abs(gap.value) <= ROUNDING * size:
        return 1.0
    return gap.p_beyond(margin) if gap.error > 0 else 1.0
