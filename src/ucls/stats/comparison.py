"""Comparisons of samples of runs by rank: the probability of improvement, and performance profiles."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ucls.stats.curves import Band
from ucls.stats.many import MANY, improvement_of_many, normal_quantile
from ucls.stats.resampling import RESAMPLES, percentiles, weights
from ucls.stats.summary import Estimate, scores


def probability_of_improvement(
    x: ArrayLike,
    y: ArrayLike,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """The probability that a run of x scores above one of y, a tie counting half; None where either has no runs.

    Where either sample is a single run there is no interval: its ends are NaN.

    >>> probability_of_improvement([3.0, 4.0], scores([1.0, 9.0], diverged=[False, True]))
    Estimate(mean=1.0, low=1.0, high=1.0)
    """
    x, y = scores(x), scores(y)
    if len(x) == 0 or len(y) == 0:
        return None
    p = float(_above(x, y, np.ones((1, len(x))), np.ones((1, len(y))))[0])
    if min(len(x), len(y)) == 1:
        return Estimate(p, math.nan, math.nan)
    if min(len(x), len(y)) >= MANY:
        return Estimate(p, *improvement_of_many(x, y, p, confidence))
    width = max(len(x), len(y))
    of_x, of_y = (weights(len(each), resamples, (seed, 0, i), width=width) for i, each in enumerate((x, y)))
    low, high = percentiles(np.concatenate([_above(x, y, w, v) for w, v in zip(of_x, of_y, strict=True)]), confidence)
    return Estimate(p, min(float(low), p), max(float(high), p))


def _above(x: np.ndarray, y: np.ndarray, counts_x: np.ndarray, counts_y: np.ndarray) -> np.ndarray:
    """The fraction of pairs in which x is above y, a tie counting half, in each resample."""
    x, y = np.sort(x), np.sort(y)  # a resample does not care for the order, and memory does
    below = np.pad(np.cumsum(counts_x, axis=1), ((0, 0), (1, 0)))
    left, right = np.searchsorted(x, y), np.searchsorted(x, y, side="right")
    beaten_by = 2 * len(x) - below.take(left, axis=1) - below.take(right, axis=1)
    return np.einsum("rj,rj->r", beaten_by, counts_y) / (2 * len(x) * len(y))


def profile(
    values: ArrayLike,
    taus: ArrayLike,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Band:
    """The fraction of runs that score at least each of `taus`, with a bootstrap band; a diverged run never does.

    The band has no width where all runs or none do: see `proportion`. A single run has no band: its ends are NaN.
    Without runs the profile is empty.

    >>> profile(scores([1.0, 2.0, 3.0, 9.0], [False, False, False, True]), [1.0, 3.0, 4.0]).center
    array([0.75, 0.25, 0.  ])
    """
    marked, taus = scores(values), np.asarray(taus, np.float64)
    n = len(marked)
    if n == 0:
        return Band(taus[:0], taus[:0], taus[:0], taus[:0], np.zeros(0, int))
    first = np.searchsorted(np.sort(marked), taus)
    center = (n - first) / n
    if n == 1:
        nothing = np.full(len(taus), np.nan)
        return Band(taus, center, nothing, nothing.copy(), np.full(len(taus), n))
    if n >= MANY:
        reach = normal_quantile(confidence) * np.sqrt(center * (1 - center) / n)
        return Band(taus, center, center - reach, center + reach, np.full(len(taus), n))
    drawn = []
    for counts in weights(n, resamples, seed):
        below = np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))
        drawn.append((n - below.take(first, axis=1)) / n)
    low, high = percentiles(np.concatenate(drawn), confidence)
    return Band(taus, center, np.minimum(low, center), np.maximum(high, center), np.full(len(taus), n))
