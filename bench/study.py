"""Studies: two workers compared with one, Ray with local ones, with and without start-up; queries of a full store."""

import time
from importlib.util import find_spec
from threading import Event
from typing import Any

import numpy as np

from bench import queries
from bench.harness import Effort, lasted, ratio, spread
from bench.runs import ALL_CORES, every_core
from bench.tables import Table, within
from ucls.study import make_run_specs
from ucls.study.runners.base import Runner
from ucls.study.runners.local import local_runner
from ucls.study.storage.partial import Checkpoints

SHORT = {"short": 10_000, "shortest": 2000}  # steps of cells that take a third of a second, and a fifteenth


def measure(effort: Effort) -> dict[str, Any]:
    """Measure with every core."""
    sizes = effort.of((10_000, 100_000, 1_000_000), (1000,))
    with every_core():
        short = {name: _short(effort, steps) for name, steps in SHORT.items()}
        return {"speed": _speed(effort), **short, "queries": queries.measure(sizes, effort.of(3, 1))}


def _speed(effort: Effort) -> dict[str, Any]:
    """Return the steps per second of the whole study, interleaved: one local worker, two, and two on Ray."""
    if len(ALL_CORES) < 2:
        return {"skipped": "only one core"}
    steps, cells = effort.of((3000, 24), (400, 12))
    runners = _runners()
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(effort.of(5, 1)):
        for name, runner in runners.items():
            rates[name].append(rate(runner, steps, cells // 2 if name == "one" else cells))
    return {"steps": steps, "cells": cells, **_compared(rates)}


def _short(effort: Effort, steps: int) -> dict[str, Any]:
    """Return the runs per second of a study of short runs, including start-up."""
    if len(ALL_CORES) < 2:
        return {"skipped": "only one core"}
    steps, cells = effort.of((steps, 40), (200, 8))
    todo = make_run_specs("ucls/RiverSwim-v0", "ucls-exact", steps=steps, seeds=range(cells))
    runners = _runners()
    list(runners["one"](todo[:1], Checkpoints(), Event()))  # compiles
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(effort.of(5, 1)):
        for name, runner in runners.items():
            rates[name].append(cells / lasted(list, runner(todo, Checkpoints(), Event())))
    return {"steps": steps, "cells": cells, **_compared(rates)}


def _runners() -> dict[str, Runner]:
    runners: dict[str, Runner] = {"one": local_runner(1), "two": local_runner(2)}
    if find_spec("ray"):
        from ucls.study.runners.ray import ray_runner

        runners["Ray"] = ray_runner("local", 2)
    return runners


def _compared(rates: dict[str, list[float]]) -> dict[str, Any]:
    by = {name: np.array(values) for name, values in rates.items()}
    found: dict[str, Any] = {"rates": {name: spread(values) for name, values in by.items()}}
    found["two over one"] = ratio(by["two"], by["one"])
    if "Ray" in by:
        found["Ray over local"] = ratio(by["Ray"], by["two"])
    return found


def rate(runner: Runner, steps: int, cells: int) -> float:
    """Return the steps per second over the second half of a study, after every worker has started and compiled.

    It ends with the last cell but one: from then on a worker may be idle.
    """
    todo = make_run_specs("ucls/PuddleWorld-v0", "ucls", steps=steps, seeds=range(cells))
    stamps = []
    for outcome in runner(todo, Checkpoints(), Event()):
        if outcome.result is None:
            raise RuntimeError(f"a cell failed: {outcome.error}")
        stamps.append(time.perf_counter())
    half = cells // 2
    return steps * (cells - 2 - half) / (stamps[-2] - stamps[half])


def tables(found: dict[str, Any]) -> list[Table]:
    """Speed of studies, and time of queries."""
    speed = found["speed"]
    compared = []
    if "skipped" not in speed:
        note = f"UCLS in Puddle World, runs of {speed['steps']:,} steps; measured over the second half of a study."
        compared.append(_speed_table(speed, "Studies, total steps per second", "steps per second", note))
        for name in SHORT:
            short = found[name]
            note = (
                f"{short['cells']} runs of {short['steps']:,} steps of ucls-exact in River Swim, including the start of"
            )
            note += " workers; kernels are compiled."
            title = f"Studies of {'' if name == 'short' else 'very '}short runs, runs per second"
            compared.append(_speed_table(short, title, "runs per second", note))
    return [*compared, queries.table(found["queries"])]


def _speed_table(speed: dict[str, Any], title: str, unit: str, note: str) -> Table:
    names = {"one": "one local worker", "two": "two local workers", "Ray": "two workers on Ray"}
    over = {"two": ("two over one", "one local worker"), "Ray": ("Ray over local", "two local workers")}
    rows = []
    for name, found in speed["rates"].items():
        key, other = over.get(name, ("", ""))
        rows.append([names[name], within(found), f"{within(speed[key])} relative to {other}" if key else ""])
    return Table(title, ["runner", unit, "ratio"], rows, note)
