"""What every runner gives back, whatever machines it uses: an outcome for each cell it was given, as they come."""

import os
import platform
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from ucls.study.cell import Cell
from ucls.study.result import Result
from ucls.study.store import Circumstance
from ucls.study.work import Habits, run_cell

RETRIES = 3

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Outcome(NamedTuple):
    """What came of giving a cell to a worker: a result, an error, or (neither) a stop before its end."""

    id: str
    result: Result | None = None
    about: Circumstance | None = None
    error: str = ""
    traceback: str = ""
    attempts: int = 1


def attempt(cell: Cell, habits: Habits, stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Run a cell here; an error becomes part of the outcome."""
    try:
        done = run_cell(cell, habits, stopped)
    except Exception as error:  # a cell that fails must not take the study with it
        return Outcome(cell.id, error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    if done is None:
        return Outcome(cell.id)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    return Outcome(cell.id, done.result, Circumstance(done.seconds, done.speed, machine(), versions(), finished))


def machine() -> str:
    """The machine's name, kind and number of cores."""
    return f"{platform.node()} {platform.machine()} {os.cpu_count()} cores"


def versions() -> str:
    """What the numbers were made with."""
    from importlib.metadata import version

    python = f"python {platform.python_version()}"
    return ", ".join([python, *(f"{name} {version(name)}" for name in ("ucls", "numpy", "numba"))])


def kind(cell: Cell) -> tuple[str, str, str, str]:
    """What cells share that need the same compiled kernels."""
    return cell.agent, cell.env, cell.features, cell.dtype
