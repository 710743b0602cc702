"""Long runs of every algorithm: constant memory, finite arrays, and a checkpoint that continues bit for bit."""

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from faults.torture.checkpoints import AGENTS
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.run import Run, make_run, suits_env
from ucls.core.saving import checkpoint

CHUNKS = 100
FEWER_STEPS = dict.fromkeys(("ucls", "gv-ucb", "lspi-rmax", "ucls-exact"), 300_000)
SECONDS = 300.0  # a run that would take longer takes fewer steps, and says so
SLACK = 8 * 2**20  # bytes that memory may rise by without anybody's data growing
ENV, SMALL = "ucls/RiverSwim-v0", {"tilings": 3, "tiles": 4, "table_size": 16}


def carry_out(count: int, seed: int) -> dict[str, Any]:
    """Let every algorithm run for so many steps, those with a matrix for fewer."""
    rows = [soak(agent, min(count, FEWER_STEPS.get(agent, count)), seed) for agent in AGENTS]
    shown = [f"{row['agent']}: {fault}" for row in rows for fault in row["faults"]]
    return {"tried": sum(row["steps"] for row in rows), "rows": rows, "faults": len(shown), "shown": shown}


def soak(agent: str, wanted: int, seed: int) -> dict[str, Any]:
    """Let an agent run, look at it a hundred times, then go on once more from the middle."""
    algorithm, wanted = algorithm_module(agent), max(CHUNKS, wanted // CHUNKS * CHUNKS)
    run, steps = _new(agent, seed), _affordable(_new(agent, seed), wanted)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        file = Path(name) / "middle.safetensors"
        found = _soak(run, steps, file)
        again = Run.load(file, None if agent in ALGORITHMS else algorithm)
        if not run.diverged:
            again.advance(steps - again.steps)
            found["same"] = _same(run, again)
    found |= {"agent": agent, "steps": run.steps}
    return {**found, "faults": _faults(found)}


def _new(agent: str, seed: int) -> Run:
    if not suits_env(agent, ENV):
        return make_run("ucls/OneState-v0", agent, seed=seed)
    settings = {} if hasattr(algorithm_module(agent), "FEATURES") else SMALL
    return make_run(ENV, agent, seed=seed, settings=settings)


def _affordable(run: Run, wanted: int) -> int:
    """As many steps as there is time for, half of them twice; the first of them compile."""
    run.advance(10)
    began = time.monotonic()
    run.advance(wanted // CHUNKS)
    each = (time.monotonic() - began) / (wanted // CHUNKS)
    return min(wanted, max(CHUNKS, int(SECONDS / (1.5 * each)) // CHUNKS * CHUNKS))


def _soak(run: Run, steps: int, file: Path) -> dict[str, Any]:
    memory, data, seconds, finite = [], [], [], True
    for chunk in range(CHUNKS):
        began = time.process_time()
        happened = run.advance(steps // CHUNKS)
        seconds.append(time.process_time() - began)
        if run.diverged:
            return {"diverged": True, "finite": False, "same": False}
        arrays = run.checkpoint()  # refuses what is not finite or out of its range
        finite &= bool(np.isfinite(happened.rewards).all())
        finite &= all(np.isfinite(array).all() for array in arrays.values())
        memory.append(_resident())
        data.append(sum(array.nbytes for array in arrays.values()))
        if chunk == CHUNKS // 2 - 1:
            run.save(file)
    tenth = CHUNKS // 10
    return {
        "diverged": False,
        "finite": finite,
        "memory": [memory[tenth - 1], memory[-1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024],
        "data": [data[tenth - 1], data[-1]],
        "microseconds": [1e6 * sum(some) / (tenth * (steps // CHUNKS)) for some in (seconds[:tenth], seconds[-tenth:])],
        "same": False,
    }


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _same(one: Run, other: Run) -> bool:
    """Whether two runs would write the same checkpoint, to the last bit."""
    return checkpoint.to_bytes(one.checkpoint(), one.about()) == checkpoint.to_bytes(other.checkpoint(), other.about())


def _faults(found: dict[str, Any]) -> list[str]:
    if found["diverged"]:
        return ["it diverged"]
    faults = [name for name in ("finite", "same") if not found[name]]
    grown = found["memory"][1] - found["memory"][0]
    if grown > SLACK + 2 * (found["data"][1] - found["data"][0]):
        faults.append(f"memory grew by {grown:,} bytes")
    return faults
