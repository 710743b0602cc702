"""Studies run through the command line, in processes that can be disturbed and limited."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ucls
from faults.driver import NAME
from faults.kills import results

STUDY = f"""name = "{NAME}"
seeds = "0-1"
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
steps = 200
set = {{ tilings = 2, tiles = 2, table_size = 4 }}
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
steps = 60000
keep = true
set = {{ tilings = 2, tiles = 2, table_size = 4 }}
"""


def begin(folder: Path, *words: str, study: str = STUDY, limit: Callable[[], None] | None = None) -> Any:
    """Start a study in a folder, in a session of its own."""
    (folder / "study.toml").write_text(study)
    command = [sys.executable, "-m", "ucls", "study", *(words or ("run", "study.toml")), "--store", "s.sqlite"]
    if not words:
        command += ["--checkpoint-interval", "0.1", "--jobs", "1", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(ucls.__file__).parents[1])}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, preexec_fn=limit, **pipes)


def finished(folder: Path, study: str = STUDY) -> dict[str, Any]:
    """Run a study to its end, and return every result in its store."""
    process = begin(folder, study=study)
    _, errors = process.communicate(timeout=600)
    if process.returncode:
        raise AssertionError(f"run again, it ended with {process.returncode}: {errors[-300:]}")
    return results(folder / "s.sqlite")


def one_line(errors: str) -> None:
    """Assert that what was said is one line for people."""
    lines = [line for line in errors.strip().splitlines() if line]
    if "Traceback" in errors or any(not line.startswith("ucls: ") for line in lines):
        raise AssertionError(f"not one line: {errors[-500:]!r}")


def tallied(trials: Iterable[tuple[str, Callable[[], str]]]) -> dict[str, Any]:
    """Carry trials out one after another; how they ended."""
    rows, shown = [], []
    for what, trial in trials:
        try:
            end = trial()
        except Exception as error:
            end = "fault"
            shown.append(f"{what}: {type(error).__name__}: {error}"[:600])
        rows.append([what, end])
    ends: dict[str, int] = {}
    for _, end in rows:
        ends[end] = ends.get(end, 0) + 1
    return {"tried": len(rows), "ends": ends, "rows": rows, "faults": len(shown), "shown": shown}
