"""The step of every algorithm, and how its time grows with the number of features, of actions and of data."""

import time
from typing import Any

import numpy as np

from bench.harness import Effort, took
from bench.tables import Table, number
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.run import Run, make_run, suits_env
from ucls.core.saving import checkpoint
from ucls.features import features_module
from ucls.kernels import active as la

MEMORY, QUICK = (64, 128, 256, 512), (64, 128)
DATA, LITTLE = (2_000, 10_000, 50_000, 200_000), (1_000, 2_000)
# Environments with two, three and four actions, and memory for about 512 features each.
ACTIONS = {"ucls/RiverSwim-v0": 256, "ucls/MountainCar-v0": 170, "ucls/PuddleWorld-v0": 128}
FINE = {"ucls/RiverSwim-v0": 128, "ucls/MountainCar-v0": 16, "ucls/PuddleWorld-v0": 16}


def measure(effort: Effort) -> dict[str, Any]:
    """Time every algorithm in the compiled loop, the environment's step and the tile coding with it."""
    found = {}
    for name in [name for name in ALGORITHMS if suits_env(name, "ucls/RiverSwim-v0")]:  # others learn tables
        own = hasattr(algorithm_module(name), "FEATURES")
        growth = {} if own else {4 * m: _cost("ucls/PuddleWorld-v0", name, m, effort) for m in effort.of(MEMORY, QUICK)}
        actions = {env: _cost(env, name, None if own else memory, effort) for env, memory in ACTIONS.items()}
        data = _by_data(name, effort) if hasattr(algorithm_module(name), "grow") else {}
        found[name] = {"by_size": growth, "by_actions": actions, "own_features": own, "by_data": data}
    return found


def _cost(env: str, agent: str, memory: int | None, effort: Effort) -> dict[str, Any]:
    """Return microseconds per step once the table of tiles is full; `memory` is None for an algorithm with its own
    features."""
    settings = {} if memory is None else {"tilings": 8, "tiles": FINE[env], "table_size": memory}
    run = make_run(env, agent, settings=settings)
    if memory is not None:
        _number_tiles(run)
    run.advance(effort.of(200, 50))
    samples, chunk = [], 20
    end = time.process_time() + effort.of(0.4, 0.1)
    while not run.diverged and (len(samples) < 3 or time.process_time() < end):
        samples.append(1e6 * took(run.advance, chunk) / chunk)
        if samples[-1] * chunk < 1e4:  # a call costs some microseconds too: let it take many steps
            chunk, samples = 4 * chunk, []
    us = float(np.median(samples)) if samples and not run.diverged else None
    return {"us": us, "d": run.learner.coder.size, "steps": run.steps, "actions": run.learner.plan.n_actions}


def _by_data(agent: str, effort: Effort) -> dict[int, dict[str, float]]:
    """Return microseconds per step, and megabytes of the state, after some steps of Puddle World with default
    settings."""
    run, found = make_run("ucls/PuddleWorld-v0", agent), {}
    for steps in effort.of(DATA, LITTLE):
        if run.diverged or run.advance(steps - run.steps - 500).diverged:
            break
        us = 1e6 * took(run.advance, 500) / 500
        arrays = checkpoint.flatten("", run.learner.state).values()
        found[steps] = {"us": us, "megabytes": sum(array.nbytes for array in arrays) / 1e6}
    return found


def _number_tiles(run: Run) -> None:
    """Visit random states until the table is full, so that the learner sees features from everywhere."""
    plan, coder = run.learner.plan, run.learner.coder
    encode, xs = features_module(plan.features).encode, la.no_features(coder.n_actions, coder.n_active)
    rng = np.random.default_rng(0)
    for s in rng.uniform(plan.low, plan.high, (4000, len(plan.low))):
        encode(coder, s, xs)


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds per step by d and by the number of actions."""
    sizes = sorted({int(d) for row in found.values() for d in row["by_size"]})
    actions = [row["actions"] for row in next(iter(found.values()))["by_actions"].values()]
    rows = []
    for name, row in found.items():
        by_size = {int(d): cost["us"] for d, cost in row["by_size"].items()}
        known = [(d, us) for d, us in by_size.items() if us]
        slope = np.polyfit(*np.log(np.array(known)).T, 1)[0] if len(known) > 1 else None
        by_actions = [number(cost["us"]) for cost in row["by_actions"].values()]
        label = name + (" (own features)" if row["own_features"] else "")
        rows.append([label, *(number(by_size.get(d)) for d in sizes), number(slope), *by_actions])
    return [
        Table(
            "All algorithms, microseconds per step",
            ["algorithm", *(f"d={d}" for d in sizes), "exponent of d", *(f"{n} actions" for n in actions)],
            rows,
            "In the compiled loop with 8 tilings and a full hash table. The first columns vary d in Puddle World (4"
            " actions); the last vary the number of actions at d of about 512, in River Swim, Mountain Car and Puddle"
            " World. A dash means that it diverged or does not have this d.",
        ),
        _data_table(found),
    ]


def _data_table(found: dict[str, Any]) -> Table:
    grown = {name: row["by_data"] for name, row in found.items() if row["by_data"]}
    steps = max(grown.values(), key=len, default={})
    rows = []
    for name, data in grown.items():
        cells = [f"{number(data[n]['us'])} ({number(data[n]['megabytes'])})" if n in data else "-" for n in steps]
        rows.append([name, *cells])
    return Table(
        "Algorithms that store transitions, microseconds per step (megabytes)",
        ["algorithm", *(f"after {int(n):,} steps" for n in steps)],
        rows,
        "Puddle World, default settings; means over 500 steps, including resampling of RLSVI.",
    )
