"""The interface of all runners: a runner yields an outcome for each of its runs, as they finish."""

import os
import platform
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event

from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.runners.run_cell import run_cell
from ucls.study.runners.time_limit import limited, over_limit
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.result import Circumstance

PATIENCE = 8.0  # seconds that a stop may take

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


# Runs cells and yields their outcomes as they finish; stops within seconds once the event is set.
Runner = Callable[[Sequence[RunSpec], Checkpoints, Event], Iterator[Outcome]]


def outcome_of(cell: RunSpec, checkpoints: Checkpoints, stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Make a run in this process; an error, or a time limit that it reaches, becomes part of the outcome."""
    try:
        with limited(cell, checkpoints) as over:
            done = run_cell(cell, checkpoints, lambda: stopped() or over())
            late = done is None and over() and not stopped()
    except Exception as error:  # a cell that fails must not take the study with it
        line, lost = f"{type(error).__name__}: {error}", isinstance(error, MemoryError)
        return Outcome(cell.id, error=line, traceback=traceback.format_exc(), lost=lost)
    if done is None:
        return over_limit(cell, checkpoints.time_limit) if late else Outcome(cell.id)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    about = Circumstance(done.seconds, done.speed, machine(), versions(), finished)
    return Outcome(cell.id, done.result, about, note=done.note)


def machine() -> str:
    """The machine's name, kind and number of cores."""
    return f"{platform.node()} {platform.machine()} {os.cpu_count()} cores"


def versions() -> str:
    """The versions of Python and the packages that affect results."""
    from importlib.metadata import version

    python = f"python {platform.python_version()}"
    return ", ".join([python, *(f"{name} {version(name)}" for name in ("ucls", "numpy", "numba", "gymnasium"))])


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes that start now use one BLAS thread: on small matrices more threads are slower."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
