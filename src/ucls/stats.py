"""Statistics of runs: pure functions from numbers to numbers."""

from typing import NamedTuple

import numpy as np

RESAMPLES = 2000


class Estimate(NamedTuple):
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


def bootstrap_mean(values: np.ndarray, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """Estimate a mean with a percentile bootstrap over the first axis; constant data has an interval of no width.

    >>> bootstrap_mean(np.array([1.0, 1.0, 1.0]))
    Estimate(mean=1.0, low=1.0, high=1.0)
    """
    values = np.asarray(values, np.float64)
    drawn = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(float(values.mean()), float(low), float(high))


def moving_mean(values: np.ndarray, window: int) -> np.ndarray:
    """The mean over the last `window` values at every place, over fewer at the beginning.

    >>> moving_mean(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return (total[ends] - total[starts]) / (ends - starts)
