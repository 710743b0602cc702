"""A disk that fills up during a study: a one-line error, and with space the study resumes to the same results."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from faults.torture import shell

FILES = (1, 5_000, 20_000, 60_000, 150_000, 400_000)  # bytes that a file may have
DISKS = (100, 150, 300, 600)  # KiB that the disk has


def carry_out(count: int, seed: int) -> dict[str, Any]:
    """Limit the size of files, and (where mounting is allowed) that of the disk."""
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        want = shell.finished(Path(name))
    trials: list[tuple[str, Callable[[], str]]] = [
        (f"files of at most {size:,} bytes", lambda s=size: _fill(want, s, None)) for size in FILES
    ]
    if os.geteuid() == 0:
        trials += [(f"a disk of {size} KiB", lambda s=size: _fill(want, None, s)) for size in DISKS]
    return shell.tallied(trials[: max(1, count)])


def _fill(want: dict[str, Any], file: int | None, disk: int | None) -> str:
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        with _mounted(folder, disk) if disk else nullcontext() as mounted:
            limit = None if file is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file, file))
            process = shell.begin(folder, limit=limit)
            _, errors = process.communicate(timeout=120)
            code = process.returncode
            if code not in (0, 1, 2):
                raise AssertionError(f"it ended with {code}: {errors[-300:]!r}")
            if code:
                shell.one_line(errors)
            if mounted:
                mounted("remount,size=64m")
            if shell.finished(folder) != want:
                raise AssertionError("the results are not those of an undisturbed study")
        return "one-line error; same results after rerun" if code else "enough space; same results"


@contextmanager
def _mounted(folder: Path, size: int) -> Iterator[Callable[[str], None]]:
    """A disk of its own in a folder, and what changes its size."""

    def mount(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)

    mount(f"size={size}k")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
