"""Remembered transitions in the order in which they were made, which is what returns over several steps need.

`moves` counts equal transitions once and forgets what followed them. A trajectory keeps the last `limit` transitions:
the pair of cell and action, the reward, the discount, the next cell (-1 after termination), and whether the transition
before it belongs to the same episode. At the limit, the oldest is overwritten.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, IntVector, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import ANYTHING, FLAG, UNIT, Count, Grows

STEPS = 1024  # allocated at first


class Trajectory(NamedTuple):
    """`count` transitions are stored; the next one is written at `head`, or at 0 if `head` is the limit. `first` says
    that it will be the first of an episode."""

    pair: Annotated[IntVector, ANYTHING, Grows()]
    cell: Annotated[IntVector, ANYTHING, Grows(like="pair")]
    continues: Annotated[IntVector, FLAG, Grows(like="pair")]
    reward: Annotated[Vector, Grows(like="pair")]
    discount: Annotated[Vector, UNIT, Grows(like="pair")]
    count: Annotated[IntScalar, Count("pair")]  # pyright: ignore[reportIncompatibleMethodOverride]
    head: Annotated[IntScalar, Count("pair")]
    first: Annotated[IntScalar, FLAG]

    def fault(self) -> str:
        """The head is within what is stored."""
        return "" if self.head[0] <= self.count[0] else "the trajectory continues where nothing is stored"


def trajectory() -> Trajectory:
    """Nothing remembered."""
    return Trajectory(
        pair=np.zeros(STEPS, np.int64),
        cell=np.zeros(STEPS, np.int64),
        continues=np.zeros(STEPS, np.uint8),
        reward=np.zeros(STEPS),
        discount=np.zeros(STEPS),
        count=np.zeros(1, np.int64),
        head=np.zeros(1, np.int64),
        first=np.ones(1, np.uint8),
    )


def room() -> int:
    """The number of array elements that `trajectory` allocates."""
    return 5 * STEPS


@jit
def full(steps):
    """Whether another transition might not fit."""
    return steps.count[0] == len(steps.pair)


def grow(old: Trajectory) -> Trajectory:
    """The same in arrays of twice the length."""
    names = ("pair", "cell", "continues", "reward", "discount")
    longer = {name: np.concatenate([getattr(old, name), np.zeros_like(getattr(old, name))]) for name in names}
    return old._replace(**longer)


@jit
def begin(steps):
    """Begin an episode."""
    steps.first[0] = 1


@jit
def record(steps, pair, cell, r, gamma, limit):
    """Store a transition, in place of the oldest if there are `limit` of them."""
    slot = steps.head[0] if steps.head[0] < limit else 0
    steps.pair[slot] = pair
    steps.cell[slot] = cell
    steps.continues[slot] = 1 - steps.first[0]
    steps.reward[slot] = r
    steps.discount[slot] = gamma
    steps.head[0] = slot + 1
    steps.count[0] = max(steps.count[0], slot + 1)
    steps.first[0] = 0
