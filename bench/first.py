"""The first step after an installation: `ucls train` in fresh processes, with an empty cache and with a full one."""

import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from bench.harness import Effort, lasted, spread
from bench.tables import Table, within

COMMAND = ("-m", "ucls", "train", "ucls/RiverSwim-v0", "--steps", "1")


def measure(effort: Effort) -> dict[str, Any]:
    """Seconds from the command to its end, after one step; in a hurry only with the cache that is there."""
    cold, warm = [], []
    if effort.quick:
        return {"cold": None, "warm": spread(np.array([lasted(_train, None)]))}
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(lasted(_train, cache))
            warm += [lasted(_train, cache) for _ in range(3)]
    return {"cold": spread(np.array(cold)), "warm": spread(np.array(warm))}


def _train(cache: str | None) -> None:
    environment = {**os.environ, **({"UCLS_CACHE_DIR": cache} if cache else {})}
    subprocess.run([sys.executable, *COMMAND], env=environment, check=True, stdout=subprocess.DEVNULL)


def tables(found: dict[str, Any]) -> list[Table]:
    """Seconds, cold and warm."""
    rows = [
        ["empty: kernels are compiled, the optimum is planned", within(found["cold"])],
        ["full", within(found["warm"])],
    ]
    note = f"`python {' '.join(COMMAND)}` from start to end, one core."
    return [Table("The first step, seconds", ["cache", "seconds"], rows, note)]
