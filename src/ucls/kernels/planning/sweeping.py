"""Optimistic value iteration where no two states share a feature: no matrix, prioritized sweeping over predecessors.

With one-hot features least squares is a mean. Of a pair with n visits, whose targets y = r + gamma V(s') have the mean
`y` and the summed squared deviations `S`, prior visits m and the global variance sigma^2,

    U = (m v0 + n y) / (m + n) + noise_scale sqrt(S + sigma^2) / (m + n), at most v0,      V(s) = clip(max_a U(s, a)),

and sigma^2 is the sum of S over that of n - 1, over all pairs, and a part for noise that may not have shown yet, which
halves with each pair that is visited again (`levels.variance`). A pair's own mean takes one degree of freedom, for
which the global variance speaks: of a single visit, all of it. `w` is the same from min(0, v0) without noise, and only
actions that were tried have a part in its maximum.

When the value of a cell changes, the cells that lead to it are queued, by how much that may change theirs (Moore and
Atkeson 1993). U reads sigma^2 as it was when all cells were last queued, which is done when it has changed by
`CHANGE`.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import heap as hp
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import moves as mv
from ucls.kernels.ranges import MADE, NOT_NEGATIVE, Count

BACKUPS = 100  # cells that are backed up in a step, at most
TOLERANCE = 1e-7  # of the range of values: smaller changes are not passed on
FINE = 1e-13  # the same in a full solve
CHANGE = 0.05  # of sigma, with which all cells are queued
ROUNDS = 100  # of a full solve, at most
FIRST = 1e300  # a priority above all others
INVALID = -1e300  # the mean of a pair that was never visited, because its action is invalid in its cell


class Sweeper(NamedTuple):
    """Moves; of pairs, visits, the optimistic mean, the summed squared deviations of their targets, and w; of cells, V
    without and with optimism; the queue; how many cells are known; the sums behind sigma^2, how many pairs were
    visited again, and sigma^2 as U reads it; the settings of the prior."""

    moves: mv.Moves
    visits: Annotated[Vector, NOT_NEGATIVE]
    mean: Vector
    deviation: Annotated[Vector, NOT_NEGATIVE]
    w: Vector
    V: Vector
    V_mean: Vector
    queue: hp.Heap
    known: Annotated[IntScalar, Count("V")]
    total: Scalar
    freedom: Annotated[Scalar, NOT_NEGATIVE]
    repeated: Annotated[Scalar, NOT_NEGATIVE]
    variance: Annotated[Scalar, NOT_NEGATIVE]
    n_actions: Annotated[IntScalar, MADE]
    prior_visits: Annotated[Scalar, MADE]

    def fault(self) -> str:
        """There is a value for each cell."""
        return "" if len(self.moves.first_into) == len(self.V) else "there are as many cells as values"


def sweeper(size: int, n_actions: int, prior_visits: float) -> Sweeper:
    """Nothing known, of so many pairs."""
    n_cells = size // n_actions
    return Sweeper(
        moves=mv.moves(n_cells, n_actions),
        visits=np.zeros(size),
        mean=np.zeros(size),
        deviation=np.zeros(size),
        w=np.zeros(size),
        V=np.zeros(n_cells),
        V_mean=np.zeros(n_cells),
        queue=hp.heap(n_cells),
        known=np.zeros(1, np.int64),
        total=np.zeros(1),
        freedom=np.zeros(1),
        repeated=np.zeros(1),
        variance=np.zeros(1),
        n_actions=np.array([n_actions]),
        prior_visits=np.array([prior_visits]),
    )


def room(size: int, n_actions: int) -> int:
    """Numbers that `sweeper` makes room for."""
    return mv.room(size // n_actions, n_actions) + 4 * size + 5 * (size // n_actions)


@jit
def left(solver, pair):
    """The part of the prior that is left: m / (m + n) after n visits."""
    return solver.prior_visits[0] / (solver.prior_visits[0] + solver.visits[pair])


@jit
def noise(solver, levels, pair):
    """The noise term of a pair's bound, which goes no further than v0."""
    n = solver.visits[pair]
    if n == 0.0:
        return 0.0
    spread = levels.noise_scale * np.sqrt(solver.deviation[pair] + solver.variance[0]) / (levels.prior_visits + n)
    return max(0.0, min(spread, levels.v0 - solver.mean[pair]))


@jit
def upper(solver, levels, pair):
    """U of a pair: with so much noise that anything is possible, no more than what was never tried."""
    if solver.visits[pair] == 0.0:
        return levels.v0
    return min(levels.v0, solver.mean[pair] + noise(solver, levels, pair))


@jit
def value(solver, levels, pair):
    """w of a pair; an action that was not tried is worth less than those that were."""
    if solver.visits[pair] > 0.0:
        return solver.w[pair]
    first, least = pair - pair % solver.n_actions[0], lv.base(levels)
    for i in range(first, first + solver.n_actions[0]):
        if solver.visits[i] > 0.0:
            least = min(least, np.nextafter(solver.w[i], -np.inf))
    return least


@jit
def meet(solver, levels, cell):
    """Give cells up to this one the value of what is not known."""
    for i in range(solver.known[0], cell + 1):
        solver.V[i] = levels.v0
        solver.V_mean[i] = lv.base(levels)
    solver.known[0] = max(solver.known[0], cell + 1)


