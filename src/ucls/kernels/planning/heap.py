"""A queue of items 0, 1, 2, ... by priority: a binary heap that knows the place of every item in it."""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, IntVector, Vector
from ucls.kernels.compilation.jit import exact
from ucls.kernels.ranges import NOT_NEGATIVE, Count, Index


class Heap(NamedTuple):
    """`items[:count]` are queued, the first with the highest `priority`; `place` has where each stands, or -1."""

    items: Annotated[IntVector, Index("items")]
    place: Annotated[IntVector, Index("items", none=True)]
    priority: Annotated[Vector, NOT_NEGATIVE]
    count: Annotated[IntScalar, Count("items")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Every queued item knows its place, and no other has one."""
        n, place = self.count[0], np.full(len(self.place), -1)
        place[self.items[:n]] = np.arange(n)
        return "" if np.array_equal(place, self.place) and (place >= 0).sum() == n else "the queue is out of order"


def heap(size: int) -> Heap:
    """An empty queue for so many items.

    >>> queue = heap(3)
    >>> for item, priority in ((0, 1.0), (2, 5.0), (1, 2.0), (0, 3.0), (2, 4.0)):
    ...     push(queue, item, priority)
    >>> pop(queue), pop(queue), pop(queue), queue.count[0]
    (2, 0, 1, np.int64(0))
    """
    return Heap(np.zeros(size, np.int64), np.full(size, -1), np.zeros(size), np.zeros(1, np.int64))


@exact
def push(heap, item, priority):
    """Queue an item; one that is queued keeps the higher of its priorities."""
    at = heap.place[item]
    if at < 0:
        at = heap.count[0]
        heap.count[0] = at + 1
    elif priority <= heap.priority[item]:
        return
    heap.priority[item] = priority
    while at > 0:
        above = heap.items[(at - 1) // 2]
        if heap.priority[above] >= priority:
            break
        heap.items[at] = above
        heap.place[above] = at
        at = (at - 1) // 2
    heap.items[at] = item
    heap.place[item] = at


@exact
def pop(heap):
    """Take the item with the highest priority out of the queue."""
    top = heap.items[0]
    n = heap.count[0] - 1
    heap.count[0] = n
    heap.place[top] = -1
    if n > 0:
        item, at = heap.items[n], 0
        while 2 * at + 1 < n:
            below = 2 * at + 1
            if below + 1 < n and heap.priority[heap.items[below + 1]] > heap.priority[heap.items[below]]:
                below += 1
            if heap.priority[heap.items[below]] <= heap.priority[item]:
                break
            heap.items[at] = heap.items[below]
            heap.place[heap.items[at]] = at
            at = below
        heap.items[at] = item
        heap.place[item] = at
    return top
