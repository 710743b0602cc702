"""Least-squares value iteration on all transitions so far, for every step of an episode or discounted.

The transitions of step h give a ridge regression. With the features x of the state and action of a transition,

    Lambda_h = ridge I + sum x x'    and    w_h = Lambda_h^-1 (p_h + sum x (r + gamma V_h+1(s') + noise)),
    V_h(s)   = clip(max_a Q_h(s, a)),     Q_h(s, a) = max over samples of x'w_h + beta sqrt(x' Lambda_h^-1 x),

where p_h and the noise are perturbations, 0 without any. `plan` goes back from the last step, after which nothing
follows. If there is only one regression for all steps (`timed` is false), it repeats V and w until V stays.

Nothing is forgotten: `cells` are the distinct states, as features of all actions, and `moves` the distinct transitions
between them, with the number of their visits and the sums of their rewards and discounts. Lambda^-1 changes by rank
one with every transition. If one feature is active, it is diagonal, and only its diagonal is stored.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Array, IntScalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import MADE, NOT_NEGATIVE, Count, Grows
from ucls.kernels.row_table import Table, longer, number, table

CELLS, MOVES = 256, 1024  # allocated at first
SWEEPS = 200  # without time, at most
TOLERANCE = 1e-4  # of the range of values: sweeps end when V changes by less


class Memory(NamedTuple):
    """`moves.rows` are (step, cell * |A| + a, next cell or -1 after termination); `inverse[h]` is Lambda_h^-1."""

    cells: Table
    moves: Table
    visits: Annotated[Vector, NOT_NEGATIVE, Grows(like="moves.rows")]
    reward: Annotated[Vector, Grows(like="moves.rows")]
    discount: Annotated[Vector, NOT_NEGATIVE, Grows(like="moves.rows")]
    inverse: Array
    seen: Annotated[IntScalar, Count("features")]
    n_actions: Annotated[IntScalar, MADE]

    def fault(self) -> str:
        """Cells hold features, and moves lead between them at a step that there is."""
        n_cells, n_actions = self.cells.count[0], self.n_actions[0]
        rows = self.cells.rows[:n_cells]
        index, value = rows[:, : rows.shape[1] // 2], rows[:, rows.shape[1] // 2 :]
        lost = (index < 0) | (index >= self.seen[0])
        if lost.any() or not np.isfinite(value.copy().view(np.float64)).all():
            return "a cell holds what is no feature"
        moves = self.moves.rows[: self.moves.count[0]]
        limits = np.array([len(self.inverse), n_cells * n_actions, n_cells])
        if (moves < np.array([0, 0, -1])).any() or (moves >= limits).any():
            return "a move leads where no cell is"
        diagonal = self.inverse if self.inverse.shape[2] == 1 else np.diagonal(self.inverse, axis1=1, axis2=2)
        return "" if (diagonal > 0).all() else "the inverse is not positive"


def width(size: int, n_active: int) -> int:
    """The number of columns of Lambda^-1 that are stored."""
    return 1 if n_active == 1 else size


def room(size: int, n_actions: int, n_active: int, horizon: int, steps: int = 0) -> int:
    """Array elements of a `memory` after so many steps, at most."""
    cells, moves = max(CELLS, 2 * (steps + 2)), max(MOVES, 2 * (steps + 1))
    matrices = max(1, horizon) * size * width(size, n_active)
    return matrices + cells * (2 * n_actions * n_active + 4) + 10 * moves


def memory(size: int, n_actions: int, n_active: int, horizon: int, ridge: float) -> Memory:
    """Nothing remembered."""
    shape = max(1, horizon), size, width(size, n_active)
    inverse = np.full(shape, 1.0 / ridge) if shape[2] == 1 else np.tile(np.eye(size) / ridge, (shape[0], 1, 1))
    return Memory(
        cells=table(CELLS, 2 * n_actions * n_active),
        moves=table(MOVES, 3),
        visits=np.zeros(MOVES),
        reward=np.zeros(MOVES),
        discount=np.zeros(MOVES),
        inverse=inverse,
        seen=np.zeros(1, np.int64),
        n_actions=np.array([n_actions]),
    )


@jit
def full(memory):
    """Whether another transition might not fit."""
    return memory.cells.count[0] + 2 > len(memory.cells.rows) or memory.moves.count[0] + 1 > len(memory.moves.rows)


def grow(old: Memory) -> Memory:
    """Double what is full."""
    if old.cells.count[0] + 2 > len(old.cells.rows):
        old = old._replace(cells=longer(old.cells))
    if old.moves.count[0] + 1 > len(old.moves.rows):
        sums = {name: getattr(old, name) for name in ("visits", "reward", "discount")}
        more = {name: np.concatenate([array, np.zeros(len(array))]) for name, array in sums.items()}
        old = old._replace(moves=longer(old.moves), **more)
    return old


@jit
def remember(memory, h, xs, a, r, gamma, xs_next):
    """Add a transition at step h; return by how much the logarithm of the determinant of Lambda_h grows."""
    x = la.of_action(xs, a)
    for other in range(len(xs.index)):
        la.see(memory.seen, la.of_action(xs, other))
    cell, cell_next = number(memory.cells, as_row(xs)), -1
    if gamma > 0.0:
        for other in range(len(xs.index)):
            la.see(memory.seen, la.of_action(xs_next, other))
        cell_next = number(memory.cells, as_row(xs_next))
    move = number(memory.moves, np.array([h, cell * len(xs.index) + a, cell_next]))
    memory.visits[move] += 1.0
    memory.reward[move] += r
    memory.discount[move] += gamma
    return learn(memory, h, x)


@jit
def learn(memory, h, x):
    """Add x x' to Lambda_h; return the logarithm of 1 + x' Lambda_h^-1 x."""
    M, n, size = memory.inverse[h], memory.seen[0], form(memory, h, x)
    if M.shape[1] == 1:
        M[x.index[0], 0] /= 1.0 + size
        return np.log1p(size)
    Mx = np.zeros(n)
    for i in range(len(x.index)):
        row = M[x.index[i]]
        for j in range(n):
            Mx[j] += x.value[i] * row[j]
    for i in range(n):
        if Mx[i] != 0.0:
            la.add(M[i], n, -Mx[i] / (1.0 + size), Mx)
    return np.log1p(size)


@jit
def form(memory, h, x):
    """x' Lambda_h^-1 x."""
    M, total = memory.inverse[h], 0.0
    if M.shape[1] == 1:
        return x.value[0] * x.value[0] * M[x.index[0], 0]
    for i in range(len(x.index)):
        row, inner = M[x.index[i]], 0.0
        for j in range(len(x.index)):
            inner += x.value[j] * row[x.index[j]]
        total += x.value[i] * inner
    return max(0.0, total)


