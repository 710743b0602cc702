"""Coverage of the upper bound U over the optimal action values q*, for an algorithm that plans for them.

    pairs      the number of state-action pairs that were visited
    covered    the fraction of these with U >= q*
    nearly     the fraction with U >= q* - 1% of the range of q*
    shortfall  the mean of q* - U where U < q*; 0 where there is no such pair
    largest    the largest q* - U; 0 where there is no such pair

States are the points of the grid on which q* is computed. A pair counts as visited if it has as much data as one visit
gives: the weight of its prior is at most m / (m + 1), where the prior is worth m visits. With one-hot features these
are exactly the pairs that were visited; elsewhere, those near enough to visited ones to share their features.

The nominal rate follows from `noise_scale`: U lies that many standard deviations above the estimate, so that normal
errors leave it above q* with the probability that a standard normal variable is at most `noise_scale` (one-sided): 50%
for 0, 84% for 1, 97.7% for 2. The prior can only raise U. What features cannot represent is not noise, and may lower
coverage.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ucls.core.learner import Learner
from ucls.diagnostics.probe import ROUNDING, OptimalValues
from ucls.diagnostics.verdict import LATE

PLANNERS = ("ucls-plan",)  # algorithms whose bound is one over q*, not over the values of the policies they followed
NEARLY = 0.01  # of the range of q*


class Coverage(NamedTuple):
    """The fraction of visited pairs for which the upper bound holds, and its shortfall; NaN where there are none."""

    pairs: float
    covered: float
    nearly: float
    shortfall: float
    largest: float


class Validity(NamedTuple):
    """The coverage late in a run (medians), the nominal rate, and the sentence that compares them."""

    late: Coverage
    nominal: float
    holds: bool
    because: str


def plans(learner: Learner) -> bool:
    """Whether the upper bounds of a learner are bounds over q*."""
    return learner.plan.agent in PLANNERS


def nominal_rate(noise_scale: float) -> float:
    """The probability that a standard normal variable is at most `noise_scale`.

    >>> [round(nominal_rate(scale), 3) for scale in (0.0, 0.3, 1.0, 2.0)]
    [0.5, 0.618, 0.841, 0.977]
    """
    return NormalDist().cdf(noise_scale)


def coverage(learner: Learner, stick: OptimalValues) -> Coverage:
    """Measure the coverage of a learner as it is now."""
    points = stick.table.points
    m = learner.hyper.prior_visits
    visited = learner.split(points)[2] <= m / (m + 1.0) + 1e-9
    visited[stick.table.twin != np.arange(len(points))] = False  # an episode is over there
    return compare(learner.survey(points)[1], stick.best, visited)


def compare(upper: np.ndarray, best: np.ndarray, visited: np.ndarray) -> Coverage:
    """Compare bounds with optimal values on visited pairs.

    >>> values = np.array([[1.0, 2.0], [3.0, 101.0]])
    >>> compare(np.array([[1.0, 1.5], [3.0, 200.0]]), values, values > 0.0)
    Coverage(pairs=4.0, covered=0.75, nearly=1.0, shortfall=0.5, largest=0.5)
    """
    if not visited.any():
        return Coverage(0.0, np.nan, np.nan, np.nan, np.nan)
    below, best_there = (best - upper)[visited], best[visited]
    fails = below > ROUNDING * (1.0 + np.abs(best_there))
    nearly = below <= max(NEARLY * float(np.ptp(best)), ROUNDING * (1.0 + float(np.abs(best).max())))
    by = below[fails] if fails.any() else np.zeros(1)
    return Coverage(
        float(len(below)), 1.0 - float(fails.mean()), float(nearly.mean()), float(by.mean()), float(by.max())
    )


def validity(steps: np.ndarray, measured: Mapping[str, np.ndarray], noise_scale: float) -> Validity:
    """Judge the coverage of a run in the final 20% of its steps against the nominal rate.

    >>> found = {"pairs": [9, 9], "covered": [1, 0.8], "nearly": [1, 0.9], "shortfall": [0, 0.2], "largest": [0, 1.5]}
    >>> found = {name: np.array(values, float) for name, values in found.items()}
    >>> print(validity(np.array([10, 90]), found, 1.0).because)
    upper bounds fall short: U >= q* in 80% of 9 visited pairs, below the nominal 84.1% (normal errors, 1 standard \
deviation); where U < q*, it is 0.2 below on average and 1.5 at most; U >= q* - 1% of the range of q* in 90%
    """
    late = steps >= (1 - LATE) * steps[-1]
    now = Coverage(*(float(np.median(measured[name][late])) for name in Coverage._fields))
    nominal = nominal_rate(noise_scale)
    holds = not now.covered < nominal
    if not now.pairs:
        return Validity(now, nominal, holds, "no pair was visited on the grid of q*")
    word, side = ("upper bounds hold", "at least") if holds else ("upper bounds fall short", "below")
    deviations = f"{noise_scale:g} standard deviation{'s' * (noise_scale != 1)}"
    text = f"{word}: U >= q* in {_percent(now.covered)} of {now.pairs:,.0f} visited pairs, "
    text += f"{side} the nominal {_percent(nominal)} (normal errors, {deviations})"
    if now.largest > 0.0:
        text += f"; where U < q*, it is {now.shortfall:.3g} below on average and {now.largest:.3g} at most"
        text += f"; U >= q* - 1% of the range of q* in {_percent(now.nearly)}"
    return Validity(now, nominal, holds, text)


def columns_of(measured: list[Coverage]) -> dict[str, np.ndarray]:
    """Measurements one after another as an array for each name."""
    rows: Any = np.array(measured).reshape(-1, len(Coverage._fields))
    return dict(zip(Coverage._fields, rows.T, strict=True))


def _percent(fraction: float) -> str:
    """A percentage with three digits, never rounded up to 100.

    >>> _percent(0.99999), _percent(1.0), _percent(0.8413)
    ('99.9%', '100%', '84.1%')
    """
    return f"{min(100 * fraction, 100.0 if fraction == 1.0 else 99.9):.3g}%"
