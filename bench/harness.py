"""How things are timed: pinned to one core, in turns, as medians with their spread."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

CHUNK = 0.02  # seconds that one sample should take, so that the clock and the caches' first touch do not matter


class Effort(NamedTuple):
    """How long to measure."""

    quick: bool = False

    def of(self, full: Any, quick: Any) -> Any:
        """One of two values, for the full and the quick measurement."""
        return quick if self.quick else full


class Job(NamedTuple):
    """Something that takes steps; `unit` says that it takes them only so many at a time."""

    run: Callable[[int], object]
    unit: int = 1


class Spread(NamedTuple):
    """A median between its quartiles."""

    low: float
    median: float
    high: float


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def pin(core: int) -> None:
    """Stay on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def interleave(jobs: Mapping[str, Job], seconds: float, at_least: int = 5) -> dict[str, np.ndarray]:
    """Let the jobs take turns for some seconds; return microseconds a step, a sample for each turn.

    What counts is the processor's time, of all threads on the one core: a moment given to another process does not.
    """
    steps = {name: _steps_in_a_chunk(job) for name, job in jobs.items()}
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    end = time.perf_counter() + seconds
    turn = 0
    while turn < at_least or time.perf_counter() < end:
        for name, job in jobs.items():
            samples[name].append(1e6 * took(job.run, steps[name]) / steps[name])
        turn += 1
    return {name: np.array(values) for name, values in samples.items()}


def took(function: Callable[..., object], *args: object) -> float:
    """The processor's seconds that a call takes."""
    began = time.process_time()
    function(*args)
    return time.process_time() - began


def lasted(function: Callable[..., object], *args: object) -> float:
    """The seconds on the wall that a call takes."""
    began = time.perf_counter()
    function(*args)
    return time.perf_counter() - began


def _steps_in_a_chunk(job: Job) -> int:
    job.run(job.unit)  # compiles
    units = 1
    while (seconds := took(job.run, units * job.unit)) < CHUNK / 4:
        units *= 4
    return job.unit * max(1, round(units * CHUNK / seconds))


def spread(samples: np.ndarray) -> Spread:
    """The median and the quartiles of some samples."""
    low, median, high = np.quantile(samples, [0.25, 0.5, 0.75])
    return Spread(float(low), float(median), float(high))


def ratio(over: np.ndarray, under: np.ndarray) -> Spread:
    """How many times as large, turn by turn."""
    return spread(over / under)
