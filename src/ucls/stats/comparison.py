"""Comparisons of samples of runs by rank: the probability of improvement, and performance profiles."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError
from ucls.stats.curves import Band
from ucls.stats.many import MANY, improvement_of_many, normal_quantile
from ucls.stats.resampling import RESAMPLES, degrees_of_freedom, percentiles, strata_of, weights
from ucls.stats.summary import Estimate, scores


def probability_of_improvement(
    x: ArrayLike,
    y: ArrayLike,
    groups_x: Sequence | np.ndarray | None = None,
    groups_y: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate | None:
    """The probability that a run of x scores above one of y, a tie counting half; None where either has no runs.

    With groups (both samples must have the same ones) it is the mean over them of each one's probability. Where either
    sample is a single run, or one in each group, there is no interval: its ends are NaN.

    >>> probability_of_improvement([3.0, 4.0], scores([1.0, 9.0], diverged=[False, True]))
    Estimate(mean=1.0, low=1.0, high=1.0)
    """
    x, y = scores(x), scores(y)
    if len(x) == 0 or len(y) == 0:
        return None
    if groups_x is None and groups_y is None:
        pairs = [(x, y)]
    elif groups_x is None or groups_y is None:
        raise UserError("one sample has groups and the other has none: give both, or neither")
    else:
        of_x, of_y = np.asarray(groups_x), np.asarray(groups_y)
        if set(of_x.tolist()) != set(of_y.tolist()):
            raise UserError("both samples must have runs in every group: compare those that they share")
        pairs = [(x[of_x == group], y[of_y == group]) for group in np.unique(of_x)]
    everything = [_above(a, b, np.ones((1, len(a))), np.ones((1, len(b)))) for a, b in pairs]
    p = float(np.mean(everything))
    if min(len(x), len(y)) <= len(pairs):
        return Estimate(p, math.nan, math.nan)
    if len(pairs) == 1 and min(len(x), len(y)) >= MANY:
        return Estimate(p, *improvement_of_many(x, y, p, confidence))
    drawn = [_resampled_above(a, b, resamples, (seed, i)) for i, (a, b) in enumerate(pairs)]
    low, high = percentiles(np.mean(drawn, axis=0), confidence)
    return Estimate(p, min(float(low), p), max(float(high), p))


def _resampled_above(x: np.ndarray, y: np.ndarray, resamples: int, seed: tuple[int, ...]) -> np.ndarray:
    width = max(len(x), len(y))
    of_x = weights(len(x), resamples, (*seed, 0), width=width)
    of_y = weights(len(y), resamples, (*seed, 1), width=width)
    return np.concatenate([_above(x, y, w, v) for w, v in zip(of_x, of_y, strict=True)])


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
    groups: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Band:
    """The fraction of runs that score at least each of `taus`, with a bootstrap band; a diverged run never does.

    The band has no width where all runs or none do: see `proportion`. A single run, or one in each group, has no band:
    its ends are NaN. Without runs the profile is empty.

    >>> profile(scores([1.0, 2.0, 3.0, 9.0], [False, False, False, True]), [1.0, 3.0, 4.0]).center
    array([0.75, 0.25, 0.  ])
    """
    marked, taus = scores(values), np.asarray(taus, np.float64)
    n = len(marked)
    if n == 0:
        return Band(taus[:0], taus[:0], taus[:0], taus[:0], np.zeros(0, int))
    order = np.argsort(marked, kind="stable")
    strata = strata_of(None if groups is None else np.asarray(groups)[order])
    first = np.searchsorted(marked[order], taus)
    center = (n - first) / n
    if degrees_of_freedom(n, strata) < 1:
        nothing = np.full(len(taus), np.nan)
        return Band(taus, center, nothing, nothing.copy(), np.full(len(taus), n))
    if n >= MANY and strata is None:
        reach = normal_quantile(confidence) * np.sqrt(center * (1 - center) / n)
        return Band(taus, center, center - reach, center + reach, np.full(len(taus), n))
    drawn = []
    for counts in weights(n, resamples, seed, strata=strata):
        below = np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))
        drawn.append((n - below.take(first, axis=1)) / n)
    low, high = percentiles(np.concatenate(drawn), confidence)
    return Band(taus, center, np.minimum(low, center), np.maximum(high, center), np.full(len(taus), n))
