"""Published results of tabular baselines compared with those here: `python -m bench published`.

Strehl and Littman (2008) and Szita and Lorincz (2008) report the total reward of R-max and OIM within 5,000 steps of
River Swim and SixArms, with a discount of 0.95. Osband et al. (2019) report how the number of episodes that RLSVI needs
in Deep Sea grows with its size.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.benchmark.bsuite import solved_at
from ucls.core.run import make_run

STEPS, MOST = 5000, 3000
SWIM = "ucls/TabularRiverSwim-v0"
RIVER = {"probabilities": "strehl_littman", "discount": 0.95}


class Case(NamedTuple):
    """A task with its rewards in the papers' unit, its largest return in ours, and the reported totals, in millions."""

    title: str
    env: str
    settings: Mapping[str, Any]
    unit: float
    return_max: float
    reported: Mapping[str, float]


CASES = (
    Case("River Swim", SWIM, RIVER, 1e4, 20.0, {"r-max": 3.014, "oim": 3.201}),
    Case("SixArms", "ucls/SixArms-v0", {"discount": 0.95}, 1.0, 120_000.0, {"r-max": 2.819, "oim": 10.007}),
)
VISITS = (1, 2, 4, 8, 16, 32)
EDENS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # the Garden of Eden, relative to the largest return
SIZES = (10, 15, 20, 30, 40)


def totals(case: Case, agent: str, settings: Mapping[str, Any], runs: int) -> np.ndarray:
    """The total rewards of some runs in millions, in the papers' unit."""
    found = []
    for seed in range(runs):
        run = make_run(case.env, agent, seed=seed, settings={**case.settings, **settings})
        found.append(run.advance(STEPS).rewards.sum() * case.unit / 1e6)
    return np.array(found)


def of_table(runs: int, agents: Sequence[str]) -> None:
    """Print the total rewards of R-max by `visits`, of OIM by the value of its Garden of Eden, and of other agents."""
    print("| task | algorithm | setting | total reward, millions | reported |")
    print("|---|---|---|---:|---:|")
    for case in CASES:
        rows = [("r-max", {"visits": m}, f"`visits={m}`") for m in VISITS]
        rows += [("oim", {"return_max": case.return_max * e}, f"Eden {e:g} of the largest return") for e in EDENS]
        rows += [(agent, {}, "defaults") for agent in agents]
        for agent, settings, told in rows:
            found = totals(case, agent, settings, runs)
            reported = f"{case.reported[agent]:.2f}" if agent in case.reported else ""
            print(f"| {case.title} | {agent} | {told} | {_center(found)} | {reported} |", flush=True)


def learning_times(agent: str, settings: Mapping[str, Any], runs: int) -> None:
    """Print after how many episodes an agent has solved Deep Sea, by bsuite's rule, and the exponent of the size."""
    medians = []
    for size in SIZES:
        found = [learned(agent, {**settings, "size": size}, seed) for seed in range(runs)]
        solved = [episodes for episodes in found if episodes is not None]
        medians.append(float(np.median(solved)) if len(solved) == runs else np.nan)
        print(f"| {agent} | {size} | {len(solved)} of {runs} | {medians[-1]:.0f} |", flush=True)
    there = np.isfinite(medians)
    if there.sum() > 1:
        power = np.polyfit(np.log(np.array(SIZES)[there]), np.log(np.array(medians)[there]), 1)[0]
        print(f"{agent}: episodes grow with the power {power:.2f} of the size")


def learned(agent: str, settings: Mapping[str, Any], seed: int) -> int | None:
    """The episode by which fewer than nine in ten missed the treasure."""
    run = make_run("ucls/DeepSea-v0", agent, seed=seed, settings=dict(settings))
    for _ in range(MOST // 10):
        run.advance(10 * settings["size"])
        after = solved_at(run.history.episode_returns < 0.5, 0.9, 1)
        if after is not None:
            return after
    return None


def _center(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f}"


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench published", description=__doc__)
    parser.add_argument("part", choices=["totals", "sea"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--algo", nargs="*", default=[])
    asked = parser.parse_args(words)
    parts: dict[str, Callable[[], None]] = {
        "totals": lambda: of_table(asked.runs, asked.algo),
        "sea": lambda: [learning_times(agent, {}, asked.runs) for agent in asked.algo] and None,
    }
    parts[asked.part]()
    return 0
