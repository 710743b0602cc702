"""Remembered transitions as moves: a pair of a cell and an action, and the cell that it led to, each once.

A cell is a state as the features tell states apart, a pair is `cell * n_actions + action`. A move has the number of its
transitions, the mean and the summed squared deviations of their rewards, and their mean discount. Termination is a move
of its own, to the cell -1, which is worth 0.

The moves of a pair, and those into a cell, are linked: `first_out[cell, action]` is the newest, `out[move]` the one
before it.
There are at most `limit` moves, and one for each pair: at the limit, a transition counts for that move of its pair
which leads to the most similar value.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntMatrix, IntVector, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import ANYTHING, NOT_NEGATIVE, UNIT, Grows
from ucls.kernels.row_table import Table, find, longer, number, table

MOVES = 1024  # room to begin with


class Moves(NamedTuple):
    """`table.rows` has the pair and the next cell of each move, the other arrays what is known of it, and the links."""

    table: Table
    visits: Annotated[Vector, NOT_NEGATIVE, Grows(like="table.rows")]
    reward: Annotated[Vector, Grows(like="table.rows")]
    deviation: Annotated[Vector, NOT_NEGATIVE, Grows(like="table.rows")]
    discount: Annotated[Vector, UNIT, Grows(like="table.rows")]
    out: Annotated[IntVector, ANYTHING, Grows(like="table.rows")]
    into: Annotated[IntVector, ANYTHING, Grows(like="table.rows")]
    first_out: Annotated[IntMatrix, ANYTHING, Grows(like="first_into")]
    first_into: Annotated[IntVector, ANYTHING, Grows()]

    def fault(self) -> str:
        """Moves lead from pairs to cells that there are, were made at least once, and are linked as they should be."""
        n = self.table.count[0]
        pair, cell = self.table.rows[:n, 0], self.table.rows[:n, 1]
        if ((pair < 0) | (pair >= self.first_out.size) | (cell < -1) | (cell >= len(self.first_into))).any():
            return "a move leads where no cell is"
        if not (self.visits[:n] > 0).all():
            return "a move was never made"
        out, first_out = _linked(pair, self.first_out.size)
        into, first_into = _linked(cell, len(self.first_into))
        same = np.array_equal(out, self.out[:n]) and np.array_equal(first_out, self.first_out.ravel())
        same = same and np.array_equal(into, self.into[:n]) and np.array_equal(first_into, self.first_into)
        return "" if same else "the moves are linked wrongly"


def moves(n_cells: int, n_actions: int) -> Moves:
    """Nothing remembered, of so many cells and actions."""
    return Moves(
        table=table(MOVES, 2),
        visits=np.zeros(MOVES),
        reward=np.zeros(MOVES),
        deviation=np.zeros(MOVES),
        discount=np.zeros(MOVES),
        out=np.full(MOVES, -1),
        into=np.full(MOVES, -1),
        first_out=np.full((n_cells, n_actions), -1),
        first_into=np.full(n_cells, -1),
    )


def room(n_cells: int, n_actions: int) -> int:
    """Numbers that `moves` makes room for."""
    return 12 * MOVES + n_cells * (n_actions + 1)


def more_moves(old: Moves) -> Moves:
    """The same with room for twice as many moves."""
    names = ("visits", "reward", "deviation", "discount", "out", "into")
    return old._replace(table=longer(old.table), **{name: _twice(getattr(old, name)) for name in names})


def more_cells(old: Moves) -> Moves:
    """The same with room for twice as many cells."""
    return old._replace(**{name: _twice(getattr(old, name)) for name in ("first_out", "first_into")})


def _twice(array: np.ndarray) -> np.ndarray:
    """Twice as long, with zeros, or with links that lead nowhere."""
    return np.concatenate([array, np.full_like(array, 0 if array.dtype.kind == "f" else -1)])


def _linked(ends: np.ndarray, many: int) -> tuple[np.ndarray, np.ndarray]:
    """The links of moves with these ends, and the newest of each end, computed afresh; -1 is no end."""
    before, first = np.full(len(ends), -1), np.full(many, -1)
    for move, end in enumerate(ends.tolist()):
        if end >= 0:
            before[move], first[end] = first[end], move
    return before, first


@jit
def full(moves):
    """Whether another move might not fit."""
    return moves.table.count[0] == len(moves.visits)


@jit
def first_of(moves, pair):
    """The newest move of a pair, or -1."""
    n_actions = moves.first_out.shape[1]
    return moves.first_out[pair // n_actions, pair % n_actions]


@jit
def record(moves, pair, cell, r, gamma, V, limit):
    """Add a transition of a pair to a cell, or to -1 at termination; V are the values of cells, for the limit."""
    row = np.array([pair, cell])
    move, first = find(moves.table, row), first_of(moves, pair)
    if move < 0 and first >= 0 and moves.table.count[0] >= limit:
        move = _nearest(moves, first, gamma * V[cell] if cell >= 0 else 0.0, V)
    elif move < 0:
        move = number(moves.table, row)
        n_actions = moves.first_out.shape[1]
        moves.out[move], moves.first_out[pair // n_actions, pair % n_actions] = first, move
        if cell >= 0:
            moves.into[move], moves.first_into[cell] = moves.first_into[cell], move
    moves.visits[move] += 1.0
    n, ahead = moves.visits[move], r - moves.reward[move]
    moves.reward[move] += ahead / n
    moves.deviation[move] += ahead * (r - moves.reward[move])
    moves.discount[move] += (gamma - moves.discount[move]) / n
    return move


@jit
def _nearest(moves, move, value, V):
    """The move of a pair whose discounted value of the next cell is the nearest to a value, from the newest on."""
    best, least = move, np.inf
    while move >= 0:
        cell = moves.table.rows[move, 1]
        apart = abs((moves.discount[move] * V[cell] if cell >= 0 else 0.0) - value)
        if apart < least:
            best, least = move, apart
        move = moves.out[move]
    return best
