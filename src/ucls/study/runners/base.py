"""What every runner gives back, whatever machines it uses: an outcome for each cell it was given, as they come."""

import os
import platform
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event
from typing import Any, NamedTuple

from ucls.study.cell import Cell
from ucls.study.result import Circumstance, Result
from ucls.study.runners.run_cell import Habits, run_cell

TRIES = 3  # of a cell among others, and as many again with no other beside it
PATIENCE = 8.0  # seconds that a stop may take

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Outcome(NamedTuple):
    """What came of giving a cell to a worker: a result, an error, or (neither) a stop before its end.

    An error for which the worker is to blame, want of memory, has `lost` the cell: another worker may do better. `note`
    is what a person should know of a result.
    """

    id: str
    result: Result | None = None
    about: Circumstance | None = None
    error: str = ""
    traceback: str = ""
    attempts: int = 1
    lost: bool = False
    note: str = ""


# What runs cells somewhere: gives their outcomes as they come, and ends within seconds once the event is set.
Runner = Callable[[Sequence[Cell], Habits, Event], Iterator[Outcome]]


def attempt(cell: Cell, habits: Habits, stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Run a cell here; an error becomes part of the outcome."""
    try:
        done = run_cell(cell, habits, stopped)
    except Exception as error:  # a cell that fails must not take the study with it
        said, lost = f"{type(error).__name__}: {error}", isinstance(error, MemoryError)
        return Outcome(cell.id, error=said, traceback=traceback.format_exc(), lost=lost)
    if done is None:
        return Outcome(cell.id)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    about = Circumstance(done.seconds, done.speed, machine(), versions(), finished)
    return Outcome(cell.id, done.result, about, note=done.note)


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


class Losses:
    """How often each cell was lost with the process that it was in.

    Nothing tells whether a cell killed its process or somebody else did. So a cell that was lost three times is put
    aside until no other runs beside it, and only one that is lost three times more, alone, has failed. A worker that
    says why, want of memory, has said it once alone and need not say it again.
    """

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def count(
        self, cell: Cell, hint: str = "perhaps for want of memory", last: Outcome | None = None
    ) -> Outcome | None:
        """Count a loss; a failure if it is one too many, with the last word of its worker if there was one."""
        self._times[cell.id] = times = self._times.get(cell.id, 0) + 1
        if times < (2 * TRIES if last is None else TRIES + 1):
            return None
        if last is not None:
            return last._replace(error=f"{last.error} ({times} times)", attempts=times, lost=False)
        return Outcome(cell.id, error=f"its process was killed {times} times, {hint}", attempts=times)

    def suspect(self, cell: Cell) -> bool:
        """Whether the cell was lost so often that it should run with no other beside it."""
        return self._times.get(cell.id, 0) >= TRIES


class Queue:
    """The cells still to be given, and how often each was lost."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._kinds: dict[Any, deque[Cell]] = {}
        self._taken: Counter[Any] = Counter()
        self._aside: deque[Cell] = deque()
        self._losses = Losses()
        for cell in cells:
            self._kinds.setdefault(kind(cell), deque()).append(cell)

    def __len__(self) -> int:
        return len(self._aside) + sum(len(cells) for cells in self._kinds.values())

    def ready(self, alone: bool) -> int:
        """How many cells could be taken now."""
        return len(self) - len(self._aside) or int(alone and bool(self._aside))

    def take(self, last: Cell | None, alone: bool) -> Cell | None:
        """The next cell: of the kind that the worker has compiled, or else of the first that no worker is at.

        What was put aside comes last, and only to a worker that is `alone`, with no other at a cell.
        """
        mine = kind(last) if last else None
        if mine not in self._kinds:
            self._taken[mine] -= 1
            mine = min(self._kinds, key=lambda k: self._taken[k], default=None)
            self._taken[mine] += 1
        if mine is None:
            return self._aside.popleft() if alone and self._aside else None
        cell = self._kinds[mine].popleft()
        if not self._kinds[mine]:
            del self._kinds[mine]
        return cell

    def put_back(self, cell: Cell, last: Outcome | None = None) -> Outcome | None:
        """Give a lost cell another chance, or say that it had enough of them."""
        outcome = self._losses.count(cell, last=last)
        if outcome is None:
            # To the end of the line: what killed it, short memory or a bad moment, may have passed by then.
            suspect = self._losses.suspect(cell)
            (self._aside if suspect else self._kinds.setdefault(kind(cell), deque())).append(cell)
        return outcome


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes that start now use one BLAS thread: on small matrices more get in each other's way."""
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
