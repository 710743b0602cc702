"""Remembered states, each with the transition that the agent took from it.

A state has a row, and its transition, if there is one yet, points to the row of the next state: so each state is stored
once, and the streams of several environments may interleave. There are at most `limit` rows; then the oldest state is
overwritten. Rows point forward in time, so whatever pointed to an overwritten row was overwritten before.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntMatrix, IntScalar, IntVector, Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import COUNT, FLAG, MADE, UNIT, Count, Grows, Index

ROWS = 1024  # room to begin with
LATER = "states"  # the field that the others grow with


class Replay(NamedTuple):
    """Rows of states; action, reward, discount and next row of their transitions (action -1: none, next -1: the end);
    which actions are valid; the targets of mean and upper bound, where they were computed."""

    states: Annotated[Matrix, Grows(0)]
    action: Annotated[IntVector, Index("actions", none=True), Grows(like=LATER)]
    next: Annotated[IntVector, Index("states", none=True), Grows(like=LATER)]
    reward: Annotated[Vector, Grows(like=LATER)]
    discount: Annotated[Vector, UNIT, Grows(like=LATER)]
    valid: Annotated[IntMatrix, FLAG, Grows(like=LATER)]
    targets: Annotated[Matrix, Grows(like=LATER)]
    fitted: Annotated[IntVector, FLAG, Grows(like=LATER)]
    used: Annotated[IntScalar, Count("states")]
    newest: Annotated[IntScalar, Index("states", none=True)]
    total: Annotated[IntScalar, COUNT]
    limit: Annotated[IntScalar, MADE]

    def fault(self) -> str:
        """Transitions lead to rows in use, and later rows are newer."""
        n, last, rows = int(self.used[0]), int(self.newest[0]), len(self.states)
        if rows > max(ROWS, self.limit[0]) or last >= n or (n and last < 0) or (n < self.limit[0] and last != n - 1):
            return "the rows in use are wrong"
        if (self.next >= n).any() or (self.action[n:] >= 0).any():
            return "a transition leads where no state is"
        age = (last - np.arange(n)) % max(n, 1)
        taken = np.flatnonzero((self.action[:n] >= 0) & (self.next[:n] >= 0))
        return "" if (age[self.next[taken]] < age[taken]).all() else "a transition leads back in time"


def replay(dimensions: int, n_actions: int, limit: int) -> Replay:
    """Nothing remembered."""
    rows = min(ROWS, limit)
    return Replay(
        states=np.zeros((rows, dimensions), np.float32),
        action=np.full(rows, -1, np.int32),
        next=np.full(rows, -1, np.int32),
        reward=np.zeros(rows),
        discount=np.zeros(rows),
        valid=np.zeros((rows, n_actions), np.uint8),
        targets=np.zeros((rows, 2)),
        fitted=np.zeros(rows, np.uint8),
        used=np.zeros(1, np.int64),
        newest=np.full(1, -1),
        total=np.zeros(1, np.int64),
        limit=np.full(1, limit),
    )


def room(dimensions: int, n_actions: int, rows: int) -> int:
    """Numbers of 8 bytes in so many rows."""
    return rows * (dimensions + n_actions // 4 + 8) // 2 + rows * 4


def grow(old: Replay) -> Replay:
    """The same with room for twice as many rows, up to the limit."""
    rows = len(old.states)
    more = min(rows, int(old.limit[0]) - rows)
    blank = replay(old.states.shape[1], old.valid.shape[1], int(old.limit[0]))
    made = {}
    for name in ("states", "action", "next", "reward", "discount", "valid", "targets", "fitted"):
        array = getattr(old, name)
        fill = np.full((more, *array.shape[1:]), getattr(blank, name).flat[0], array.dtype)
        made[name] = np.concatenate([array, fill])
    return old._replace(**made)


@jit
def full(memory):
    """Whether the two states of a next transition might not fit."""
    return memory.used[0] + 2 > len(memory.states) and len(memory.states) < memory.limit[0]


@jit
def add(memory, s, index):
    """Remember a state, with its valid actions: the remainders of the indices of its features, row by row. Returns its
    row."""
    row = (memory.newest[0] + 1) % len(memory.states)
    for i in range(len(s)):
        memory.states[row, i] = s[i]
    n_actions = memory.valid.shape[1]
    for a in range(n_actions):
        memory.valid[row, a] = 0
    for a in range(len(index)):
        memory.valid[row, index[a, 0] % n_actions] = 1
    memory.action[row] = -1
    memory.next[row] = -1
    memory.fitted[row] = 0
    memory.newest[0] = row
    memory.used[0] = max(memory.used[0], row + 1)
    memory.total[0] += 1
    return row


@jit
def connect(memory, row, action, r, gamma, to):
    """Remember the transition from a row to another, or to the end (-1)."""
    memory.action[row], memory.reward[row], memory.discount[row], memory.next[row] = action, r, gamma, to


@jit
def returns_over(memory, n, R, g, to):
    """Of every row: the discounted reward of up to n steps, their discount, and the row after them; -1 at an end."""
    for i in range(memory.used[0]):
        R[i], g[i], to[i] = 0.0, 1.0, i
        for _ in range(n):
            j = to[i]
            if memory.action[j] < 0:
                break
            R[i] += g[i] * memory.reward[j]
            g[i] *= memory.discount[j]
            to[i] = memory.next[j]
            if to[i] < 0 or g[i] == 0.0:
                g[i], to[i] = 0.0, -1
                break


@jit
def returns_to_end(memory, G, left):
    """Of every row: the return to the end of what is remembered of its episode, and the weight of what may come after,
    newest first."""
    n = memory.used[0]
    for age in range(n):
        i = (memory.newest[0] - age) % n
        j = memory.next[i]
        G[i], left[i] = 0.0, 1.0
        if memory.action[i] >= 0:
            G[i] = memory.reward[i] + (memory.discount[i] * G[j] if j >= 0 else 0.0)
            left[i] = memory.discount[i] * left[j] if j >= 0 else 0.0


def sample(memory: Replay, batch: int, rng: np.random.Generator) -> Any:
    """Rows drawn with replacement."""
    return rng.integers(0, memory.used[0], batch)
