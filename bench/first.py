"""Start-up time of a command that takes one step, compared with processes that only import its dependencies."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.harness import Effort, Spread, lasted, ratio, spread
from bench.runs import every_core
from bench.tables import Table, within

OURS = {
    "`ucls train ucls/RiverSwim-v0 --steps 1`": ["-m", "ucls", "train", "ucls/RiverSwim-v0", "--steps", "1"],
    "`import ucls`, an `Agent` in CartPole and its first step": [
        "-c",
        "import gymnasium, ucls; ucls.Agent(gymnasium.make('CartPole-v1'), seed=0).learn(1)",
    ],
}
OTHERS = {
    "`import numba`": ["-c", "import numba"],
    "`import numba, gymnasium`": ["-c", "import numba, gymnasium"],
    "`import numpy, gymnasium`": ["-c", "import numpy, gymnasium"],
}


def measure(effort: Effort) -> dict[str, Any]:
    """Measure with every core, as users start it."""
    with every_core():
        return _measure(effort)


def _measure(effort: Effort) -> dict[str, Any]:
    """Seconds of each process in turns, with a full cache; ours with an empty one too, unless in a hurry."""
    with tempfile.TemporaryDirectory() as cache:
        folder = {} if effort.quick else {"UCLS_CACHE_DIR": cache}
        everything = {**OURS, **OTHERS}
        for what in everything.values():
            _process(what, folder)
        turns = [[lasted(_process, what, folder) for what in everything.values()] for _ in range(effort.of(7, 1))]
    by = dict(zip(everything, np.array(turns).T, strict=True))
    return {
        "cold": {} if effort.quick else {name: _cold(what) for name, what in OURS.items()},
        "warm": {name: spread(seconds) for name, seconds in by.items()},
        "over": {name: {other: ratio(by[name], by[other]) for other in OTHERS} for name in OURS},
    }


def _cold(arguments: list[str]) -> Spread:
    seconds = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            seconds.append(lasted(_process, arguments, {"UCLS_CACHE_DIR": cache}))
    return spread(np.array(seconds))


def _process(arguments: list[str], environment: Mapping[str, str]) -> None:
    command, everything = [sys.executable, *arguments], {**os.environ, **environment}
    subprocess.run(command, env=everything, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def tables(found: dict[str, Any]) -> list[Table]:
    """Seconds with an empty and a warm cache, and relative to the other processes."""
    rows = [
        [
            name,
            within(found["cold"].get(name)),
            within(seconds),
            *(within(found["over"].get(name, {}).get(other)) for other in OTHERS),
        ]
        for name, seconds in found["warm"].items()
    ]
    head = ["process", "empty cache", "warm cache", *(f"warm cache, relative to {other}" for other in OTHERS)]
    note = (
        "Seconds from start to end on all cores. With an empty cache, kernels are compiled and the optimal policy is "
        "computed."
    )
    return [Table("Start-up time, seconds", head, rows, note)]
