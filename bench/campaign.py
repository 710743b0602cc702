"""Kill studies at random moments and compare their results: `python -m bench campaign`."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import Effort
from bench.machine import describe, revision
from faults.kills import WORKER, Trial, kill_the_driver, kill_workers, lose_a_node, undisturbed
from faults.torture import page


def measure(effort: Effort) -> Iterator[Trial]:
    """All trials, or a few."""
    cells, kills, fewer = effort.of((200, 20, 10), (24, 3, 2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        want = undisturbed(folder, cells)
        assert len(want) == cells
        yield kill_the_driver(folder, cells, kills, want)
        for runner in WORKER:
            yield kill_workers(folder, cells, fewer, want, runner)
        yield lose_a_node(folder, cells, want)


def run(quick: bool, compiled: bool, file: Path) -> int:
    """Run the fault injection, print it, and merge the tally into a file; the exit code is 1 if a store differs."""
    if compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "0"
    trials = []
    for trial in measure(Effort(quick)):
        print(f"{'passed' if trial.sound else 'FAILED'}: {trial}", flush=True)
        trials.append(trial)
    page.merge([tally(trials, compiled)], file)
    print(f"wrote {file}", file=sys.stderr)
    return 0 if all(trial.sound for trial in trials) else 1


def tally(trials: list[Trial], compiled: bool) -> dict[str, Any]:
    """The trials as data for the page."""
    failed = [f"{t.what}: the store differs from the undisturbed one" for t in trials if not t.sound]
    kills, about = sum(t.kills for t in trials), describe()
    return {
        **{"part": page.CAMPAIGN, "family": page.CAMPAIGN, "tried": kills, "wanted": kills},
        "rows": [t._asdict() for t in trials],
        **{"faults": len(failed), "shown": failed, "compiled": compiled},
        **{"commit": revision(), "date": about["date"], "system": about["system"]},
    }
