"""A gate for regressions that noise cannot trip: ratios with wide margins, and instructions counted by valgrind."""

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from bench import agents
from bench.runs import every_core
from bench.step import case
from bench.tables import Table, number

# Others over ours, at least: about half of what was found on a machine with AVX-512 and one BLAS thread.
RATIOS = {128: {"NumPy, dense": 10.0, "NumPy, tuned": 5.0}, 512: {"NumPy, dense": 12.0, "NumPy, tuned": 2.0}}
OVER_C = 2.0  # ours over C, at most
SPEED_UP = {4: 2.0, 8: 3.0}  # of environments with 10 ms per step, at least
MASKS = 4.0  # a step with action masks over one without, at most
CALLS = 1000.0  # empty function calls that a step without masks may take; 500 were found
COMMITTED = Path(__file__).with_name("instructions.json")
TOLERANCE = 0.2
STEPS = 400
# One processor for all: valgrind knows no AVX-512, and the count must not depend on who counts.
PROCESSOR = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+popcnt,+sse4.2"}


class Gate(NamedTuple):
    """What must hold, what was found, and whether it does; None if it could not be seen."""

    name: str
    limit: str
    found: str
    holds: bool | None


def gates(count: bool = True) -> list[Gate]:
    """Go through every gate."""
    found = [gate for d in RATIOS for gate in _ratios(d)] + _agents()
    return [*found, _instructions()] if count else found


def _ratios(d: int) -> list[Gate]:
    measured = case(d, "float64", seconds=3.0)["times_ours"]
    found = []
    for name, limit in RATIOS[d].items():
        value = measured[name][1]
        found.append(Gate(f"d = {d}: {name} over ours", f">= {number(limit)}", number(value), value >= limit))
    if "C" in measured:
        value = 1 / measured["C"][1]
        found.append(Gate(f"d = {d}: ours over C", f"<= {number(OVER_C)}", number(value), value <= OVER_C))
    return found


def _agents() -> list[Gate]:
    """Several slow environments at once, and steps with and without masks."""
    with every_core():
        over = agents.speed_of_vectors(turns=3, rounds=30)["over one"]
    masks = agents.speed_of_masks(seconds=3.0)
    found = []
    for n, limit in SPEED_UP.items():
        value = over[str(n)][1]
        name = f"{n} environments of 10 ms per step over one"
        found.append(Gate(name, f">= {number(limit)}", number(value), value >= limit))
    for name, key, limit in (
        ("Agent.learn: masks over none", "masks over none", MASKS),
        ("Agent.learn without masks, in empty function calls", "none over step", CALLS),
    ):
        value = masks[key][1]
        found.append(Gate(name, f"<= {number(limit)}", number(value), value <= limit))
    return found


def _instructions() -> Gate:
    """Instructions of a step at d = 256 against the committed number, if it was counted with the same numba."""
    name = "instructions of a step, d = 256"
    if shutil.which("valgrind") is None or platform.machine() != "x86_64":
        return Gate(name, "-", "skipped: no valgrind", None)
    committed = json.loads(COMMITTED.read_text())
    if committed["numba"] != _numba():
        return Gate(name, "-", f"skipped: counted with numba {committed['numba']}, not {_numba()}", None)
    value = count_instructions()
    low, high = (committed["instructions"] * (1 + sign * TOLERANCE) for sign in (-1, 1))
    return Gate(name, f"{number(low)}..{number(high)}", number(value), low <= value <= high)


def count_instructions() -> float:
    """Instructions of a step: those of a process that takes 2N, less those of one that takes N, over N."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **PROCESSOR, "UCLS_CACHE_DIR": cache, "PYTHONHASHSEED": "0"}
        subprocess.run([sys.executable, "-m", "bench.counted", "1"], env=environment, check=True)  # compiles
        totals = [_count(steps, environment) for steps in (STEPS, 2 * STEPS)]
    return (totals[1] - totals[0]) / STEPS


def _count(steps: int, environment: dict[str, str]) -> int:
    with tempfile.NamedTemporaryFile() as out:
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
        command = [*valgrind, sys.executable, "-m", "bench.counted", str(steps)]
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        lines = Path(out.name).read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))


def _numba() -> str:
    return importlib.metadata.version("numba")


def commit_count() -> None:
    """Write the number that later counts are compared with."""
    about = {"instructions": round(count_instructions()), "numba": _numba()}
    COMMITTED.write_text(json.dumps(about) + "\n")


def table(found: list[Gate]) -> Table:
    """The gates, as a table."""
    words = {True: "holds", False: "BROKEN", None: "not seen"}
    rows = [[gate.name, gate.limit, gate.found, words[gate.holds]] for gate in found]
    return Table("Gates", ["what", "limit", "found", "verdict"], rows)


def as_data(found: list[Gate]) -> list[dict[str, Any]]:
    """The gates, as plain data."""
    return [gate._asdict() for gate in found]
