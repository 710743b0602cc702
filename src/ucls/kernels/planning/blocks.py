"""Optimistic least-squares value iteration on features that states share: a matrix M^-1 for each action.

Actions share no features, so that the regression has a block for each, of the features of a state. Cells are the
distinct features of states, each stored once, for all actions. With m the prior visits and kappa = m |x|^2, for each
action,

    M   = kappa I + sum x x'
    phi = M^-1 sum x (r + gamma V(s') - v0)                        V(s) = clip(max_a U(s, a))
    U   = v0 + x'phi + noise_scale sqrt(x'Cx)                      C = M^-1 (sum over cells of (S + sigma^2) x x') M^-1

where S are the summed squared deviations of the targets r + gamma V(s') of a cell from their own mean, which know
neither the prior nor what the features cannot fit, and sigma^2, the sum of S over that of n - 1 visits and a part for
noise that may not have shown yet (`levels.variance`), speaks for the degree of freedom of that mean. Where states are
hardly ever met twice (Fourier features), deviations are from the regression instead, S = sum delta^2, with
n l sigma^2 in place of sigma^2, l = x'M^-1 x and the sum of n (1 - l) in place of that of n - 1. `w` is the same from
min(0, v0) without noise.

With lambda > 0 the targets are r + gamma V(s') + gamma lambda (G' - V(s')), where G' is the target of the next
transition, as long as the action taken in s' is the one with the largest U there (Watkins 1989). Otherwise, and for the
last transition that is stored, they are r + gamma V(s'). For w, it is the action with the largest x'w.

`observe` changes M^-1 by rank one, and phi and w with it, by recursive least squares, unless all features are active
everywhere: in CartPole, with Fourier features, two of four runs ended near 200 steps with it, and none without. The
equations are solved over all moves now and then, by `block_solver`.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import masks as mk
from ucls.kernels.arrays import Array, IntScalar, IntVector, Matrix, Scalar, Vector, zeros
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import moves as mv
from ucls.kernels.planning import trajectory as tr
from ucls.kernels.ranges import COUNT, NOT_NEGATIVE, Count, Grows, Index
from ucls.kernels.row_table import Table, find, longer, number, table

CELLS = 256  # room to begin with
GROWING = ("V", "V_mean", "best", "best_mean", "visits", "deviation", "spread", "prior")  # with the cells
TRIED = 0.5  # an action counts as tried where less than this part of the prior is left


class Blocks(NamedTuple):
    """Cells, with their values and best actions; moves between them; of cells and actions, visits, the summed squared
    deviations of targets, the standard deviation of x'phi, and the part of the prior that is left; the last transitions
    in order; the regression; the number of features seen; kappa (0: not known yet); the lowest mean value; steps since
    the last solve, and in all."""

    cells: Table
    moves: mv.Moves
    V: Annotated[Vector, Grows(like="cells.rows")]
    V_mean: Annotated[Vector, Grows(like="cells.rows")]
    best: Annotated[IntVector, Index("actions"), Grows(like="cells.rows")]
    best_mean: Annotated[IntVector, Index("actions", none=True), Grows(like="cells.rows")]
    visits: Annotated[Matrix, Grows(like="cells.rows")]  # -1 of an action that is invalid in the cell
    deviation: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    spread: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    prior: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    steps: tr.Trajectory
    inverse: Array
    C: Array
    phi: Matrix
    w: Matrix
    seen: Annotated[IntScalar, Count("phi", axis=1)]
    kappa: Annotated[Scalar, NOT_NEGATIVE]
    lowest: Scalar
    since: Annotated[IntScalar, COUNT]
    t: Annotated[IntScalar, COUNT]

    def fault(self) -> str:
        """Cells hold features, and moves lead between them."""
        n, k = self.cells.count[0], self.cells.rows.shape[1] // 2
        index, value = self.cells.rows[:n, :k], self.cells.rows[:n, k:].copy().view(np.float64)
        if ((index < 0) | (index >= self.seen[0])).any() or not np.isfinite(value).all():
            return "a cell holds what is no feature"
        if len(self.moves.first_into) != len(self.V):
            return "there are as many cells as values"
        rows = self.moves.table.rows[: self.moves.table.count[0]]
        limits = n * self.phi.shape[0], n
        if (rows >= limits).any():
            return "a move leads where no cell is"
        pair, cell = (array[: self.steps.count[0]] for array in (self.steps.pair, self.steps.cell))
        lost = (pair < 0) | (pair >= limits[0]) | (cell < -1) | (cell >= n)
        return "the trajectory leads where no cell is" if lost.any() else ""


def blocks(size: int, n_actions: int, n_active: int) -> Blocks:
    """Nothing known, of so many features of all actions."""
    k = size // n_actions
    return Blocks(
        cells=table(CELLS, 2 * n_active),
        moves=mv.moves(CELLS, n_actions),
        V=np.zeros(CELLS),
        V_mean=np.zeros(CELLS),
        best=np.zeros(CELLS, np.int64),
        best_mean=np.full(CELLS, -1),
        visits=np.zeros((CELLS, n_actions)),
        deviation=np.zeros((CELLS, n_actions)),
        spread=np.zeros((CELLS, n_actions)),
        prior=np.zeros((CELLS, n_actions)),
        steps=tr.trajectory(),
        inverse=zeros((n_actions, k, k), np.float64),
        C=zeros((n_actions, k, k), np.float64),
        phi=np.zeros((n_actions, k)),
        w=np.zeros((n_actions, k)),
        seen=np.zeros(1, np.int64),
        kappa=np.zeros(1),
        lowest=np.zeros(1),
        since=np.zeros(1, np.int64),
        t=np.zeros(1, np.int64),
    )


def room(size: int, n_actions: int, n_active: int) -> int:
    """Numbers that `blocks` makes room for."""
    k = size // n_actions
    return mv.room(CELLS, n_actions) + tr.room() + CELLS * (2 * n_active + 8 + 4 * n_actions) + 2 * (k + 1) * size


@jit
def full(solver):
    """Whether another transition might not fit."""
    return solver.cells.count[0] + 2 > len(solver.V) or mv.full(solver.moves) or tr.full(solver.steps)


def grow(old: Blocks) -> Blocks:
    """The same with twice the room for what is full."""
    if mv.full(old.moves):
        old = old._replace(moves=mv.more_moves(old.moves))
    if tr.full(old.steps):
        old = old._replace(steps=tr.grow(old.steps))
    if old.cells.count[0] + 2 > len(old.V):
        more = {name: _twice(getattr(old, name)) for name in GROWING}
        old = old._replace(cells=longer(old.cells), moves=mv.more_cells(old.moves), **more)
    return old


def _twice(array: np.ndarray) -> np.ndarray:
    return np.concatenate([array, np.zeros_like(array)])


@jit
def of_state(solver, x):
    """The features of a state, whatever the action, and that action."""
    n_actions = len(solver.phi)
    state = la.Active(np.empty(len(x.index), np.int64), x.value)
    for i in range(len(x.index)):
        state.index[i] = x.index[i] // n_actions
    return state, x.index[0] % n_actions


@jit
def stored(solver, cell):
    """The features of a cell."""
    row = solver.cells.rows[cell]
    k = len(row) // 2
    return la.Active(row[:k], row.view(np.float64)[k:])


@jit
def dense(solver):
    """Whether all features are active everywhere."""
    return solver.cells.rows.shape[1] == 2 * solver.phi.shape[1]


@jit
def in_order(x, size):
    """Whether all features are active, one after the other: then loops need no indices, and are much faster."""
    if len(x.index) != size:
        return False
    ordered = True
    for i in range(size):
        ordered = ordered and x.index[i] == i
    return ordered


@jit
def form(M, x):
    """x'Mx."""
    total = 0.0
    if in_order(x, len(M)):
        for i in range(len(M)):
            row, inner = M[i], 0.0
            for j in range(len(M)):
                inner += x.value[j] * row[j]
            total += x.value[i] * inner
        return max(0.0, total)
    for i in range(len(x.index)):
        row, inner = M[x.index[i]], 0.0
        for j in range(len(x.index)):
            inner += x.value[j] * row[x.index[j]]
        total += x.value[i] * inner
    return max(0.0, total)


