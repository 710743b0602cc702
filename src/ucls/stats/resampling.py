"""Bootstrap intervals: resamples of runs as counts, and trimmed means of them.

The mean, the interquartile mean and the median are one family: the mean of what is left when `cut` values are taken off
each end. In sorted data, which places a resample leaves depends on the counts alone, so that one matrix of weights
serves every sample of the same size, and a bootstrap is a product of matrices.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ucls.errors import UserError, unknown
from ucls.stats.many import MANY, interval_of_many
from ucls.stats.small import FEW, half_widths

Seed = int | tuple[int, ...]

RESAMPLES = 2000
BATCH = 1 << 20  # numbers drawn at a time, and so the bound on memory: about 50 MB
SOUND_BELOW = 1e300  # sums of a million such numbers are still finite
COLUMNS = 1024  # samples whose resamples are held at a time

CUTS: dict[str, Callable[[int], int]] = {"mean": lambda n: 0, "median": lambda n: (n - 1) // 2, "iqm": lambda n: n // 4}


def cut_of(statistic: str, n: int) -> int:
    """Return how many of `n` sorted values a statistic removes at each end.

    >>> [cut_of(statistic, 8) for statistic in ("mean", "median", "iqm")]
    [0, 3, 2]
    """
    if statistic not in CUTS:
        raise unknown("statistic", statistic, CUTS)
    return CUTS[statistic](n)


class Strata(NamedTuple):
    """The runs sorted by group and, for each place in that order, where its group begins and how large it is."""

    order: np.ndarray
    start: np.ndarray
    size: np.ndarray


def strata_of(groups: Sequence | np.ndarray | None) -> Strata | None:
    """Find the strata, given every run's group.

    >>> strata_of(["a", "b", "a"])
    Strata(order=array([0, 2, 1]), start=array([0, 0, 2]), size=array([2, 2, 1]))
    """
    if groups is None:
        return None
    _, labels, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    return Strata(np.argsort(labels, kind="stable"), np.repeat(starts, sizes), np.repeat(sizes, sizes))


def degrees_of_freedom(runs: int, strata: Strata | None = None) -> int:
    """Return the number of runs beyond one for each group; with 0, the variance between runs is unknown.

    >>> degrees_of_freedom(1), degrees_of_freedom(3), degrees_of_freedom(3, strata_of(["a", "b", "a"]))
    (0, 2, 1)
    """
    return runs - (1 if strata is None else len(np.unique(strata.start)))


def batches(n: int, resamples: int) -> Iterator[int]:
    """Divide the resamples of `n` runs into batches that fit in memory.

    >>> list(batches(400_000, 5))
    [2, 2, 1]
    """
    rows = max(1, BATCH // max(n, 1))
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def draw_counts(n: int, rows: int, rng: np.random.Generator, strata: Strata | None = None) -> np.ndarray:
    """Resample `n` runs, within their strata if there are any: how often each was drawn, a row for each resample."""
    if strata is None:
        drawn = rng.integers(0, n, (rows, n))
    else:
        drawn = strata.order[strata.start + (rng.random((rows, n)) * strata.size).astype(np.int64)]
    drawn += np.arange(rows)[:, np.newaxis] * n
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)


def trimmed(counts: np.ndarray, cut: int) -> np.ndarray:
    """How often each of the sorted values is left in a resample once `cut` are taken off each end.

    >>> trimmed(np.array([[2, 0, 1, 1]]), 1)
    array([[1., 0., 1., 0.]])
    """
    if cut == 0:
        return counts.astype(np.float64)
    n = counts.shape[1]
    left = np.clip(np.cumsum(counts, axis=1) - cut, 0, n - 2 * cut)
    return np.diff(left, axis=1, prepend=0).astype(np.float64)


@functools.lru_cache(maxsize=8)
def _shared_weights(n: int, cut: int, resamples: int, seed: Seed) -> np.ndarray:
    weights = trimmed(draw_counts(n, resamples, np.random.default_rng(seed)), cut)
    weights.flags.writeable = False
    return weights


def weights(
    n: int, resamples: int, seed: Seed, cut: int = 0, strata: Strata | None = None, width: int | None = None
) -> Iterator[np.ndarray]:
    """How often each of `n` runs counts in each resample, in batches of rows sized for runs `width` wide (else `n`).

    What fits in one batch and has no strata is kept, so that the next sample of the same size need not draw again.
    """
    if strata is None and (width or n) * resamples <= BATCH:
        yield _shared_weights(n, cut, resamples, seed)
        return
    rng = np.random.default_rng(seed)
    for rows in batches(width or n, resamples):
        yield trimmed(draw_counts(n, rows, rng, strata), cut)


def percentiles(resampled: np.ndarray, confidence: float) -> np.ndarray:
    """The ends of the central interval of the resamples (first axis).

    >>> percentiles(np.arange(101.0), 0.9).round(9)
    array([ 5., 95.])
    """
    if not 0 < confidence < 1:
        raise UserError(f"confidence must lie between 0 and 1, not {confidence}: 0.95 is usual")
    # The linear rule of np.quantile; on rows of a few thousand a whole sort is several times faster than its partition.
    ordered = np.sort(np.ascontiguousarray(resampled.T), axis=-1)
    places = np.array([1 - confidence, 1 + confidence]) / 2 * (len(resampled) - 1)
    below = places.astype(int)
    above = np.minimum(below + 1, len(resampled) - 1)
    return (ordered[..., below] + (places - below) * (ordered[..., above] - ordered[..., below])).T


def bootstrap(
    columns: np.ndarray,
    statistic: str = "mean",
    groups: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The statistic of each column and both ends of its interval; rows are sound runs, at least one.

    The interval is widened, where it must be, to hold the statistic itself. Few runs without groups have Student's
    (`small`), but for the median. A single run (or one in each group) has no interval: its ends are NaN.

    >>> bootstrap(np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0]]), "median")
    (array([2., 5.]), array([1., 5.]), array([9., 5.]))
    """
    n = len(columns)
    cut, strata = cut_of(statistic, n), strata_of(groups)
    order = None if cut == 0 else np.argsort(columns, axis=0, kind="stable")
    columns = columns if order is None else np.take_along_axis(columns, order, axis=0)
    # As deviations from one of them, equal values stay exactly equal.
    origin = columns[n // 2].copy()
    deviations = columns - origin
    size = n - 2 * cut
    center = deviations[cut : n - cut].sum(axis=0) / size
    if degrees_of_freedom(n, strata) < 1:
        nothing = np.full(len(center), np.nan)
        return origin + center, nothing, nothing.copy()
    if n >= MANY and strata is None:
        center, low, high = interval_of_many(deviations, cut, confidence)
        return origin + center, origin + low, origin + high
    if size > 1 and n < FEW and strata is None and statistic != "median":
        reach = half_widths(deviations, cut, confidence)
        return origin + center, origin + (center - reach), origin + (center + reach)
    low, high = np.zeros((2, len(center)))
    for start in range(0, len(center), COLUMNS):
        some = slice(start, start + COLUMNS)
        if strata is None or order is None:
            drawn = [w @ deviations[:, some] for w in weights(n, resamples, seed, cut, strata)]
        else:
            counted = weights(n, resamples, seed, 0, strata)
            drawn = [_sorted_sums(counts, order[:, some], deviations[:, some], cut) for counts in counted]
        low[some], high[some] = percentiles(np.concatenate(drawn), confidence) / size
    return origin + center, origin + np.minimum(low, center), origin + np.maximum(high, center)


def _sorted_sums(counts: np.ndarray, order: np.ndarray, deviations: np.ndarray, cut: int) -> np.ndarray:
    """The sums left in each resample of each column, which sorts the members of the strata in an order of its own."""
    return np.column_stack([trimmed(counts[:, o], cut) @ d for o, d in zip(order.T, deviations.T, strict=True)])
