"""What a planner has learned, in the form that `ucls.policy` computes."""

from typing import Any

import numpy as np

from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import blocks as bl
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import sweeping as sw


def form(solver: Any, levels: lv.Levels) -> dict[str, Any]:
    """The values and bounds of a solver."""
    return _of_pairs(solver, levels) if isinstance(solver, sw.Sweeper) else _of_blocks(solver, levels)


def _of_pairs(solver: sw.Sweeper, levels: lv.Levels) -> dict[str, Any]:
    """Without a matrix, every pair has its own value, radius and upper bound."""
    mean, radius, upper = (np.empty(len(solver.visits)) for _ in range(3))
    tabulate(solver, levels, mean, radius, upper)
    return {"w": mean, "u": radius, "theta": upper}


@jit
def tabulate(solver, levels, mean, radius, upper):
    """Write the value, the radius and the upper bound of every pair."""
    for pair in range(len(mean)):
        spread = sw.noise(solver, levels, pair)
        mean[pair], upper[pair] = sw.value(solver, levels, pair), sw.upper(solver, levels, pair)
        radius[pair] = max(0.0, upper[pair] - spread - mean[pair]) + spread


def _of_blocks(solver: bl.Blocks, levels: lv.Levels) -> dict[str, Any]:
    """With a matrix for each action, as in `blocks`. Before the first transition there is nothing but v0."""
    n_actions, k = solver.phi.shape
    known = solver.kappa[0] > 0.0
    found = {
        "constant": float(min(0.0, levels.v0)),
        "w": solver.w.T.ravel(),
        "lowest": float(solver.lowest[0]),
        "tried": bl.TRIED,
        "inverse": solver.inverse if known else np.tile(np.eye(k), (n_actions, 1, 1)),
        "kappa": float(solver.kappa[0]) if known else 1.0,
        "optimistic": float(levels.v0),
        "phi": solver.phi.T.ravel(),
    }
    if levels.noise_scale > 0.0:
        found |= {"C": solver.C, "scale": float(levels.noise_scale)}
    return found
