"""The current runs, and since when: a small file for each beside its checkpoint, locked by its worker.

The system releases the lock when the process ends, however it ends, so that a file left behind is not taken for a cell
that runs. A file has one line about the worker. If the time limit ended the process, its traceback follows.
"""

import json
import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from ucls._util.files import lock

BYTES = 1 << 16  # of a file that is read: a traceback is shorter


class Running(NamedTuple):
    """A current run: since when (seconds since 1970), in which process of which machine."""

    id: str
    since: float
    process: int
    machine: str


@contextmanager
def announce(folder: Path | None, id: str) -> Iterator[IO[bytes] | None]:
    """Announce that this process makes a run, until the block ends; yield the file, or None if it cannot be written."""
    file = None if folder is None else _create(_file(folder, id))
    try:
        yield file
    finally:
        if file is not None and folder is not None:
            forget(folder, id)
            file.close()


def running(folder: Path) -> dict[str, Running]:
    """Return the current runs by id."""
    found = {}
    for path in folder.glob(".*.running"):
        with suppress(OSError, ValueError, KeyError, TypeError), path.open("rb") as file:
            about = json.loads(file.readline(BYTES))
            cell = Running(path.name[1:].removesuffix(".running"), float(about["since"]), int(about["process"]), "")
            if _is_locked(file) and re.fullmatch("[0-9a-f]+", cell.id):
                found[cell.id] = cell._replace(machine=str(about["machine"]))
    return found


def last_words(folder: Path, id: str) -> str:
    """Return the traceback of a worker that was ended by the time limit; empty if it was not."""
    try:
        with _file(folder, id).open("rb") as file:
            file.readline(BYTES)
            return file.read(BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def forget(folder: Path, id: str) -> None:
    """Remove the announcement of a run."""
    with suppress(OSError):
        _file(folder, id).unlink(missing_ok=True)


def _file(folder: Path, id: str) -> Path:
    return folder / f".{id}.running"


def _create(path: Path) -> IO[bytes] | None:
    """Return a new locked file; None if that fails, which costs no more than the announcement."""
    about = {"since": time.time(), "process": os.getpid(), "machine": platform.node()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        file = path.open("xb", buffering=0)
        with suppress(OSError):  # a file system without locks: `running` then takes the file's word for it
            lock(file)
        file.write(json.dumps(about).encode() + b"\n")
    except OSError:
        return None
    return file


def _is_locked(file: IO[bytes]) -> bool:
    try:
        lock(file, shared=True)
    except OSError:  # held by its worker, or no locks here
        return True
    return False
