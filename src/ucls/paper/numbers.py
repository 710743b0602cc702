"""Format numbers for pages and tables."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ucls.stats import Estimate, Summary


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits.

    >>> number(12345.6), number(0.51234), number(-0.000012), number(-0.0)
    ('1.235e+04', '0.5123', '-1.2e-05', '0')
    """
    return f"{value + 0.0:.{digits}g}"


def grouped(value: float) -> str:
    """Return four significant digits, and more instead of an exponent for large numbers.

    >>> grouped(12345.6), grouped(0.51234), grouped(-41.0), grouped(9999.7)
    ('12,346', '0.5123', '-41', '10,000')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else number(value)


def interval(estimate: Sequence[Any], form: Callable[[float], str] = number) -> str:
    """A number with its interval, if there is one.

    >>> interval((12345.6, 0.51234, -41.0), grouped), interval((1.5, math.nan, math.nan))
    ('12,346 [0.5123, -41]', '1.5 (one run, no interval)')
    """
    if math.isnan(estimate[1]):
        return f"{form(estimate[0])} (one run, no interval)"
    return f"{form(estimate[0])} [{form(estimate[1])}, {form(estimate[2])}]"


def listing(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> listing(["River Swim", "Puddle World", "One-State"]), listing(["River Swim"]), listing([])
    ('River Swim, Puddle World and One-State', 'River Swim', '')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def share(successes: int, runs: int, part: Estimate) -> str:
    """Return how many of some runs succeeded, with the interval of their fraction.

    >>> share(10, 10, Estimate(1.0, 0.722, 1.0))
    '10 of 10 [0.72, 1.00]'
    """
    return f"{successes} of {runs} [{part.low:.2f}, {part.high:.2f}]"


def mean_of_runs(mean: Summary, form: Callable[[float], str] = number, missing: str = "-") -> str:
    """The mean of some runs with its interval, and how many diverged.

    >>> mean_of_runs(Summary(2.0, 1.0, 3.0, runs=4, diverged=1))
    '2 [1, 3], 1 diverged'
    """
    if mean.center is None:
        return f"all {mean.diverged} diverged" if mean.diverged else missing
    return interval(mean, form) + (f", {mean.diverged} diverged" if mean.diverged else "")
