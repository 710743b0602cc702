"""Fuzzing and fault injection: `python -m bench torture [--only NAME] [--minutes N] [--seed S]`.

Each part runs in its own process and writes its tally as JSON to a folder; `--data` merges the tallies into the data of
docs/robustness.md, so that parts can be run at different times.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.machine import revision
from faults.torture import page
from faults.torture.parts import Ask, Part, parts

ROOT = Path(__file__).parents[2]
LEAST = 600.0  # seconds that a part may take however small its share is, because the machine may be busy


def main(words: list[str]) -> int:
    """Run the chosen parts; the exit code is 1 if there were faults."""
    asked = _asked(words)
    if asked.part:
        part = next(part for part in parts() if part.name == asked.part)
        print(json.dumps(part.run(Ask(asked.count, asked.seed, time.monotonic() + asked.seconds))))
        return 0
    chosen = [part for part in parts() if not asked.only or {part.name, part.family} & set(asked.only)]
    whole = sum(part.seconds for part in chosen)
    share = min(1.0, 60 * asked.minutes / whole) if asked.minutes else 1.0
    faults = 0
    for part in chosen:
        found = carry_out(part, share, asked.seed)
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / f"{part.name}.json").write_text(json.dumps(found, indent=1) + "\n")
        faults += found["faults"]
        print(f"{part.name}: {found['tried']:,}, {found['ends']}, {found['seconds']:.0f} s", flush=True)
        for fault in found["shown"]:
            print(f"  {fault}", flush=True)
    if asked.data:
        page.merge(page.read(asked.out), asked.data)
    return 1 if faults else 0


def carry_out(part: Part, share: float, seed: int) -> dict[str, Any]:
    """Run a part, or a share of it, in a process of its own."""
    count, began = max(1, round(part.count * share)), time.monotonic()
    limit = max(LEAST, 2 * part.seconds * share)
    command = [sys.executable, "-m", "bench", "torture", "--part", part.name, "--count", str(count)]
    command += ["--seed", str(seed), "--seconds", str(limit)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": str(int(not part.compiled))}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if done.returncode:
        found = {"tried": 0, "ends": {}, "faults": 1, "shown": [f"the part ended with {done.returncode}"], "about": ""}
    else:
        found = json.loads(done.stdout.splitlines()[-1])
    return {
        "part": part.name,
        "family": part.family,
        "wanted": part.count,
        **found,
        "seconds": time.monotonic() - began,
        "seed": seed,
        "compiled": part.compiled,
        "commit": revision(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }


def _asked(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench torture", description="Fuzzing and fault injection.")
    names = dict.fromkeys(part.family for part in parts())
    parser.add_argument("--only", action="append", metavar="NAME", help=f"{', '.join(names)}, or NAME-AGENT")
    parser.add_argument("--minutes", type=float, help="approximate time limit")
    parser.add_argument("--seed", type=int, default=0, help="seed of the mutants")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "torture", help="folder of the tallies")
    parser.add_argument("--data", type=Path, help="file to merge them into, e.g. docs/data/robustness.json")
    for hidden, kind in (("--part", str), ("--count", int), ("--seconds", float)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    known = {*names, *(part.name for part in parts())}
    if unknown := set(asked.only or ()) - known:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return asked