@jit
def solve(memory, h, b, w):
    """w <- Lambda_h^-1 b, on the features seen; the others have b / ridge, as their columns are unit vectors."""
    M, n = memory.inverse[h], memory.seen[0]
    if M.shape[1] == 1:
        for i in range(len(w)):
            w[i] = M[i, 0] * b[i]
        return
    for i in range(len(w)):
        row, total = M[i], 0.0
        for j in range(n if i < n else 0):
            total += row[j] * b[j]
        w[i] = total if i < n else row[i] * b[i]


@jit
def best(w, h, x):
    """The largest x'w_h of all samples."""
    value = la.dot(x, w[0, h])
    for m in range(1, len(w)):
        value = max(value, la.dot(x, w[m, h]))
    return value


@jit
def plan(memory, timed, w, levels, beta, prior, noise):
    """Compute w for the largest and smallest possible value, `levels`.

    `prior[m, h]` is the perturbation p_h of a sample, and `noise[m, move]` the sum of those of a move's targets.
    """
    order, first = by_step(memory)
    if timed:
        V, of = np.zeros(memory.cells.count[0]), np.full(memory.cells.count[0], -1)
        for h in range(len(first) - 2, -1, -1):
            moves = order[first[h] : first[h + 1]]
            if h + 1 < len(memory.inverse):
                look_ahead(memory, h + 1, moves, w, levels, beta, V, of)
            regress(memory, h, moves, w, V, prior, noise)
    else:
        V, bonus = np.full(memory.cells.count[0], np.inf), bonuses(memory, beta)
        for sweep in range(SWEEPS):
            change = evaluate(memory, w, levels, bonus, V)
            if sweep > 0 and change <= TOLERANCE * (levels[0] - levels[1]):
                break
            regress(memory, 0, order, w, V, prior, noise)


