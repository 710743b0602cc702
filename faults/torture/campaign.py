"""Fuzzing and fault injection: `python -m bench torture PART [--trials N] [--seed S]`.

Trials of a part are numbered from its seed on, so that a seed always makes the same mutants. How they ended is printed
as JSON; the exit code is 1 if there were faults. docs/robustness.md has the numbers of a whole campaign.
"""

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = 20
SEEDS = 10**9  # a seed is where trials begin to be numbered, in units of this


class Part(NamedTuple):
    """What a part does, its number of trials, whether kernels are compiled, and the seconds that a trial may take."""

    about: str
    trials: int
    compiled: bool = False
    seconds: float = 30.0


PARTS = {
    "checkpoints": Part("corrupted checkpoints, loaded as a run and as an agent, and used", 100_000, True, 120.0),
    "studies": Part("mutated TOML files of studies", 20_000),
    "stores": Part("corrupted stores and unfinished runs: read, resumed, recovered", 2000),
    "programs": Part("stores with views, triggers and computed columns: read, resumed, recovered", 2000),
    "concurrent": Part("several processes sharing one run folder or store, some of them killed", 2000),
    "impatience": Part("one to four signals at random moments of a run or study, which is then resumed", 2000),
    "logs": Part("mutated logs of transitions, evaluated", 2000),
    "folders": Part("mutated histories, results and metrics in a run folder", 7500),
    "environments": Part("environments that violate the Gymnasium API, used for training", 2000, True, 120.0),
    "wrapped": Part("agents with randomly wrapped environments, saved and loaded", 2000, True, 120.0),
    "commands": Part("command lines, half of them invalid", 5000),
    "kills": Part("SIGKILLs of drivers and workers during a study", 200, True),
    "disk": Part("files limited to 1 to 400,000 bytes, or disks of 100 to 600 KiB", 10),
    "memory": Part("workers limited to 20 to 400 MiB more than they need to start", 4),
    "soak": Part("long runs of every algorithm: steps instead of trials", 1_000_000, True),
}


def main(words: list[str]) -> int:
    """Run a part; the exit code is 1 if there were faults."""
    about = "Fuzzing and fault injection. " + "; ".join(f"{name}: {part.about}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(prog="python -m bench torture", description=about)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--trials", type=int, help="number of trials, instead of that of the part")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutants")
    asked = parser.parse_args(words)
    os.environ["NUMBA_DISABLE_JIT"] = str(int(not PARTS[asked.part].compiled))  # before numba is imported
    found = run(asked.part, asked.trials or PARTS[asked.part].trials, asked.seed)
    print(json.dumps(found, indent=1))
    return 1 if found["faults"] else 0


def run(name: str, trials: int, seed: int) -> dict[str, Any]:
    """Carry out so many trials of a part; return their number, their outcomes and the faults."""
    sys.path.append(str(EXAMPLES))
    part: Any = import_module(f"faults.torture.{name}")
    if hasattr(part, "carry_out"):
        return part.carry_out(trials, seed)
    from faults.torture import workers

    attempt = part.prepare() if hasattr(part, "prepare") else part.attempt
    found = workers.run(attempt, range(seed * SEEDS, seed * SEEDS + trials), PARTS[name].seconds)
    unsound = [list(outcome) for outcome in found if not outcome.sound]
    return {"tried": len(found), "ends": workers.tally(found), "faults": len(unsound), "shown": unsound[:SHOWN]}
