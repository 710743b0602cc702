"""One feature for each state, numbered by first visit, for states that are whole numbers."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.features import Room
from ucls.kernels._jit import exact
from ucls.kernels.arrays import IntScalar, IntVector
from ucls.kernels.ranges import Count, Index, is_permutation


class Settings(NamedTuple):
    """One-hot features have no settings."""


class Coder(NamedTuple):
    """A numbering of the states; the last two fields fill as states are visited."""

    size: int
    n_active: int
    n_actions: int
    low: int
    number: Annotated[IntVector, Index("number", none=True)]
    count: Annotated[IntScalar, Count("number")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Numbers are given one after the other, each once."""
        return "" if is_permutation(self.number[self.number >= 0], self.count[0]) else "states are numbered wrongly"


def room(settings: Settings, low: Any, high: Any, n_actions: int) -> Room:
    """A number for each state."""
    whole = len(low) == 1 and float(low[0]).is_integer() and float(high[0]).is_integer()
    if not whole or max(abs(low[0]), abs(high[0])) > 2**53:
        raise UserError("one_hot features are for one whole number between whole bounds: use the features 'tiles'")
    n_states = int(high[0]) - int(low[0]) + 1
    return Room(n_states * n_actions, 1, n_states)


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for the states low, low + 1, ..., high."""
    first, last = int(np.asarray(low).item()), int(np.asarray(high).item())
    n_states = last - first + 1
    return Coder(n_states * n_actions, 1, n_actions, first, np.full(n_states, -1), np.zeros(1, np.int64))


@exact
def encode(coder, s, xs):
    """Write the feature of every action in state s into xs; a state visited for the first time is numbered."""
    state = int(s[0]) - coder.low
    if coder.number[state] < 0:
        coder.number[state] = coder.count[0]
        coder.count[0] += 1
    look(coder, s, xs)


@exact
def look(coder, s, xs):
    """Write what `encode` would, and leave the numbering as it is."""
    number = coder.number[int(s[0]) - coder.low]
    if number < 0:
        number = coder.count[0]
    for a in range(coder.n_actions):
        xs.index[a, 0] = number * coder.n_actions + a
        xs.value[a, 0] = 1.0