@jit
def passed(step, since, horizon, every):
    """Count a step; return whether new samples are due: after `horizon` steps, or `every` if there is no horizon."""
    since[0] += 1
    if horizon > 0:
        step[0] = (step[0] + 1) % horizon
        return step[0] == 0
    return since[0] == every


@jit
def by_step(memory):
    """The moves in the order of their steps, and where those of each step begin."""
    rows, n = memory.moves.rows, memory.moves.count[0]
    first, order = np.zeros(len(memory.inverse) + 1, np.int64), np.empty(n, np.int64)
    for move in range(n):
        first[rows[move, 0] + 1] += 1
    for h in range(len(first) - 1):
        first[h + 1] += first[h]
    place = first.copy()
    for move in range(n):
        order[place[rows[move, 0]]] = move
        place[rows[move, 0]] += 1
    return order, first


@jit
def look_ahead(memory, h, moves, w, levels, beta, V, of):
    """Compute V_h of the cells that moves lead to, each once: `of` says of which step V is."""
    for move in moves:
        cell = memory.moves.rows[move, 2]
        if cell >= 0 and of[cell] != h:
            value, of[cell] = -np.inf, h
            for a in range(memory.n_actions[0]):
                x = stored(memory, cell, a)
                bonus = beta * np.sqrt(form(memory, h, x)) if beta > 0.0 else 0.0
                value = max(value, best(w, h, x) + bonus)
            V[cell] = min(max(value, levels[1]), levels[0])


@jit
def bonuses(memory, beta):
    """beta sqrt(x' Lambda^-1 x) of every action in every cell."""
    found = np.zeros((memory.cells.count[0], memory.n_actions[0]))
    if beta > 0.0:
        for cell in range(found.shape[0]):
            for a in range(found.shape[1]):
                found[cell, a] = beta * np.sqrt(form(memory, 0, stored(memory, cell, a)))
    return found


@jit
def evaluate(memory, w, levels, bonus, V):
    """Compute V of every cell; return the largest change."""
    change = 0.0
    for cell in range(len(V)):
        value = -np.inf
        for a in range(bonus.shape[1]):
            value = max(value, best(w, 0, stored(memory, cell, a)) + bonus[cell, a])
        value = min(max(value, levels[1]), levels[0])
        change = max(change, abs(value - V[cell]))
        V[cell] = value
    return change


@jit
def regress(memory, h, moves, w, V, prior, noise):
    """Compute w_h of every sample from the values of the next cells; after the last step of an episode they are 0."""
    n_actions, rows = memory.n_actions[0], memory.moves.rows
    for m in range(len(w)):
        b = prior[m, h].copy()
        for move in moves:
            cell = rows[move, 2]
            y = memory.reward[move] + noise[m, move] + (memory.discount[move] * V[cell] if cell >= 0 else 0.0)
            x = stored(memory, rows[move, 1] // n_actions, rows[move, 1] % n_actions)
            for i in range(len(x.index)):
                b[x.index[i]] += y * x.value[i]
        solve(memory, h, b, w[m, h])


@jit
def as_row(xs):
    """The features of every action as a row of integers: the indices, then the bits of the values."""
    n_actions, k = xs.index.shape
    row = np.empty(2 * n_actions * k, np.int64)
    value = row.view(np.float64)
    for a in range(n_actions):
        for j in range(k):
            row[a * k + j] = xs.index[a, j]
            value[(n_actions + a) * k + j] = xs.value[a, j]
    return row


@jit
def stored(memory, cell, a):
    """The features x of an action in a cell."""
    row, n_actions = memory.cells.rows[cell], memory.n_actions[0]
    k = len(row) // (2 * n_actions)
    values = row.view(np.float64)
    return la.Active(row[a * k : (a + 1) * k], values[(n_actions + a) * k : (n_actions + a + 1) * k])
