"""Optimistic least-squares value iteration over all moves, for the matrices of `blocks`.

A solve sweeps over cells and moves, warm-started, until V stays or there were enough sweeps, and computes the noise
term from the targets at its end. A maximum over least squares is no contraction: sweeps need not converge, but the clip
of V keeps them bounded.
"""

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import blocks as bl
from ucls.kernels.planning import levels as lv

SWEEPS = 30  # in a solve, at most
TOLERANCE = 1e-4  # of the range of values: sweeps end when V changes by less
REPEATED = 0.1  # the fraction of visits that must be repeated for noise to be seen in repeated visits


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
        x = bl.stored(solver, cell)
        for a in range(len(solver.phi)):
            solver.prior[cell, a] = bl.left(solver, x, a)


@jit
def evaluate(solver, levels):
    """Compute V of all cells from phi and w; return the largest change."""
    largest, base = 0.0, lv.base(levels)
    lowest = base
    for cell in range(solver.cells.count[0]):
        x = bl.stored(solver, cell)
        best, best_mean, tried = -np.inf, -np.inf, False
        solver.best_mean[cell] = -1
        for a in range(len(solver.phi)):
            if solver.visits[cell, a] < 0.0:
                continue
            upper = la.dot(x, solver.phi[a]) + levels.noise_scale * solver.spread[cell, a]
            if upper > best:
                best, solver.best[cell] = upper, a
            if solver.prior[cell, a] <= bl.TRIED and la.dot(x, solver.w[a]) > best_mean:
                best_mean, solver.best_mean[cell] = la.dot(x, solver.w[a]), a
                tried = True
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
    if levels.lambda_ > 0.0:
        more, pairs = longer_returns(solver, levels), solver.steps.pair
        for t in range(len(more)):
            sums[pairs[t] // n_actions, pairs[t] % n_actions, 0] += more[t, 0]
            sums[pairs[t] // n_actions, pairs[t] % n_actions, 1] += more[t, 1]
    for cell in range(solver.cells.count[0]):
        x = bl.stored(solver, cell)
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
def longer_returns(solver, levels):
    """What the lambda-returns of the trajectory differ by from one-step targets, optimistic and of the mean."""
    steps, n_actions, decay = solver.steps, len(solver.phi), levels.lambda_
    more = np.zeros((steps.count[0], 2))
    ahead = ahead_mean = 0.0  # G - V of the next step, 0 where its action is not the best one
    for k in range(len(more)):
        t = steps.head[0] - 1 - k  # from the last step back
        if t < 0:
            t += len(more)
        r, gamma, cell = steps.reward[t], steps.discount[t], steps.cell[t]
        more[t, 0] = gamma * decay * ahead
        more[t, 1] = gamma * decay * ahead_mean
        ahead = ahead_mean = 0.0
        if steps.continues[t]:
            of, a = steps.pair[t] // n_actions, steps.pair[t] % n_actions
            V, V_mean = (solver.V[cell], solver.V_mean[cell]) if cell >= 0 else (0.0, 0.0)
            if a == solver.best[of]:
                ahead = lv.clip(levels, r + gamma * V + more[t, 0]) - solver.V[of]
            if a == solver.best_mean[of]:
                ahead_mean = lv.clip(levels, r + gamma * V_mean + more[t, 1]) - solver.V_mean[of]
    return more


@jit
def deviate(solver, levels):
    """Compute the squared deviations of the targets of every cell and action from their mean; return the means."""
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
    if levels.lambda_ > 0.0:
        deviate_further(solver, levels, means)
    return means


@jit
def deviate_further(solver, levels, means):
    """Turn means and deviations of one-step targets into those of lambda-returns."""
    steps, n_actions = solver.steps, len(solver.phi)
    more, shift = longer_returns(solver, levels), np.zeros(means.shape)
    for t in range(len(more)):
        of, a, cell = steps.pair[t] // n_actions, steps.pair[t] % n_actions, steps.cell[t]
        y = steps.reward[t] + (steps.discount[t] * solver.V[cell] if cell >= 0 else 0.0)
        shift[of, a] += more[t, 0] / solver.visits[of, a]
        solver.deviation[of, a] += more[t, 0] * (more[t, 0] + 2.0 * (y - means[of, a]))
    for of in range(len(means)):
        for a in range(n_actions):
            means[of, a] += shift[of, a]
            left = solver.deviation[of, a] - solver.visits[of, a] * shift[of, a] ** 2
            solver.deviation[of, a] = max(0.0, left)


@jit
def spread(solver, levels):
    """Compute C, and the standard deviation of the estimate in every cell."""
    if levels.noise_scale == 0.0:
        return
    n, count, n_actions = solver.seen[0], solver.cells.count[0], len(solver.phi)
    weights = variances(solver, levels)
    for a in range(n_actions):
        S = np.zeros((n, n))
        for cell in range(count):
            if solver.visits[cell, a] > 0.0:
                add_outer(S, weights[cell, a], bl.stored(solver, cell))
        sandwich(solver.inverse[a], S, n, solver.C[a])
    for cell in range(count):
        x = bl.stored(solver, cell)
        for a in range(n_actions):
            solver.spread[cell, a] = np.sqrt(bl.form(solver.C[a], x))


@jit
def variances(solver, levels):
    """What each cell and action contributes to the middle of C."""
    means = deviate(solver, levels)
    weights = solver.deviation[: solver.cells.count[0]].copy()
    visits, total, freedom, leverage = 0.0, 0.0, 0.0, np.ones(weights.shape)
    for cell in range(len(weights)):
        for a in range(weights.shape[1]):
            if solver.visits[cell, a] > 0.0:
                visits += solver.visits[cell, a]
                freedom += solver.visits[cell, a] - 1.0
    alone = freedom < REPEATED * visits
    if alone:
        freedom = 0.0
    for cell in range(len(weights)):
        x = bl.stored(solver, cell)
        for a in range(weights.shape[1]):
            many = solver.visits[cell, a]
            if alone and many > 0.0:
                error = means[cell, a] - levels.v0 - la.dot(x, solver.phi[a])
                weights[cell, a] += many * error * error
                leverage[cell, a] = many * solver.prior[cell, a] * la.square(x) / solver.kappa[0]
                freedom += many - leverage[cell, a]
            total += weights[cell, a]
    variance = total / freedom if freedom > 0.0 else 0.0
    for cell in range(len(weights)):
        for a in range(weights.shape[1]):
            weights[cell, a] += leverage[cell, a] * variance
    return weights


@jit
def add_outer(S, c, x):
    """S <- S + c x x'."""
    if bl.in_order(x, len(S)):
        for i in range(len(S)):
            la.add(S[i], len(S), c * x.value[i], x.value)
        return
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
