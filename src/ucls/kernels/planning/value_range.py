"""The range of values that an optimistic algorithm assumes: from the smallest to the largest possible return.

The largest, v0, is given or guessed from the rewards seen (`returns`), and never below a return that was observed. The
smallest is min(0, the smallest reward) in every step. Papers that assume rewards from 0 to 1 have the range 0 to H.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Scalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import returns as rt
from ucls.settings import Follows, Known

PER_STREAM = ("returns.steps", "returns.rewards", "returns.discounts", "returns.count")  # fields for `STREAM`
ROOM = 2 * rt.ROOM + 10  # array elements

ReturnMax = Annotated[  # a setting
    float,
    Known(),
    Follows("return_max", otherwise="unknown"),
    "v0, the maximum possible return; unknown: guessed from the rewards seen",
]


class ValueRange(NamedTuple):
    """The rewards and returns seen, and the smallest reward (or 0)."""

    returns: rt.Returns
    worst: Scalar


def value_range() -> ValueRange:
    """Start with nothing seen."""
    return ValueRange(rt.returns(), np.zeros(1))


@jit
def begin(seen):
    """Begin an episode."""
    rt.begin(seen.returns)


@jit
def observe(seen, r, gamma):
    """See the reward of a step, and its discount, which is 0 after termination."""
    rt.observe(seen.returns, r, gamma)
    seen.worst[0] = min(seen.worst[0], r)


@jit
def limits(seen, return_max):
    """The largest and the smallest possible return; a `return_max` of NaN is unknown."""
    v0 = rt.guess(seen.returns, rt.MORE) if np.isnan(return_max) else return_max
    v0 = max(v0, seen.returns.attained[0])
    return v0, min(seen.worst[0] * rt.span(seen.returns), v0)


@jit
def steps_ahead(seen, horizon):
    """The number of steps that a value looks ahead, H in papers: the horizon, or 1 / (1 - gamma) if it is 0."""
    return float(horizon) if horizon > 0 else rt.span(seen.returns)
