"""Samples of runs against each other, by rank: the probability of improvement, and performance profiles."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError
from ucls.stats.curves import Band
from ucls.stats.resampling import RESAMPLES, batches, draw_counts, percentiles, strata_of
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

    With groups (both samples must have the same ones) it is the mean over them of each one's probability.

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
    rng = np.random.default_rng(seed)
    ones = [_above(a, b, np.ones((1, len(a)), int), np.ones((1, len(b)), int)) for a, b in pairs]
    drawn = [
        np.mean([_above(a, b, draw_counts(len(a), n, rng), draw_counts(len(b), n, rng)) for a, b in pairs], axis=0)
        for n in batches(len(x) + len(y), resamples)
    ]
    low, high = percentiles(np.concatenate(drawn), confidence)
    p = float(np.mean(ones))
    return Estimate(p, min(float(low), p), max(float(high), p))


def _above(x: np.ndarray, y: np.ndarray, counts_x: np.ndarray, counts_y: np.ndarray) -> np.ndarray:
    """The fraction of pairs in which x is above y, a tie counting half, in each resample."""
    x = np.sort(x)  # resamples of sorted runs are as good as of unsorted ones
    below = np.cumsum(counts_x, axis=1, dtype=np.float64)
    below = np.hstack([np.zeros((len(below), 1)), below])
    beaten_by = len(x) - (below[:, np.searchsorted(x, y)] + below[:, np.searchsorted(x, y, side="right")]) / 2
    return (beaten_by * counts_y).sum(axis=1) / (len(x) * len(y))


def profile(
    values: ArrayLike,
    taus: ArrayLike,
    groups: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Band:
    """The fraction of runs that score at least each of `taus`, with a bootstrap band; a diverged run never does.

    The band has no width where all runs or none do: see `proportion`. Without runs the profile is empty.

    >>> profile(scores([1.0, 2.0, 3.0, 9.0], [False, False, False, True]), [1.0, 3.0, 4.0]).centre
    array([0.75, 0.25, 0.  ])
    """
    marked, taus = scores(values), np.asarray(taus, np.float64)
    n = len(marked)
    if n == 0:
        return Band(taus[:0], taus[:0], taus[:0], taus[:0], np.zeros(0, int))
    order = np.argsort(marked, kind="stable")
    strata = strata_of(None if groups is None else np.asarray(groups)[order])
    first = np.searchsorted(marked[order], taus)
    rng = np.random.default_rng(seed)
    drawn = []
    for rows in batches(n, resamples):
        below = np.cumsum(draw_counts(n, rows, rng, strata), axis=1)
        drawn.append((n - np.hstack([np.zeros((rows, 1)), below])[:, first]) / n)
    centre = (n - first) / n
    low, high = percentiles(np.concatenate(drawn), confidence)
    return Band(taus, centre, np.minimum(low, centre), np.maximum(high, centre), np.full(len(taus), n))
