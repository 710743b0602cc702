"""One feature per discrete state, numbered by first visit; a state is one integer or several.

Several integers are combined into one: they are its digits in a mixed radix.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.features import Allocation
from ucls.kernels.arrays import IntScalar, IntVector
from ucls.kernels.compilation.jit import exact
from ucls.kernels.ranges import MADE, Count, Index, is_permutation

DISCRETE = True
# No two states share a feature, so nothing is learned from neighboring states and traces do not help. A planner sees
# only true noise there, and a prior worth few visits is enough.
FACTS = {"trace_decay": 0.0, "prior_visits": 1.75, "planner_prior_visits": 0.03}


class Settings(NamedTuple):
    """One-hot features have no settings."""


class Coder(NamedTuple):
    """A numbering of the states; `number` and `count` change as states are visited.

    `place` has the weight of every integer of a state, and is None for a single integer. `low` is the smallest state.
    """

    size: int
    n_active: int
    n_actions: int
    low: int
    number: Annotated[IntVector, Index("number", none=True)]
    count: Annotated[IntScalar, Count("number")]  # pyright: ignore[reportIncompatibleMethodOverride]
    place: Annotated[Any, MADE] = None

    def fault(self) -> str:
        """Numbers must be consecutive and unique."""
        return "" if is_permutation(self.number[self.number >= 0], self.count[0]) else "states are numbered wrongly"


def allocation(settings: Settings, low: Any, high: Any, n_actions: int) -> Allocation:
    """One table entry per state."""
    if not all(float(x).is_integer() and abs(x) <= 2**53 for x in (*low, *high)):
        raise UserError("one_hot features are for integer states within integer bounds: use the features 'tiles'")
    n_states = math.prod(_values(low, high))
    if len(low) > 1 and n_states * max(abs(int(x)) for x in (1, *low, *high)) > 2**60:
        raise UserError(
            f"one_hot features are for fewer states than those of {len(low)} numbers: leave `features` out to have "
            "them chosen, or give a function of the observation"
        )
    return Allocation(n_states * n_actions, 1, n_states + (len(low) if len(low) > 1 else 0))


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for the integers from low to high.

    >>> coder = make(Settings(), [0.0, 1.0], [3.0, 10.0], n_actions=2)
    >>> coder.size, coder.place
    (80, array([10,  1]))
    """
    values = _values(low, high)
    n_states = math.prod(values)
    place = [math.prod(values[i + 1 :]) for i in range(len(values))]
    first = sum(int(a) * p for a, p in zip(low, place, strict=True))
    places = np.array(place) if len(place) > 1 else None
    return Coder(n_states * n_actions, 1, n_actions, first, np.full(n_states, -1), np.zeros(1, np.int64), places)


def _values(low: Any, high: Any) -> list[int]:
    """The number of values of every integer."""
    return [int(b) - int(a) + 1 for a, b in zip(low, high, strict=True)]


@exact
def encode(coder, s, xs):
    """Write the feature of every action in state s into xs; a state visited for the first time is numbered."""
    state = _state(coder.low, coder.place, s)
    if coder.number[state] < 0:
        coder.number[state] = coder.count[0]
        coder.count[0] += 1
    lookup(coder, s, xs)


@exact
def lookup(coder, s, xs):
    """Write what `encode` would, without changing the numbering."""
    number = coder.number[_state(coder.low, coder.place, s)]
    if number < 0:
        number = coder.count[0]
    for a in range(coder.n_actions):
        xs.index[a, 0] = number * coder.n_actions + a
        xs.value[a, 0] = 1.0


@exact
def _state(low, place, s):
    """The index of a state."""
    if place is None:
        return int(s[0]) - low
    state = -low
    for i in range(len(place)):
        state += int(s[i]) * place[i]
    return state
