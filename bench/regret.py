"""Regrets in Tabular River Swim, compared with those that Osband, Russo and Van Roy (2013) report for PSRL and UCRL2.

`python -m bench regret` runs every tabular baseline for 100,000 steps: in episodes of 20 steps, and without end. Regret
is the sum of the gaps between the best action and the one that was taken, by the optimal values: that is what rewards
are expected to fall short of the optimum by, without the noise of the rewards themselves.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

from ucls.algorithms import algorithm_module
from ucls.core.run import make_run
from ucls.core.steps import kernels
from ucls.envs import make_builtin
from ucls.envs import tabular_river_swim as river
from ucls.features import features_module
from ucls.kernels import jit
from ucls.kernels.dynamic_programming.tabular import Table, build_table, horizon_values

RIVER, HORIZON, STEPS, EARLY = "ucls/TabularRiverSwim-v0", 20, 100_000, 10_000
REPORTED = {("psrl", HORIZON): 68.8, ("ucrl2", HORIZON): 1260, ("psrl", 0): 106, ("ucrl2", 0): 3640}
AGENTS = ("psrl", "ucrl2", "ucbvi", "oim", "r-max")


class Regret(NamedTuple):
    """The regrets of some runs after 10,000 and after 100,000 steps, and the CPU seconds of a run."""

    agent: str
    horizon: int
    settings: dict[str, Any]
    early: np.ndarray
    late: np.ndarray
    seconds: float


def gaps(horizon: int) -> np.ndarray:
    """Return how much worse every action is than the best one, by step, state and action; one step without a
    horizon."""
    world = make_builtin(RIVER)
    table = build_table(world.env, world.problem())
    ahead = horizon_values(table, horizon)[1:] if horizon else bias(table)[None]
    q = table.r + np.einsum("sat,ht->hsa", table.chance, ahead)
    return q.max(axis=2, keepdims=True) - q


def bias(table: Table) -> np.ndarray:
    """The relative values of the states for the largest average reward."""
    v, change = np.zeros(len(table.r)), np.arange(2.0)
    while np.ptp(change) > 1e-10:
        new = (table.r + table.chance @ v).max(axis=1)
        v, change = new - new[0], new - v
    return v


def loop_of(agent: str) -> Any:
    """Return the loop of a run that records gaps instead of rewards; episodes have as many steps as there are tables of
    gaps, or no end with one table."""
    steps = kernels(algorithm_module(agent), features_module("one_hot"))
    begin, advance, reset, step = steps.begin, steps.advance, river.reset, river.step

    @jit
    def loop(env, s, world_rng, hyper, coder, state, pending, rng, gaps, out):
        for t in range(len(out)):
            h = t % len(gaps)
            if t == 0 or (h == 0 and len(gaps) > 1):
                reset(env, s, world_rng)
                begin(hyper, coder, state, pending, rng, s)
            out[t] = gaps[h, int(s[0]), pending.a[0]]
            r, gamma, terminated = step(env, s, pending.a[0], world_rng)
            advance(hyper, coder, state, pending, rng, r, gamma, s, terminated)

    return loop


def regret(agent: str, horizon: int, runs: int, settings: dict[str, Any], steps: int = STEPS) -> Regret:
    """The regrets of an agent; seeds are 0, 1, and so on."""
    loop, table, found = loop_of(agent), gaps(horizon), []
    loop(*_parts(agent, horizon, 0, settings), table, np.zeros(1))  # compile
    began = time.process_time()
    for seed in range(runs):
        out = np.zeros(steps)
        loop(*_parts(agent, horizon, seed, settings), table, out)
        found.append(np.cumsum(out)[[min(EARLY, steps) - 1, -1]])
    early, late = np.array(found).T
    return Regret(agent, horizon, settings, early, late, (time.process_time() - began) / runs)


def _parts(agent: str, horizon: int, seed: int, settings: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of the loop for a new run."""
    run = make_run(RIVER, agent, seed=seed, settings={"time_limit": horizon, **settings})
    me = run.learner
    return run.world.env, run.s, run.world_rng, me.hyper, me.coder, me.state, me.pending, me.rng


def line(found: Regret) -> str:
    """A row of the table: means with standard errors."""
    cells = [f"{x.mean():,.0f} ± {x.std(ddof=1) / len(x) ** 0.5:,.0f}" for x in (found.early, found.late)]
    task = f"episodes of {found.horizon}" if found.horizon else "without end"
    given = ", ".join(f"`{name}={value}`" for name, value in found.settings.items()) or "defaults"
    reported = REPORTED.get((found.agent, found.horizon))
    cells += ["" if reported is None or found.settings else f"{reported:,.0f}", f"{found.seconds:.1f}"]
    return f"| {found.agent} | {given} | {task} | {' | '.join(cells)} |"


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench regret", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--algo", nargs="*", default=AGENTS)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    asked = parser.parse_args(words)
    settings = dict(word.split("=", 1) for word in asked.set)
    print(f"| algorithm | settings | task | regret, {EARLY:,} steps | {asked.steps:,} steps | reported | CPU seconds |")
    print("|---|---|---|---:|---:|---:|---:|")
    for agent in asked.algo:
        for horizon in (HORIZON, 0):
            print(line(regret(agent, horizon, asked.runs, settings, asked.steps)), flush=True)
    return 0
