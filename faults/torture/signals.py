"""SIGINT and SIGTERM during a study: it stops in seconds, saves unfinished runs, and resumes to the same results."""

import itertools
import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from faults.torture import shell
from faults.torture.parts import Ask

SECONDS = 60.0  # that a study may take to stop, on a busy machine too


def carry_out(ask: Ask) -> dict[str, Any]:
    """Send signals to drivers alone and to whole groups, at random moments."""
    kinds = itertools.cycle(itertools.product((signal.SIGINT, signal.SIGTERM), (False, True)))
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        want = shell.finished(Path(name))
    chosen = itertools.islice(kinds, ask.count)
    return shell.tallied(
        (f"{number.name} to {'all' if group else 'the driver'}", lambda n=number, g=group, i=i: _stop(n, g, want, i))
        for i, (number, group) in enumerate(chosen, ask.seed)
    )


def _stop(number: int, group: bool, want: dict[str, Any], seed: int) -> str:
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        process = shell.begin(folder)
        kept = folder / "s.sqlite.partial"
        deadline = time.monotonic() + 300
        while not list(kept.glob("[!.]*")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(random.Random(seed).uniform(0.0, 0.5))
        began = time.monotonic()
        (os.killpg if group else os.kill)(process.pid, number)
        out, errors = process.communicate(timeout=300)
        if time.monotonic() - began > SECONDS:
            raise AssertionError(f"it took {time.monotonic() - began:.0f} s to end")
        shell.one_line(errors)
        if process.returncode != 130 or not json.loads(out)["stopped"]:
            raise AssertionError(f"it ended with {process.returncode}")
        if not list(kept.glob("[!.]*.safetensors")):
            raise AssertionError("no unfinished cell was kept")
        if shell.finished(folder) != want:
            raise AssertionError("the results are not those of an undisturbed study")
        return "stopped with progress saved; same results after resuming"
