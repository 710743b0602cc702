"""Intervals and tests for `MANY` runs or more, by the normal distribution: resampling would take minutes."""

import math
from statistics import NormalDist

import numpy as np

from ucls.stats.small import half_widths

MANY = 1000


def normal_quantile(confidence: float) -> float:
    """Return how many standard deviations a central interval of a normal distribution extends to either side.

    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def interval_of_many(ordered: np.ndarray, cut: int, confidence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The trimmed mean of each column, which is sorted if `cut` values are taken off each end, and its interval.

    That of a median is between two order statistics; of other means it is Student's, as of few runs.
    """
    n = len(ordered)
    center = ordered[cut : n - cut].mean(axis=0)
    if n - 2 * cut <= 2:
        reach = normal_quantile(confidence) * math.sqrt(n) / 2
        low, high = math.floor((n - 1) / 2 - reach), math.ceil((n - 1) / 2 + reach)
        return center, ordered[low], ordered[high]
    reach = half_widths(ordered, cut, confidence)
    return center, center - reach, center + reach


def sign_flip_p_of_many(columns: np.ndarray) -> list[float]:
    """The p-value of the sign-flip test of each column: a sum of many random signs is normal."""
    spread = np.sqrt(np.square(columns).sum(axis=0))
    z = np.abs(columns.sum(axis=0)) / np.where(spread > 0, spread, 1.0)
    return [math.erfc(float(each) / math.sqrt(2.0)) for each in z]


def improvement_of_many(x: np.ndarray, y: np.ndarray, p: float, confidence: float) -> tuple[float, float]:
    """The interval of the probability that a run of x is above one of y, by the variance of its two parts."""
    x, y = np.sort(x), np.sort(y)
    of_x = (np.searchsorted(y, x) + np.searchsorted(y, x, side="right")) / (2 * len(y))
    of_y = (np.searchsorted(x, y) + np.searchsorted(x, y, side="right")) / (2 * len(x))
    reach = normal_quantile(confidence) * math.sqrt(of_x.var() / len(x) + of_y.var() / len(y))
    return max(0.0, p - reach), min(1.0, p + reach)
