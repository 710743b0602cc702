"""Studies: two workers against one, Ray against local ones, with and without their start; questions to a full store."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from bench.harness import Effort, lasted, ratio, spread
from bench.runs import ALL_CORES, every_core
from bench.tables import Table, within
from ucls.study import Member, Store, make_run_specs
from ucls.study.runners.base import Runner
from ucls.study.runners.local import local_runner
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.result import pack
from ucls.study.storage.schema import SEAL_RESULTS

NAME, GROUPS = "filled", 20
QUERIES = ("status", "compare")
SHORT = {"short": 10_000, "shortest": 2000}  # steps of cells that take a third of a second, and a fifteenth


def metric(effort: Effort) -> dict[str, Any]:
    """Measure with every core."""
    with every_core():
        short = {name: _short(effort, steps) for name, steps in SHORT.items()}
        return {"speed": _speed(effort), **short, "queries": _queries(effort)}


def _speed(effort: Effort) -> dict[str, Any]:
    """Steps a second of the whole study, in turns: one local worker, two, and two on Ray."""
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
    """Cells a second of a whole study of short cells, from its first line to its last: what starts is counted."""
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
    """Steps a second over the second half of a study, when every worker has started and compiled long ago.

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


def _queries(effort: Effort) -> dict[str, Any]:
    """Seconds that questions to a store of so many finished cells take: as commands, and inside the process."""
    found: dict[str, Any] = {}
    for cells in effort.of((10_000, 100_000, 1_000_000), (1000,)):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "store.sqlite"
            fill(path, cells)
            took = {"rows": spread(np.array([lasted(_group, path) for _ in range(effort.of(5, 2))]))}
            for query in QUERIES:
                command = [sys.executable, "-m", "ucls", "study", query, NAME, "--store", str(path)]
                took |= dict(_ask(query, command, effort.of(3, 1)))
            found[str(cells)] = took
    return found


def fill(path: Path, cells: int) -> None:
    """Make a store with so many finished cells, in groups of different settings."""
    rng = np.random.default_rng(0)
    members = [
        Member(f"ucls p={p:.3f}", cell)
        for p in np.linspace(0.01, 0.5, GROUPS)
        for cell in make_run_specs(
            "ucls/RiverSwim-v0", "ucls", steps=50_000, seeds=range(cells // GROUPS), settings={"p": float(p)}
        )
    ]
    packed = pack({"curve": rng.normal(size=500), "episode_steps": np.zeros(0)})
    rewards = rng.normal(size=len(members)).tolist()
    with Store(path, write=True) as store:
        db = store._db
        db.rows("PRAGMA synchronous = OFF")  # what is timed is reading
        store.declare(NAME, members, "", members[0].label, "reward")
        with db.transaction():
            numbers = (number for (number,) in db.rows("SELECT number FROM cell ORDER BY number"))
            columns = "(cell, steps, diverged, reward, last_reward, episodes, mean_return)"
            rows = zip(numbers, rewards, rewards, rewards, strict=True)
            db.write_many(f"INSERT INTO result {columns} VALUES (?, 50000, 0, ?, ?, 0.0, ?)", rows)
            about = "5.0, 10000.0, 'a machine', 'some versions', '2026-01-01T00:00:00+00:00'"
            db.write(f"INSERT INTO circumstance SELECT cell, {about} FROM result")
            db.write("INSERT INTO payload SELECT cell, ?, NULL FROM result", (packed,))
            db.write(SEAL_RESULTS)


def _group(path: Path) -> dict[str, float]:
    with Store(path) as store:
        groups: dict[str, list[float]] = {}
        for row in store.each_row(NAME):
            if row.metrics is not None:
                groups.setdefault(row.label, []).append(row.metrics.reward)
    return {label: float(np.mean(values)) for label, values in groups.items()}


def _ask(query: str, command: list[str], times: int) -> Iterator[tuple[str, Any]]:
    """The seconds, CPU seconds and peak megabytes of a command, if there is such a command."""
    samples = []
    for _ in range(times):
        began = time.perf_counter()
        with tempfile.TemporaryFile("w+") as errors:
            asked = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
            _, asked.returncode, used = os.wait4(asked.pid, 0)
            errors.seek(0)
            said = errors.read().strip().splitlines() or ["nothing"]
        if asked.returncode:
            yield f"{query} failed", said[-1]
            return
        samples.append((time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000))
    for name, column in zip((query, f"{query}, CPU", f"{query}, MB"), np.array(samples).T, strict=True):
        yield name, spread(column)


def tables(found: dict[str, Any]) -> list[Table]:
    """Speed of studies, and time of queries."""
    speed, queries = found["speed"], found["queries"]
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
    return [*compared, _query_table(queries)]


def _speed_table(speed: dict[str, Any], title: str, unit: str, note: str) -> Table:
    names = {"one": "one local worker", "two": "two local workers", "Ray": "two workers on Ray"}
    over = {"two": ("two over one", "one local worker"), "Ray": ("Ray over local", "two local workers")}
    rows = []
    for name, found in speed["rates"].items():
        key, other = over.get(name, ("", ""))
        rows.append([names[name], within(found), f"{within(speed[key])} relative to {other}" if key else ""])
    return Table(title, ["runner", unit, "ratio"], rows, note)


def _query_table(queries: dict[str, Any]) -> Table:
    kinds = ("rows", *(f"{query}{unit}" for query in QUERIES for unit in ("", ", CPU", ", MB")))
    rows = [[f"{int(n):,}", *(within(took.get(kind)) for kind in kinds)] for n, took in queries.items()]
    note = (
        "`rows`: read and group all rows in one process. The others are whole commands, such as `ucls study status`: "
    )
    note += "seconds, CPU seconds and peak memory."
    failed = sorted({text for took in queries.values() for key, text in took.items() if key.endswith("failed")})
    note += "".join(f" Not measured: {text}" for text in failed)
    return Table("Store queries, seconds", ["finished runs", *kinds], rows, note)
