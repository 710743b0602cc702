"""The step of UCLS-Plan with each of its solvers, by the number of features and of stored moves, relative to others."""

from typing import Any, NamedTuple

import numpy as np

from bench.harness import Effort, spread, took
from bench.tables import Table, within
from ucls.core.run import Run, make_run

PLAN, EXACT, RLSVI, RMAX = "ucls-plan", "ucls-exact", "rlsvi", "r-max"
SEA, PUDDLES = "ucls/DeepSea-v0", "ucls/PuddleWorld-v0"
TILES = {"tilings": 8, "tiles": 16}
MATRIX = 3000  # features beyond which d x d matrices are left out
SEEDS, PART = 5, 4  # the last quarter of the steps is timed


class Case(NamedTuple):
    """A timed case: the solver, the environment with its settings and features, the number of steps, and the algorithms
    that UCLS-Plan is compared with."""

    solver: str
    env: str
    settings: dict[str, Any]
    features: str | None
    steps: int
    others: tuple[str, ...] = (EXACT, RLSVI)


def cases(quick: bool) -> list[Case]:
    """Return cases by the number of features, then by the number of steps, and with them of transitions."""
    n = 200 if quick else 2000
    found = [Case("one-hot", SEA, {"size": size}, None, n, (EXACT, RLSVI, RMAX)) for size in (10, 20, 50, 100)]
    found += [Case("tiles", PUDDLES, {**TILES, "table_size": size}, None, n) for size in (64, 128, 256, 512)]
    found += [Case("dense", PUDDLES, {"order": order}, "fourier", n) for order in (3, 5, 7, 9)]
    lengths = (100, 400) if quick else (500, 2000, 8000, 32_000)
    sea = {"size": 30, "stochastic": True}
    found += [Case("one-hot", SEA, sea, None, steps, (EXACT, RLSVI, RMAX)) for steps in lengths]
    found += [Case("tiles", PUDDLES, {}, None, steps) for steps in lengths]
    found += [Case("dense", PUDDLES, {"order": 5}, "fourier", steps) for steps in lengths[:3]]
    return [case for i, case in enumerate(found) if not quick or i in (0, 4, 8, 12, 13, 14, 16)]


def measure(effort: Effort) -> dict[str, Any]:
    """Time every case; the agents alternate, with one seed after the other."""
    return {"cases": [_timed(case, effort.of(SEEDS, 1)) for case in cases(effort.quick)]}


def _timed(case: Case, seeds: int) -> dict[str, Any]:
    us: dict[str, list[float]] = {}
    about: dict[str, int] = {}
    for seed in range(seeds):
        for agent in (PLAN, *case.others):
            run = _run(case, agent, seed)
            if run is None:
                continue
            run.advance(case.steps - case.steps // PART)
            us.setdefault(agent, []).append(1e6 * took(run.advance, case.steps // PART) / (case.steps // PART))
            if agent == PLAN:
                moves = int(run.learner.state.solver.moves.table.count[0])
                about = {"d": run.learner.coder.size, "moves": moves}
    ratios = {agent: spread(np.array(times) / np.array(us[PLAN])) for agent, times in us.items() if agent != PLAN}
    per_second = spread(1e6 / np.array(us[PLAN]))
    return {"solver": case.solver, "steps": case.steps, **about, "per_second": per_second, "relative": ratios}


def _run(case: Case, agent: str, seed: int) -> Run | None:
    """A run of an agent; none if its matrices would be too large."""
    settings = {**case.settings, **({"visits": 10 if "stochastic" in case.settings else 1} if agent == RMAX else {})}
    if agent in (EXACT, RLSVI) and case.env == SEA and case.settings["size"] * (case.settings["size"] + 1) > MATRIX:
        return None
    return make_run(case.env, agent, seed=seed, settings=settings, features=case.features)


def tables(found: dict[str, Any]) -> list[Table]:
    """Steps per second of UCLS-Plan, and the time per step of others relative to it."""
    others = {EXACT: "ucls-exact", RLSVI: "RLSVI", RMAX: "R-max, a table"}
    rows = []
    for case in found["cases"]:
        relative = [within(case["relative"].get(agent)) for agent in others]
        counts = [f"{case[name]:,}" for name in ("d", "steps", "moves")]
        rows.append([case["solver"], *counts, within(case["per_second"]), *relative])
    return [
        Table(
            "UCLS-Plan, steps per second, and the time per step of others relative to it",
            ["solver", "d", "steps", "moves", "steps per second", *others.values()],
            rows,
            "Above 1, UCLS-Plan is faster. In the compiled loop, over the last quarter of the steps, full solves and"
            " resampling included; medians over seeds with quartiles. One-hot features in Deep Sea (the last ones"
            " stochastic, of size 30), tile coding and Fourier features in Puddle World.",
        )
    ]
