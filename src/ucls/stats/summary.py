"""Summaries of one sample of runs: a number, its interval, and the number of runs."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError
from ucls.stats.resampling import RESAMPLES, SOUND_BELOW, bootstrap, cut_of


class Estimate(NamedTuple):
    """A mean with its confidence interval; the ends are NaN for a single run, which has none."""

    mean: float
    low: float
    high: float


def interval_in_words(low: float, high: float, confidence: float = 0.95) -> str:
    """The ends of an interval as part of a sentence; one return has none.

    >>> interval_in_words(1.0, 2.5), interval_in_words(math.nan, math.nan)
    ('95% interval 1 to 2.5', 'no interval from one return')
    """
    return "no interval from one return" if math.isnan(low) else f"{confidence:.0%} interval {low:.6g} to {high:.6g}"


class Summary(NamedTuple):
    """A statistic of the non-diverged runs with its interval, and how many runs did and did not diverge.

    All three are None where no run is sound. The ends are NaN where one is: a single run has no interval.
    """

    center: float | None
    low: float | None
    high: float | None
    runs: int
    diverged: int


def scores(values: ArrayLike, diverged: ArrayLike | None = None) -> np.ndarray:
    """Give runs that diverged the score of minus infinity: below every other run, equal among themselves.

    >>> scores([3.0, 1.0, float("nan")], diverged=[True, False, False])
    array([-inf,   1., -inf])
    """
    values = np.asarray(values, np.float64)
    sound = np.abs(values) < SOUND_BELOW
    if diverged is not None:
        sound &= ~np.asarray(diverged, bool)
    return np.where(sound, values, -np.inf)


def bootstrap_mean(values: ArrayLike, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """Estimate a mean with its interval. Constant data has one of no width, and a single value has none (NaN).

    >>> bootstrap_mean(np.array([1.0, 1.0, 1.0]))
    Estimate(mean=1.0, low=1.0, high=1.0)
    """
    values = scores(values)
    if len(values) == 0 or np.isneginf(values).any():
        raise UserError("a mean needs at least one run, and every value a finite number: see `summarize`")
    (mean,), (low,), (high,) = bootstrap(values[:, np.newaxis], confidence=confidence, seed=seed)
    return Estimate(float(mean), float(low), float(high))


def summarize(
    values: ArrayLike,
    diverged: ArrayLike | None = None,
    *,
    statistic: str = "mean",
    groups: Sequence | np.ndarray | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Summary:
    """The mean, median or interquartile mean ("iqm") of the sound runs, with a percentile bootstrap interval.

    Every run counts alike, whatever its group; resamples keep the number of runs of each group. Fewer than 20 runs have
    Student's interval (not with groups, nor for medians). Of few and skewed runs it is too narrow even so: 95%
    intervals of 10 exponential values contain the true mean in 90% of cases.

    >>> summarize([4.0, 4.0, 1e12], diverged=[False, False, True])
    Summary(center=4.0, low=4.0, high=4.0, runs=2, diverged=1)
    >>> summarize([1.0, 2.0, 3.0, 40.0], statistic="iqm").center
    2.5
    >>> summarize([1.0], diverged=[True])
    Summary(center=None, low=None, high=None, runs=0, diverged=1)
    """
    marked = scores(values, diverged)
    sound = ~np.isneginf(marked)
    cut_of(statistic, 1)
    if not sound.any():
        return Summary(None, None, None, 0, len(marked))
    of = None if groups is None else np.asarray(groups)[sound]
    (center,), (low,), (high,) = bootstrap(marked[sound][:, np.newaxis], statistic, of, confidence, resamples, seed)
    return Summary(float(center), float(low), float(high), int(sound.sum()), int((~sound).sum()))


def summarize_many(
    samples: Sequence[ArrayLike],
    *,
    statistic: str = "mean",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Summary]:
    """Summarize many samples at once, at little more than the cost of one; `scores` marks diverged runs.

    >>> summarize_many([[2.0, 2.0], [], scores([7.0, 8.0], diverged=[False, True])])[2]
    Summary(center=7.0, low=nan, high=nan, runs=1, diverged=1)
    """
    cut_of(statistic, 1)
    marked = [scores(sample) for sample in samples]
    sound = [sample[~np.isneginf(sample)] for sample in marked]
    summaries = [Summary(None, None, None, 0, len(sample)) for sample in marked]
    sizes = np.array([len(sample) for sample in sound], int)
    for n in np.unique(sizes[sizes > 0]):
        places = np.flatnonzero(sizes == n)
        columns = np.column_stack([sound[i] for i in places])
        ends = zip(*bootstrap(columns, statistic, None, confidence, resamples, seed), strict=True)
        for i, (center, low, high) in zip(places, ends, strict=True):
            summaries[i] = Summary(float(center), float(low), float(high), int(n), len(marked[i]) - int(n))
    return summaries


def proportion(successes: int, runs: int, confidence: float = 0.95) -> Estimate | None:
    """The fraction of runs that succeeded, with Wilson's interval, which has a width at 0 and at 1 too.

    >>> [round(x, 3) for x in proportion(10, 10)]
    [1.0, 0.722, 1.0]
    """
    if runs == 0:
        return None
    if not (0 <= successes <= runs and 0 < confidence < 1):
        raise UserError(f"{successes} of {runs} runs at confidence {confidence} is not a proportion")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = successes / runs
    middle = (p + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z * math.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
    # At 0 and 1 the interval ends there exactly, and rounding must not move it.
    return Estimate(p, max(0.0, min(p, middle - half)), min(1.0, max(p, middle + half)))
