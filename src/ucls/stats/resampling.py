"""The bootstrap under everything here: resamples of runs as counts, and the trimmed means of them.

The mean, the interquartile mean and the median are one family: the mean of what is left when `cut` values are taken off
each end. In sorted data, which places a resample leaves depends on the counts alone, so that one matrix of weights
serves every sample of the same size, and a bootstrap is a product of matrices.
"""

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ucls.errors import UserError, unknown

RESAMPLES = 2000
BATCH = 1 << 20  # numbers drawn at a time, and so the bound on memory: about 50 MB
SOUND_BELOW = 1e300  # sums of a million such numbers are still finite
COLUMNS = 1024  # samples whose resamples are held at a time

CUTS: dict[str, Callable[[int], int]] = {"mean": lambda n: 0, "median": lambda n: (n - 1) // 2, "iqm": lambda n: n // 4}


def cut_of(statistic: str, n: int) -> int:
    """How many of `n` sorted values a statistic takes off each end.

    >>> [cut_of(statistic, 8) for statistic in ("mean", "median", "iqm")]
    [0, 3, 2]
    """
    if statistic not in CUTS:
        raise unknown("statistic", statistic, CUTS)
    return CUTS[statistic](n)


def strata_of(groups: Sequence | np.ndarray | None) -> list[np.ndarray] | None:
    """The places of each group's members, given every run's group.

    >>> strata_of(["a", "b", "a"])
    [array([0, 2]), array([1])]
    """
    if groups is None:
        return None
    _, labels, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])


def batches(n: int, resamples: int) -> Iterator[int]:
    """Divide the resamples of `n` runs into batches that fit in memory.

    >>> list(batches(400_000, 5))
    [2, 2, 1]
    """
    rows = max(1, BATCH // max(n, 1))
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def draw_counts(n: int, rows: int, rng: np.random.Generator, strata: Sequence[np.ndarray] | None = None) -> np.ndarray:
    """Resample `n` runs, within their strata if there are any: how often each was drawn, a row for each resample."""
    if strata is None:
        drawn = rng.integers(0, n, (rows, n))
    else:
        drawn = np.hstack([places[rng.integers(0, len(places), (rows, len(places)))] for places in strata])
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


@functools.lru_cache(maxsize=4)
def _shared_weights(n: int, cut: int, resamples: int, seed: int) -> np.ndarray:
    weights = trimmed(draw_counts(n, resamples, np.random.default_rng(seed)), cut)
    weights.flags.writeable = False
    return weights


def _resampled(
    columns: np.ndarray, cut: int, strata: Sequence[np.ndarray] | None, resamples: int, seed: int
) -> np.ndarray:
    """The sums of what each resample leaves of each column; the columns are sorted unless `cut` is 0."""
    n = len(columns)
    if strata is None and n * resamples <= BATCH:
        return _shared_weights(n, cut, resamples, seed) @ columns
    rng = np.random.default_rng(seed)
    return np.concatenate([trimmed(draw_counts(n, rows, rng, strata), cut) @ columns for rows in batches(n, resamples)])


def percentiles(resampled: np.ndarray, confidence: float) -> np.ndarray:
    """The ends of the central interval of the resamples (first axis).

    >>> percentiles(np.arange(101.0), 0.9).round(9)
    array([ 5., 95.])
    """
    if not 0 < confidence < 1:
        raise UserError(f"confidence must lie between 0 and 1, not {confidence}: 0.95 is usual")
    return np.quantile(resampled, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)


def bootstrap(
    columns: np.ndarray,
    statistic: str = "mean",
    groups: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The statistic of each column and both ends of its interval; rows are sound runs, at least one.

    The interval is widened, where it must be, to hold the statistic itself.

    >>> bootstrap(np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0]]), "median")
    (array([2., 5.]), array([1., 5.]), array([9., 5.]))
    """
    n = len(columns)
    cut = cut_of(statistic, n)
    if groups is not None and cut > 0 and columns.shape[1] > 1:
        # Every column sorts the groups in its own way, so that none can share another's weights.
        apart = np.split(columns, columns.shape[1], axis=1)
        each = [bootstrap(column, statistic, groups, confidence, resamples, seed) for column in apart]
        centre, low, high = (np.concatenate(parts) for parts in zip(*each, strict=True))
        return centre, low, high
    if cut > 0:
        if groups is not None:
            groups = np.asarray(groups)[np.argsort(columns[:, 0], kind="stable")]
        columns = np.sort(columns, axis=0)
    # As deviations from one of them, equal values stay exactly equal.
    origin = columns[n // 2].copy()
    deviations = columns - origin
    size = n - 2 * cut
    centre = deviations[cut : n - cut].sum(axis=0) / size
    strata = strata_of(groups)
    ends = [
        percentiles(_resampled(deviations[:, start : start + COLUMNS], cut, strata, resamples, seed), confidence) / size
        for start in range(0, columns.shape[1], COLUMNS)
    ]
    low, high = np.hstack([np.zeros((2, 0)), *ends])
    return origin + centre, origin + np.minimum(low, centre), origin + np.maximum(high, centre)