@jit
def left(solver, x, a):
    """The part of the prior that is left at x: 1 without data, m / (m + n) after n visits of one-hot features."""
    size = la.square(x)
    if solver.kappa[0] == 0.0 or size == 0.0:
        return 1.0
    return min(1.0, solver.kappa[0] * form(solver.inverse[a], x) / size)


@jit
def noise(solver, levels, x, a):
    """The noise term of the bound at x."""
    if levels.noise_scale == 0.0:
        return 0.0
    return levels.noise_scale * np.sqrt(form(solver.C[a], x))


@jit
def upper(solver, levels, x, a):
    """U at x."""
    return levels.v0 + la.dot(x, solver.phi[a]) + noise(solver, levels, x, a)


@jit
def value(solver, levels, x, a):
    """x'w from its base; an action that was not tried is worth no more than the worst cell."""
    found = lv.base(levels) + la.dot(x, solver.w[a])
    if left(solver, x, a) > TRIED:
        return min(found, solver.lowest[0])
    return found


@jit
def cell_of(solver, levels, x, limit):
    """The cell of a state; at the limit, a new state is taken for the nearest that is stored."""
    k = len(x.index)
    row = np.empty(2 * k, np.int64)
    values = row.view(np.float64)
    for i in range(k):
        row[i] = x.index[i]
        values[k + i] = x.value[i]
        solver.seen[0] = max(solver.seen[0], x.index[i] + 1)
    cell = find(solver.cells, row)
    if cell >= 0:
        return cell
    if solver.cells.count[0] >= limit:
        return nearest(solver, x)
    cell = number(solver.cells, row)
    solver.V[cell] = levels.v0
    solver.V_mean[cell] = lv.base(levels)
    for a in range(len(solver.phi)):
        solver.prior[cell, a] = 1.0
    return cell