@jit
def observe(solver, levels, pair, r, gamma, cell_next, limit):
    """Remember a transition (to cell -1 at termination), and queue its cell."""
    cell = pair // solver.n_actions[0]
    meet(solver, levels, max(cell, cell_next))
    mv.record(solver.moves, pair, cell_next, r, gamma, solver.V, limit)
    if solver.visits[pair] > 0.0:
        solver.freedom[0] += 1.0
    if solver.visits[pair] == 1.0:
        solver.repeated[0] += 1.0
    solver.visits[pair] += 1.0
    hp.push(solver.queue, cell, FIRST)


@jit
def note_mask(solver, xs):
    """Remember which actions are invalid in a cell: their rows repeat that of another (`kernels.masks`)."""
    n_actions = solver.n_actions[0]
    first = xs.index[0, 0] - xs.index[0, 0] % n_actions
    for a in range(n_actions):
        invalid = xs.index[a, 0] != first + a and solver.visits[first + a] == 0.0
        if invalid != (solver.mean[first + a] == INVALID):
            solver.mean[first + a] = INVALID if invalid else 0.0
            hp.push(solver.queue, first // n_actions, FIRST)


@jit
def queue_all(solver, priority):
    """Queue every known cell."""
    for cell in range(solver.known[0]):
        hp.push(solver.queue, cell, priority)


@jit
def sweep(solver, levels, most, tolerance):
    """Back up queued cells, at most so many; changes below a part of the range of values are not passed on."""
    least = tolerance * (levels.v0 - levels.vmin)
    for _ in range(most):
        if solver.queue.count[0] == 0:
            break
        cell = hp.pop(solver.queue)
        change = back_up(solver, levels, cell)
        move = solver.moves.first_into[cell] if change > least else -1
        while move >= 0:
            pair = solver.moves.table.rows[move, 0]
            weight = solver.moves.visits[move] / (levels.prior_visits + solver.visits[pair])
            priority = weight * solver.moves.discount[move] * change
            if priority > least:
                hp.push(solver.queue, pair // solver.n_actions[0], priority)
            move = solver.moves.into[move]


@jit
def pool(solver, levels, change):
    """Take the variance over all pairs for sigma^2 if sigma has changed by this part, and queue all cells then."""
    found = np.sqrt(lv.variance(levels, solver.total[0], solver.freedom[0], solver.repeated[0]))
    apart = abs(found - np.sqrt(solver.variance[0]))
    if apart > change * found and apart > FINE * (levels.v0 - levels.vmin):
        solver.variance[0] = found * found
        queue_all(solver, apart)
        return True
    return False


@jit
def back_up(solver, levels, cell):
    """Compute the values of all actions in a cell from those of the next cells; return the change of V."""
    best, best_mean, tried = -np.inf, -np.inf, False
    for a in range(solver.n_actions[0]):
        pair = cell * solver.n_actions[0] + a
        if solver.visits[pair] > 0.0:
            revise(solver, levels, pair)
            best_mean = max(best_mean, solver.w[pair])
            tried = True
        if solver.mean[pair] != INVALID:
            best = max(best, upper(solver, levels, pair))
    V = lv.clip(levels, best)
    V_mean = lv.clip(levels, best_mean) if tried else lv.base(levels)
    change = max(abs(V - solver.V[cell]), abs(V_mean - solver.V_mean[cell]))
    solver.V[cell] = V
    solver.V_mean[cell] = V_mean
    return change


@jit
def revise(solver, levels, pair):
    """Compute the means of a pair's targets, and their deviations, over its moves."""
    moves, n, m = solver.moves, solver.visits[pair], levels.prior_visits
    rows, total, total_mean = moves.table.rows, 0.0, 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell, visits = rows[move, 1], moves.visits[move]
        ahead = solver.V[cell] if cell >= 0 else 0.0
        ahead_mean = solver.V_mean[cell] if cell >= 0 else 0.0
        total += visits * (moves.reward[move] + moves.discount[move] * ahead)
        total_mean += visits * (moves.reward[move] + moves.discount[move] * ahead_mean)
        move = moves.out[move]
    y, deviation = total / n, 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell = rows[move, 1]
        apart = moves.reward[move] + moves.discount[move] * (solver.V[cell] if cell >= 0 else 0.0) - y
        deviation += moves.visits[move] * apart * apart + moves.deviation[move]
        move = moves.out[move]
    solver.total[0] += deviation - solver.deviation[pair]
    solver.deviation[pair] = deviation
    solver.mean[pair] = (m * levels.v0 + total) / (m + n)
    solver.w[pair] = (m * lv.base(levels) + total_mean) / (m + n)


@jit
def plan(solver, levels):
    """Back up what is queued, as far as a step goes, and all cells if sigma has changed."""
    sweep(solver, levels, BACKUPS, TOLERANCE)
    pool(solver, levels, CHANGE)


@jit
def solve(solver, levels):
    """Sweep until nothing changes any more; false if that takes too long."""
    for _ in range(ROUNDS):
        queue_all(solver, FIRST)
        sweep(solver, levels, ROUNDS * ROUNDS * solver.known[0], FINE)
        solver.total[0] = np.sum(solver.deviation)
        if not pool(solver, levels, FINE):
            return solver.queue.count[0] == 0
    return False
