"""Optimistic least-squares value iteration on features that states share: a matrix M^-1 for each action.

Actions share no features, so that the regression has a block for each, of the features of a state. Cells are the
distinct features of states, each stored once, for all actions. With m the prior visits and kappa = m |x|^2, for each
action,

    M   = kappa I + sum x x'
    phi = M^-1 sum x (r + gamma V(s') - v0)                        V(s) = clip(max_a U(s, a))
    U   = v0 + x'phi + noise_scale sqrt(x'Cx)                      C = M^-1 (sum over cells of (S + sigma^2) x x') M^-1

where S are the summed squared deviations of the targets r + gamma V(s') of a cell from their own mean, which know
neither the prior nor what the features cannot fit, and sigma^2, the sum of S over that of n - 1 visits, speaks for the
degree of freedom of that mean. `w` is the same from min(0, v0) without noise.

`observe` changes M^-1, phi and w by rank one. `solve` iterates the equations over all moves, warm-started.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import levels as lv
from ucls.kernels import moves as mv
from ucls.kernels._jit import jit
from ucls.kernels.arrays import Array, IntScalar, Matrix, Scalar, Vector, zeros
from ucls.kernels.ranges import COUNT, NOT_NEGATIVE, Count, Grows
from ucls.kernels.row_table import Table, find, longer, number, table

CELLS = 256  # room to begin with
TRIED = 0.5  # an action counts as tried where less than this part of the prior is left
SWEEPS = 30
TOLERANCE = 1e-4  # of the range of values: sweeps end when V changes by less


class Blocks(NamedTuple):
    """Cells, with their values; moves between them; of cells and actions, visits, the summed squared deviations of
    targets, the standard deviation of x'phi, and the part of the prior that is left; the regression; the number of
    features seen; kappa (0: not known yet); the lowest mean value; steps since the last solve, and in all."""

    cells: Table
    moves: mv.Moves
    V: Annotated[Vector, Grows(like="cells.rows")]
    V_mean: Annotated[Vector, Grows(like="cells.rows")]
    visits: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    deviation: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    spread: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
    prior: Annotated[Matrix, NOT_NEGATIVE, Grows(like="cells.rows")]
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
        return "a move leads where no cell is" if (rows >= limits).any() else ""


def blocks(size: int, n_actions: int, n_active: int) -> Blocks:
    """Nothing known, of so many features of all actions."""
    k = size // n_actions
    return Blocks(
        cells=table(CELLS, 2 * n_active),
        moves=mv.moves(CELLS, n_actions),
        V=np.zeros(CELLS),
        V_mean=np.zeros(CELLS),
        visits=np.zeros((CELLS, n_actions)),
        deviation=np.zeros((CELLS, n_actions)),
        spread=np.zeros((CELLS, n_actions)),
        prior=np.zeros((CELLS, n_actions)),
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
    return mv.room(CELLS, n_actions) + CELLS * (2 * n_active + 6 + 4 * n_actions) + 2 * (k + 1) * size


@jit
def full(solver):
    """Whether another transition might not fit."""
    return solver.cells.count[0] + 2 > len(solver.V) or mv.full(solver.moves)


def grow(old: Blocks) -> Blocks:
    """The same with twice the room for what is full."""
    if mv.full(old.moves):
        old = old._replace(moves=mv.more_moves(old.moves))
    if old.cells.count[0] + 2 > len(old.V):
        more = {name: _twice(getattr(old, name)) for name in old._fields[2:8]}
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
def form(M, x):
    """x'Mx."""
    total = 0.0
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
def observe(solver, levels, x, a, r, gamma, x_next, limit):
    """Remember a transition, and change the regression by it."""
    if solver.kappa[0] == 0.0:
        believe(solver, levels, x)
    cell = cell_of(solver, levels, x, limit)
    cell_next = -1
    ahead = ahead_mean = 0.0
    if gamma > 0.0:
        cell_next = cell_of(solver, levels, x_next, limit)
        ahead, ahead_mean = best_of(solver, levels, x_next)
    mv.record(solver.moves, cell * len(solver.phi) + a, cell_next, r, gamma, solver.V, limit)
    solver.visits[cell, a] += 1.0
    solver.since[0] += 1
    solver.t[0] += 1
    learn(solver, stored(solver, cell), a, r + gamma * ahead - levels.v0, r + gamma * ahead_mean - lv.base(levels))


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
def best_of(solver, levels, x):
    """V at x, optimistic and of the mean."""
    best, best_mean, tried = -np.inf, -np.inf, False
    for a in range(len(solver.phi)):
        best = max(best, upper(solver, levels, x, a))
        if left(solver, x, a) <= TRIED:
            tried = True
            best_mean = max(best_mean, lv.base(levels) + la.dot(x, solver.w[a]))
    return lv.clip(levels, best), lv.clip(levels, best_mean) if tried else lv.base(levels)