@jit
def nearest(solver, x):
    """The stored cell whose features are the nearest."""
    point, size = np.zeros(solver.phi.shape[1]), la.square(x)
    for i in range(len(x.index)):
        point[x.index[i]] += x.value[i]
    best, least = 0, np.inf
    for cell in range(solver.cells.count[0]):
        other = stored(solver, cell)
        apart = size + la.square(other) - 2.0 * la.dot(other, point)
        if apart < least:
            best, least = cell, apart
    return best


@jit
def observe(solver, levels, xs, a, r, gamma, xs_next, limit):
    """Remember a transition, and change the regression by it."""
    x, x_next = of_state(solver, la.of_action(xs, 0))[0], of_state(solver, la.of_action(xs_next, 0))[0]
    if solver.kappa[0] == 0.0:
        believe(solver, levels, x)
    cell = cell_of(solver, levels, x, limit)
    note_mask(solver, cell, xs)
    cell_next = -1
    ahead = ahead_mean = 0.0
    recursive = not dense(solver)
    if gamma > 0.0:
        cell_next = cell_of(solver, levels, x_next, limit)
        note_mask(solver, cell_next, xs_next)
        if recursive:
            ahead, ahead_mean = best_of(solver, levels, x_next, cell_next)
    pair = cell * len(solver.phi) + a
    mv.record(solver.moves, pair, cell_next, r, gamma, solver.V, limit)
    tr.record(solver.steps, pair, cell_next, r, gamma, limit)
    solver.visits[cell, a] = max(0.0, solver.visits[cell, a]) + 1.0
    solver.since[0] += 1
    solver.t[0] += 1
    y, y_mean = r + gamma * ahead - levels.v0, r + gamma * ahead_mean - lv.base(levels)
    learn(solver, stored(solver, cell), a, y, y_mean, recursive)


@jit
def note_mask(solver, cell, xs):
    """Remember which actions are invalid in a cell: their rows repeat that of another (`kernels.masks`)."""
    for a in range(len(solver.phi)):
        if solver.visits[cell, a] <= 0.0:
            b = xs.index[a, 0] % len(solver.phi)
            solver.visits[cell, a] = -1.0 if b != a and mk.is_same(xs, a, b) else 0.0


@jit
def believe(solver, levels, x):
    """M = kappa I, where kappa is m times the size of the first features that are met."""
    size = la.square(x)
    solver.kappa[0] = levels.prior_visits * (size if size > 0.0 else 1.0)
    for a in range(len(solver.inverse)):
        for i in range(solver.inverse.shape[1]):
            solver.inverse[a, i, i] = 1.0 / solver.kappa[0]
    solver.lowest[0] = lv.base(levels)


@jit
def best_of(solver, levels, x, cell):
    """V at x, optimistic and of the mean, over the actions that are valid in its cell."""
    best, best_mean, tried = -np.inf, -np.inf, False
    for a in range(len(solver.phi)):
        if solver.visits[cell, a] < 0.0:
            continue
        best = max(best, upper(solver, levels, x, a))
        if left(solver, x, a) <= TRIED:
            tried = True
            best_mean = max(best_mean, lv.base(levels) + la.dot(x, solver.w[a]))
    return lv.clip(levels, best), lv.clip(levels, best_mean) if tried else lv.base(levels)


@jit
def learn(solver, x, a, y, y_mean, recursive):
    """One more x in M^-1, and by recursive least squares its target in phi and that in w."""
    M, n = solver.inverse[a], solver.seen[0]
    Mx = np.zeros(n)
    for i in range(len(x.index)):
        row = M[x.index[i]]
        for j in range(n):
            Mx[j] += x.value[i] * row[j]
    shrink = 1.0 / (1.0 + la.dot(x, Mx))
    if recursive:
        la.add(solver.phi[a], n, shrink * (y - la.dot(x, solver.phi[a])), Mx)
        la.add(solver.w[a], n, shrink * (y_mean - la.dot(x, solver.w[a])), Mx)
    for i in range(n):
        if Mx[i] != 0.0:
            la.add(M[i], n, -shrink * Mx[i], Mx)
