"""The changes of UCLS-Plan. Functions must be replaced before the first kernel that calls them is compiled."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import block_solver as bs
from ucls.kernels.planning import blocks as bl
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import products as pr
from ucls.kernels.planning import sweeping as sw


class Change(NamedTuple):
    """Settings for one-hot features and for tiles (None: nothing changes there), and the functions that replace
    others."""

    one_hot: Mapping[str, Any] | None = MappingProxyType({})
    tiles: Mapping[str, Any] | None = MappingProxyType({})
    replace: Callable[[], None] | None = None


def _mixed_policies() -> None:
    """Back up with the mean over the actions as often as they were taken."""

    @jit
    def back_up(solver, levels, cell):
        n, V, V_mean = 0.0, 0.0, 0.0
        for pair in range(cell * solver.n_actions[0], (cell + 1) * solver.n_actions[0]):
            if solver.visits[pair] > 0.0:
                sw.revise(solver, levels, pair)
                n += solver.visits[pair]
                V += solver.visits[pair] * sw.upper(solver, levels, pair)
                V_mean += solver.visits[pair] * solver.w[pair]
        V, V_mean = (lv.clip(levels, V / n), lv.clip(levels, V_mean / n)) if n > 0.0 else (levels.v0, lv.base(levels))
        change = max(abs(V - solver.V[cell]), abs(V_mean - solver.V_mean[cell]))
        solver.V[cell], solver.V_mean[cell] = V, V_mean
        return change

    @jit
    def evaluate(solver, levels, X):
        largest = 0.0
        solver.lowest[0] = lv.base(levels)
        optimistic, means = pr.scores(solver, X, solver.phi), pr.scores(solver, X, solver.w)
        for cell in range(len(means)):
            n, V, V_mean, best = 0.0, 0.0, 0.0, -np.inf
            for a in range(len(solver.phi)):
                upper = optimistic[cell, a] + levels.noise_scale * solver.spread[cell, a]
                if upper > best:
                    best, solver.best[cell] = upper, a
                n += solver.visits[cell, a]
                V += solver.visits[cell, a] * upper
                V_mean += solver.visits[cell, a] * means[cell, a]
            V = lv.clip(levels, levels.v0 + (V / n if n > 0.0 else best))
            V_mean = lv.clip(levels, lv.base(levels) + (V_mean / n if n > 0.0 else 0.0))
            largest = max(largest, abs(V - solver.V[cell]), abs(V_mean - solver.V_mean[cell]))
            solver.V[cell], solver.V_mean[cell] = V, V_mean
            solver.best_mean[cell] = solver.best[cell]
            solver.lowest[0] = min(solver.lowest[0], V_mean)
        return largest

    @jit
    def best_of(solver, levels, x, cell):
        n, V, V_mean, best = 0.0, 0.0, 0.0, -np.inf
        for a in range(len(solver.phi)):
            upper, visits = bl.upper(solver, levels, x, a), solver.visits[cell, a]
            best, n, V = max(best, upper), n + visits, V + visits * upper
            V_mean += visits * (lv.base(levels) + la.dot(x, solver.w[a]))
        if n == 0.0:
            return lv.clip(levels, best), lv.base(levels)
        return lv.clip(levels, V / n), lv.clip(levels, V_mean / n)

    sw.back_up, bs.evaluate, bl.best_of = back_up, evaluate, best_of


def _pooled_variance() -> None:
    """Give every visit the variance sigma^2, whatever its own deviation."""

    @jit
    def noise(solver, levels, pair):
        n = solver.visits[pair]
        return levels.noise_scale * np.sqrt(n * solver.variance[0]) / (levels.prior_visits + n)

    local = bs.variances

    @jit
    def variances(solver, levels):
        weights, visits = local(solver, levels), np.maximum(0.0, solver.visits[: solver.cells.count[0]])
        variance = np.sum(weights) / max(1.0, np.sum(visits))  # what leverages share out adds up to sigma^2 per visit
        for cell in range(len(weights)):
            for a in range(weights.shape[1]):
                weights[cell, a] = visits[cell, a] * variance
        return weights

    sw.noise, bs.variances = noise, variances


def _local_variance() -> None:
    """Use only the deviations of each pair itself: sigma^2 = 0."""

    @jit
    def variance(levels, total, freedom, repeated):
        return 0.0

    lv.variance = variance


def _no_doubt() -> None:
    """Remove the variance that is assumed until enough pairs have been repeated."""

    @jit
    def variance(levels, total, freedom, repeated):
        return max(0.0, total) / freedom if freedom > 0.0 else 0.0

    lv.variance = variance


def _no_clip() -> None:
    """Do not limit V."""

    @jit
    def clip(levels, value):
        return value

    lv.clip = clip


def _few_sweeps() -> None:
    """Sweep a tenth as often."""

    bs.SWEEPS, sw.BACKUPS = bs.SWEEPS // 10, sw.BACKUPS // 10


CHANGES = {
    "none": Change(),
    "mixed policies": Change(replace=_mixed_policies),
    "pooled variance only": Change(replace=_pooled_variance),
    "local variance only": Change(replace=_local_variance),
    "noise not expected unseen": Change(replace=_no_doubt),
    "no noise term": Change({"noise_scale": 0.0}, {"noise_scale": 0.0}),
    "no clip": Change(replace=_no_clip),
    "a third of the prior": Change({"prior_visits": 0.01}, {"prior_visits": 0.1}),
    "three times the prior": Change({"prior_visits": 0.1}, {"prior_visits": 1.0}),
    "a tenth of the sweeps": Change(replace=_few_sweeps),
    "lambda = 0": Change(None, {"lambda": 0.0}),
    "solves a fifth as often": Change(None, {"spacing": 0.1}),
}
