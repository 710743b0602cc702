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
from ucls.kernels.planning import products as pr

SWEEPS = 30  # in a solve, at most
DENSE_SWEEPS = 10  # the same where all features are active: 30 were worse in CartPole
TOLERANCE = 1e-4  # of the range of values: sweeps end when V changes by less
REPEATED = 0.1  # the fraction of visits that must be repeated for noise to be seen in repeated visits


@jit
def solve(solver, levels, sweeps):
    """Iterate the equations over all moves, then the noise; return by how much the last sweep changed V."""
    X = pr.dense_features(solver)
    look(solver, X)
    change = np.inf
    least = TOLERANCE * (levels.v0 - levels.vmin)
    for _ in range(sweeps):
        change = evaluate(solver, levels, X)
        regress(solver, levels, X)
        if change <= least:
            break
    spread(solver, levels, X)
    solver.since[0] = 0
    return change


@jit
def look(solver, X):
    """What is left of the prior, in every cell."""
    forms = pr.forms(solver, X, solver.inverse)
    for cell in range(len(forms)):
        size = la.square(bl.stored(solver, cell))
        for a in range(len(solver.phi)):
            solver.prior[cell, a] = min(1.0, solver.kappa[0] * forms[cell, a] / size) if size > 0.0 else 1.0


@jit
def evaluate(solver, levels, X):
    """Compute V of all cells from phi and w; return the largest change."""
    largest, base = 0.0, lv.base(levels)
    lowest = base
    optimistic, means = pr.scores(solver, X, solver.phi), pr.scores(solver, X, solver.w)
    for cell in range(len(means)):
        best, best_mean, tried = -np.inf, -np.inf, False
        solver.best_mean[cell] = -1
        for a in range(len(solver.phi)):
            if solver.visits[cell, a] < 0.0:
                continue
            upper = optimistic[cell, a] + levels.noise_scale * solver.spread[cell, a]
            if upper > best:
                best, solver.best[cell] = upper, a
            if solver.prior[cell, a] <= bl.TRIED and means[cell, a] > best_mean:
                best_mean, solver.best_mean[cell] = means[cell, a], a
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
def regress(solver, levels, X):
    """Compute phi and w from the targets of all moves."""
    n, n_actions, moves, base = solver.seen[0], len(solver.phi), solver.moves, lv.base(levels)
    sums = np.zeros((solver.cells.count[0], 2 * n_actions))  # of optimistic targets, and behind them those of w
    for move in range(moves.table.count[0]):
        pair, cell = moves.table.rows[move, 0], moves.table.rows[move, 1]
        r, gamma, visits = moves.reward[move], moves.discount[move], moves.visits[move]
        ahead = gamma * solver.V[cell] if cell >= 0 else 0.0
        ahead_mean = gamma * solver.V_mean[cell] if cell >= 0 else 0.0
        of, a = pair // n_actions, pair % n_actions
        sums[of, a] += visits * (r + ahead - levels.v0)
        sums[of, n_actions + a] += visits * (r + ahead_mean - base)
    if levels.lambda_ > 0.0:
        more, pairs = longer_returns(solver, levels), solver.steps.pair
        for t in range(len(more)):
            of, a = pairs[t] // n_actions, pairs[t] % n_actions
            sums[of, a] += more[t, 0]
            sums[of, n_actions + a] += more[t, 1]
    right = pr.transposed(solver, X, sums)
    for a in range(n_actions):
        for i in range(n):
            row, total, total_mean = solver.inverse[a, i], 0.0, 0.0
            for j in range(n):
                total += row[j] * right[a, j]
                total_mean += row[j] * right[n_actions + a, j]
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
def spread(solver, levels, X):
    """Compute C, and the standard deviation of the estimate in every cell."""
    if levels.noise_scale == 0.0:
        return
    n, weights = solver.seen[0], variances(solver, levels)
    for a in range(len(solver.phi)):
        C = pr.sandwich(solver.inverse[a], pr.gram(solver, X, weights[:, a]))
        for i in range(n):
            for j in range(n):
                solver.C[a, i, j] = C[i, j]
    forms = pr.forms(solver, X, solver.C)
    for cell in range(len(forms)):
        for a in range(len(solver.phi)):
            solver.spread[cell, a] = np.sqrt(forms[cell, a])


@jit
def variances(solver, levels):
    """What each cell and action contributes to the middle of C."""
    means = deviate(solver, levels)
    weights = solver.deviation[: solver.cells.count[0]].copy()
    visits, total, freedom, repeated, leverage = 0.0, 0.0, 0.0, 0.0, np.ones(weights.shape)
    for cell in range(len(weights)):
        for a in range(weights.shape[1]):
            if solver.visits[cell, a] > 0.0:
                visits += solver.visits[cell, a]
                freedom += solver.visits[cell, a] - 1.0
                repeated += 1.0 if solver.visits[cell, a] > 1.0 else 0.0
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
    variance = lv.variance(levels, total, freedom, freedom if alone else repeated)
    for cell in range(len(weights)):
        for a in range(weights.shape[1]):
            weights[cell, a] = weights[cell, a] + leverage[cell, a] * variance if solver.visits[cell, a] > 0.0 else 0.0
    return weights