@jit
def learn(solver, x, a, y, y_mean):
    """Recursive least squares: one more x, with a target of phi and one of w."""
    M, n = solver.inverse[a], solver.seen[0]
    Mx = np.zeros(n)
    for i in range(len(x.index)):
        row = M[x.index[i]]
        for j in range(n):
            Mx[j] += x.value[i] * row[j]
    shrink = 1.0 / (1.0 + la.dot(x, Mx))
    error, error_mean = y - la.dot(x, solver.phi[a]), y_mean - la.dot(x, solver.w[a])
    la.add(solver.phi[a], n, shrink * error, Mx)
    la.add(solver.w[a], n, shrink * error_mean, Mx)
    for i in range(n):
        if Mx[i] != 0.0:
            la.add(M[i], n, -shrink * Mx[i], Mx)


@jit
def solve(solver, levels, sweeps):
    """Iterate the equations over all moves, then the noise; return by how much the last sweep changed V."""
    look(solver, levels)
    change = np.inf
    least = TOLERANCE * (levels.v0 - levels.vmin)
    for _ in range(sweeps):
        change = evaluate(solver, levels)
        regress(solver, levels)
        if change <= least:
            break
    spread(solver, levels)
    solver.since[0] = 0
    return change


@jit
def look(solver, levels):
    """What is left of the prior, in every cell."""
    for cell in range(solver.cells.count[0]):
        x = stored(solver, cell)
        for a in range(len(solver.phi)):
            solver.prior[cell, a] = left(solver, x, a)


@jit
def evaluate(solver, levels):
    """Compute V of all cells from phi and w; return the largest change."""
    largest, base = 0.0, lv.base(levels)
    lowest = base
    for cell in range(solver.cells.count[0]):
        x = stored(solver, cell)
        best, best_mean, tried = -np.inf, -np.inf, False
        for a in range(len(solver.phi)):
            best = max(best, la.dot(x, solver.phi[a]) + levels.noise_scale * solver.spread[cell, a])
            if solver.prior[cell, a] <= TRIED:
                tried = True
                best_mean = max(best_mean, la.dot(x, solver.w[a]))
        V = lv.clip(levels, levels.v0 + best)
        V_mean = lv.clip(levels, base + best_mean) if tried else base
        largest = max(largest, abs(V - solver.V[cell]), abs(V_mean - solver.V_mean[cell]))
        solver.V[cell] = V
        solver.V_mean[cell] = V_mean
        lowest = min(lowest, V_mean)
    solver.lowest[0] = lowest
    return largest


