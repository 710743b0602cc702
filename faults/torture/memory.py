"""Workers with too little memory: other runs continue, a one-line error names those that fail, a retry succeeds."""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from faults.torture import shell

MORE = (20, 60, 150, 400)  # MiB beyond what a process has that has imported everything
HUNGRY = (
    shell.STUDY.replace("60000", "500")
    + """[[run]]
algorithm = "ucls"
env = "ucls/RiverSwim-v0"
steps = 5
set = { tilings = 8, tiles = 8, table_size = 2048 }
"""
)
IMPORTED = "import ucls.study.runners.run_cell\n"
IMPORTED += "print(next(x for x in open('/proc/self/status') if x[:6] == 'VmSize').split()[1])"


def carry_out(count: int, seed: int) -> dict[str, Any]:
    """Run a study with a few hungry cells under limits of the address space, then without."""
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        want = shell.finished(Path(name), HUNGRY)
    said = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True).stdout
    return shell.tallied(
        (f"{more} MiB", lambda more=more: _starve(want, int(said) * 1024 + more * 2**20))
        for more in MORE[: max(1, count)]
    )


def _starve(want: dict[str, Any], room: int) -> str:
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        process = shell.begin(folder, study=HUNGRY, limit=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)))
        _, errors = process.communicate(timeout=300)
        if process.returncode not in (0, 1, 2):
            raise AssertionError(f"it ended with {process.returncode}: {errors[-300:]!r}")
        if process.returncode:
            shell.one_line(errors)
        found = shell.results(folder / "s.sqlite")
        if any(found[id] != want[id] for id in found):
            raise AssertionError("a result is not that of an undisturbed study")
        shell.begin(folder, "retry", "campaign").communicate(timeout=300)
        if shell.finished(folder, HUNGRY) != want:
            raise AssertionError("the results are not those of an undisturbed study")
        return f"{len(want) - len(found)} of {len(want)} runs failed; same results after retrying"
