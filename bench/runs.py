"""Whole runs with default settings, and two processes compared with one."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Effort, cores, lasted, pin, ratio, spread
from bench.tables import Table, within
from ucls.core.run import make_run

WHOLE = 50_000


class Domain(NamedTuple):
    """A domain of the paper, how many steps to take in it, how often, and the features seen after a whole run."""

    name: str
    env: str
    steps: int
    quick: int
    repeats: int
    seen: int


DOMAINS = (
    Domain("River Swim", "ucls/RiverSwim-v0", WHOLE, 5000, 5, 256),
    Domain("Puddle World", "ucls/PuddleWorld-v0", WHOLE, 3000, 3, 512),
    Domain("Sparse Mountain Car", "ucls/SparseMountainCar-v0", 20_000, 1200, 1, 1395),
)


def measure(effort: Effort) -> dict[str, Any]:
    """Run the three domains, then two processes and one."""
    found = {domain.name: _runs(domain, effort) for domain in DOMAINS}
    return {"domains": found, "two": two_processes(effort)}


def _runs(domain: Domain, effort: Effort) -> dict[str, Any]:
    make_run(domain.env, "ucls").advance(100)  # compiles
    steps, chunk = effort.of(domain.steps, domain.quick), effort.of(domain.steps, domain.quick) // 10
    speeds, whole = [], []
    for seed in range(effort.of(domain.repeats, 1)):
        run = make_run(domain.env, "ucls", seed=seed)
        seconds = [lasted(run.advance, chunk) for _ in range(10)]
        speeds.append(run.steps / sum(seconds))
        seen, d = int(run.learner.state.system.seen[0]), run.learner.coder.size
        rest = (WHOLE - run.steps) / chunk * seconds[-1] * max(1.0, domain.seen / seen) ** 2
        whole.append(WHOLE / (sum(seconds) + rest))
    return {"d": d, "seen": seen, "steps": steps, "speed": spread(np.array(speeds)), "whole": spread(np.array(whole))}


def two_processes(effort: Effort) -> dict[str, Any]:
    """Return the steps per second of two processes on two cores relative to one, interleaved."""
    if len(ALL_CORES) < 2:
        return {"skipped": "only one core"}
    steps = effort.of(12_000, 1500)
    context = multiprocessing.get_context("spawn")
    pipes, workers = [], []
    for core in ALL_CORES[:2]:
        ours, theirs = context.Pipe()
        workers.append(context.Process(target=_work, args=(theirs, core), daemon=True))
        workers[-1].start()
        pipes.append(ours)
    try:
        _together(pipes, 100)
        alone, both = [], []
        for _ in range(effort.of(7, 2)):
            alone.append(steps / _together(pipes[:1], steps))
            both.append(2 * steps / _together(pipes, steps))
        return {"steps": steps, "ratio": ratio(np.array(both), np.array(alone)), "alone": spread(np.array(alone))}
    finally:
        for pipe in pipes:
            pipe.send(0)
        for worker in workers:
            worker.join(10)


def _together(pipes: list[Any], steps: int) -> float:
    """Let workers run side by side; return the seconds until the last one finishes."""
    began = time.perf_counter()
    for pipe in pipes:
        pipe.send(steps)
    for pipe in pipes:
        pipe.recv()
    return time.perf_counter() - began


def _work(pipe: Any, core: int) -> None:
    pin(core)
    while steps := pipe.recv():
        make_run("ucls/PuddleWorld-v0", "ucls").advance(steps)
        pipe.send(True)


ALL_CORES = cores()  # before the process is pinned to one of them


@contextmanager
def every_core() -> Iterator[None]:
    """Let this process use all cores for a while, and then one again."""
    before = cores()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, ALL_CORES)
    try:
        yield
    finally:
        pin(before[-1])


def tables(found: dict[str, Any]) -> list[Table]:
    """Steps per second."""
    rows = [
        [name, str(r["d"]), str(r["seen"]), f"{r['steps']:,}", within(r["speed"]), within(r["whole"])]
        for name, r in found["domains"].items()
    ]
    two = found["two"]
    said = (
        two.get("skipped") or f"{within(two['ratio'])} times the steps per second of one ({two['steps']:,} steps each)"
    )
    return [
        Table(
            "Whole runs of ucls, steps per second",
            ["domain", "d", "features seen", "steps", "measured", f"over {WHOLE:,} steps"],
            rows,
            "Default settings, float64, one process on one core, without compilation. Where fewer than 50,000 steps"
            " were taken, the cost of the rest is an upper estimate: that of the last 10%, scaled as if all features of"
            " a whole run (1,395 with seed 0 in Sparse Mountain Car) had been seen."
            f" Two processes on two cores in Puddle World: {said}.",
        )
    ]
