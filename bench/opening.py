"""The summary of the performance page: a few sentences made from the measured numbers."""

from collections.abc import Iterator
from typing import Any

from bench.baselines import THEIRS
from bench.first import OTHERS, OURS
from bench.study import SHORT
from bench.tables import number

D = 512
BARE = list(OTHERS)[1]
VERSIONS = {"C": "C", "NumPy, tuned": "tuned NumPy", "JAX, structured": "JAX"}


def sentences(found: dict[str, Any]) -> list[str]:
    """One or two sentences for each measured part: start-up, then the cost of a step, then the rest."""
    makers = {"first": _first, "step": _step, "runs": _runs, "shell": _shell, "baselines": _baselines}
    makers["study"] = _study
    return [sentence for part, make in makers.items() if part in found for sentence in make(found[part])]


def _case(found: dict[str, Any]) -> dict[str, Any] | None:
    cases = [case for case in found["cases"] if case["d"] == D and case["dtype"] == "float64"]
    return cases[0] if cases else None


def _step(found: dict[str, Any]) -> Iterator[str]:
    case = _case(found)
    if case is None:
        return
    times = case["times_ours"]
    said = [f"{word} {number(times[name][1])} times as long" for name, word in VERSIONS.items() if name in times]
    others = f" For comparison: {', '.join(said)}." if said else ""
    yield f"A step of `ucls` with {D} features takes {number(case['us']['ucls'][1])} µs.{others}"
    if case["ceiling"]:
        part = case["ceiling"]["part"][1]
        yield f"That is {part:.0%} of the roofline of this core, given by memory bandwidth and arithmetic."


def _runs(found: dict[str, Any]) -> Iterator[str]:
    domains = found["domains"].items()
    said = [f"{number(50_000 / domain['whole'][1])} s in {name}" for name, domain in domains]
    yield f"A run of 50,000 steps of `ucls` takes {', '.join(said)}."


def _shell(found: dict[str, Any]) -> Iterator[str]:
    for agent, us in found.items():
        alone = f"{number(us['environment'][1])} µs in the environment and {number(us['step'][1])} µs in the learner"
        yield f"In CartPole, `Agent.learn` with `{agent}` takes {number(us['agent'][1])} µs per step: {alone}."


def _baselines(found: dict[str, Any]) -> Iterator[str]:
    said = [f"{name} {number(found['over'][name][1])} times" for name in THEIRS if name in found["over"]]
    if said:
        yield f"In CartPole, Stable-Baselines3 takes longer than `ucls-exact`: {', '.join(said)} as long."


def _first(found: dict[str, Any]) -> Iterator[str]:
    name = next(iter(OURS))
    warm, over, cold = found["warm"][name][1], found["over"][name][BARE][1], found["cold"].get(name)
    first = f" The first time it takes {number(cold[1])} s, because kernels are compiled." if cold else ""
    yield f"{name} takes {number(warm)} s, {number(over)} times as long as {BARE}.{first}"


def _study(found: dict[str, Any]) -> Iterator[str]:
    speed, short = found["speed"], [found[name] for name in SHORT]
    if "two over one" in speed:
        yield f"Two workers run {number(speed['two over one'][1])} times as many steps per second as one."
    if all("two over one" in one for one in short):
        over = short[0].get("Ray over local")
        ray = f" Two Ray workers are {number(over[1])} times as fast as two local ones." if over else ""
        faster = [f"{number(one['two over one'][1])} times as fast with {one['steps']:,} steps each" for one in short]
        yield f"They finish {short[0]['cells']} short runs, start-up included, {' and '.join(faster)}.{ray}"
    for cells, took in list(found["queries"].items())[-1:]:
        asked = [
            f"`study {query}` takes {number(took[query][1])} s" for query in ("status", "compare") if query in took
        ]
        yield f"With {int(cells):,} runs in a store, {' and '.join(asked)}."