@jit
def regress(solver, levels):
    """Compute phi and w from the targets of all moves."""
    n, n_actions, moves, base = solver.seen[0], len(solver.phi), solver.moves, lv.base(levels)
    right, right_mean = np.zeros((n_actions, n)), np.zeros((n_actions, n))
    sums = np.zeros((solver.cells.count[0], n_actions, 2))
    for move in range(moves.table.count[0]):
        pair, cell = moves.table.rows[move, 0], moves.table.rows[move, 1]
        r, gamma, visits = moves.reward[move], moves.discount[move], moves.visits[move]
        ahead = gamma * solver.V[cell] if cell >= 0 else 0.0
        ahead_mean = gamma * solver.V_mean[cell] if cell >= 0 else 0.0
        of, a = pair // n_actions, pair % n_actions
        sums[of, a, 0] += visits * (r + ahead - levels.v0)
        sums[of, a, 1] += visits * (r + ahead_mean - base)
    for cell in range(solver.cells.count[0]):
        x = stored(solver, cell)
        for a in range(n_actions):
            if solver.visits[cell, a] > 0.0:
                for i in range(len(x.index)):
                    right[a, x.index[i]] += x.value[i] * sums[cell, a, 0]
                    right_mean[a, x.index[i]] += x.value[i] * sums[cell, a, 1]
    for a in range(n_actions):
        for i in range(n):
            row, total, total_mean = solver.inverse[a, i], 0.0, 0.0
            for j in range(n):
                total += row[j] * right[a, j]
                total_mean += row[j] * right_mean[a, j]
            solver.phi[a, i] = total
            solver.w[a, i] = total_mean


@jit
def deviate(solver):
    """Compute the squared deviations of the targets of every cell and action from their mean."""
    n_actions, moves = len(solver.phi), solver.moves
    means = np.zeros((solver.cells.count[0], n_actions))
    for fold in range(2):
        for move in range(moves.table.count[0]):
            pair, cell = moves.table.rows[move, 0], moves.table.rows[move, 1]
            of, a = pair // n_actions, pair % n_actions
            y = moves.reward[move] + (moves.discount[move] * solver.V[cell] if cell >= 0 else 0.0)
            if fold == 0:
                means[of, a] += moves.visits[move] * y / solver.visits[of, a]
                solver.deviation[of, a] = 0.0
            else:
                solver.deviation[of, a] += moves.visits[move] * (y - means[of, a]) ** 2 + moves.deviation[move]


@jit
def spread(solver, levels):
    """Compute C, and the standard deviation of the estimate in every cell."""
    if levels.noise_scale == 0.0:
        return
    deviate(solver)
    n, count, n_actions = solver.seen[0], solver.cells.count[0], len(solver.phi)
    total, freedom = 0.0, 0.0
    for cell in range(count):
        for a in range(n_actions):
            if solver.visits[cell, a] > 0.0:
                total += solver.deviation[cell, a]
                freedom += solver.visits[cell, a] - 1.0
    variance = total / freedom if freedom > 0.0 else 0.0
    for a in range(n_actions):
        S = np.zeros((n, n))
        for cell in range(count):
            if solver.visits[cell, a] > 0.0:
                add_outer(S, solver.deviation[cell, a] + variance, stored(solver, cell))
        sandwich(solver.inverse[a], S, n, solver.C[a])
    for cell in range(count):
        x = stored(solver, cell)
        for a in range(n_actions):
            solver.spread[cell, a] = np.sqrt(form(solver.C[a], x))


@jit
def add_outer(S, c, x):
    """S <- S + c x x'."""
    for i in range(len(x.index)):
        row, ci = S[x.index[i]], c * x.value[i]
        for j in range(len(x.index)):
            row[x.index[j]] += ci * x.value[j]


@jit
def sandwich(M, S, n, C):
    """C <- M S M, of symmetric matrices."""
    MS = np.zeros((n, n))
    multiply(M, S, n, MS)
    for i in range(n):
        for j in range(n):
            C[i, j] = 0.0
    multiply(MS, M, n, C)


@jit
def multiply(A, B, n, to):
    """to <- to + A B, four rows of B at a time."""
    whole = n - n % 4
    for i in range(n):
        row = to[i]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            b0, b1, b2, b3 = B[k], B[k + 1], B[k + 2], B[k + 3]
            for j in range(n):
                row[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j])
        for k in range(whole, n):
            la.add(row, n, A[i, k], B[k])
