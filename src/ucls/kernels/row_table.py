"""A table of rows of integers: each distinct row once, numbered by first appearance.

A hash of a row says in which slot its number stands; if another row's stands there, the next slot is tried, and so on
(open addressing). A full table is copied into a longer one outside of kernels; numbers stay.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntMatrix, IntScalar, IntVector
from ucls.kernels.compilation.jit import exact
from ucls.kernels.ranges import ANYTHING, Count, Grows, Index, is_permutation


class Table(NamedTuple):
    """The rows in the order of their numbers, `rows[:count]`; `slots` holds the numbers, and -1 where it is free."""

    rows: Annotated[IntMatrix, ANYTHING, Grows()]
    slots: Annotated[IntVector, Index("rows", none=True), Grows()]
    count: Annotated[IntScalar, Count("rows")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Return what is inconsistent: every row needs one slot, some slots must be free, and each row be found by its
        hash."""
        if len(self.slots) != slots_for(len(self.rows)):
            return "the slots do not fit the rows"
        if not is_permutation(self.slots[self.slots >= 0], self.count[0]):
            return "the slots do not hold each row once"
        return "" if _consistent(self) else "a row is not found, or is there twice"


def table(capacity: int, width: int) -> Table:
    """Make an empty table.

    >>> t = table(4, 2)
    >>> [number(t, np.array(row)) for row in ((7, 1), (3, 3), (7, 1))]
    [0, 1, 0]
    """
    return Table(np.zeros((capacity, width), np.int64), np.full(slots_for(capacity), -1), np.zeros(1, np.int64))


def slots_for(capacity: int) -> int:
    """The number of slots for so many entries: a power of two, at least half of them always free."""
    return 2 ** int(2 * capacity - 1).bit_length()


def longer(old: Table) -> Table:
    """Return the same table with capacity for twice as many rows."""
    new = table(2 * len(old.rows), old.rows.shape[1])
    _copy(old, new)
    return new


@exact
def number(table, row):
    """Return the number of a row; a new one is added, for which there must be capacity."""
    slot = _slot(table, row)
    if table.slots[slot] < 0:
        added = table.count[0]
        for i in range(len(row)):
            table.rows[added, i] = row[i]
        table.slots[slot] = added
        table.count[0] = added + 1
    return table.slots[slot]


@exact
def find(table, row):
    """The number of a row, or -1 if it is not there."""
    return table.slots[_slot(table, row)]


@exact
def _slot(table, row):
    """The slot of a row, or the free one it would take."""
    last = len(table.slots) - 1
    slot = _hash(row) & last
    while table.slots[slot] >= 0:
        there = table.rows[table.slots[slot]]
        same = True
        for i in range(len(row)):
            if there[i] != row[i]:
                same = False
                break
        if same:
            return slot
        slot = (slot + 1) & last
    return slot


@exact
def _hash(row):
    """Lehmer's generator, fed with both halves of every number: the bits of a float are in the upper one."""
    h = 1
    for i in range(len(row)):
        h = (h + ((row[i] ^ (row[i] >> 31)) & 0x7FFFFFFF)) * 48271 % 2147483647
    for _ in range(2):
        h = (h ^ (h >> 15)) * 48271 % 2147483647
    return h


@exact
def _consistent(table):
    sound = True
    for i in range(table.count[0]):
        sound = sound and table.slots[_slot(table, table.rows[i])] == i
    return sound


@exact
def _copy(old, new):
    for i in range(old.count[0]):
        number(new, old.rows[i])
