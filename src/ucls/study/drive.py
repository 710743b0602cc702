"""The driver of a study: gives the cells that the store lacks to a runner, and is the one writer of what comes back."""

import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import NamedTuple

from ucls.errors import UserError
from ucls.study.cell import Cell
from ucls.study.partial import discard
from ucls.study.runners.base import Outcome, Runner
from ucls.study.runners.local import run_local
from ucls.study.runners.run_cell import CHECKPOINT_SECONDS, Habits
from ucls.study.store import Store


class Tally(NamedTuple):
    """How far a study is, and whether it was stopped."""

    cells: int
    done: int = 0
    diverged: int = 0
    failed: int = 0
    steps: int = 0
    stopped: bool = False


def drive(
    store: Store,
    cells: Sequence[Cell],
    runner: Runner = run_local,
    watch: Callable[[Tally, Cell, Outcome], None] = lambda tally, cell, outcome: None,
    checkpoint_every: float = CHECKPOINT_SECONDS,
) -> Tally:
    """Run the cells, which the store must know of, and write down every outcome as it comes.

    Ctrl-C (or SIGTERM) stops the workers, which keep their unfinished cells beside the store to go on from.
    """
    known = {cell.id: cell for cell in cells}
    habits = Habits(store.partial, checkpoint_every)
    tally = Tally(len(known))
    trouble: UserError | None = None
    with _stopping() as stop:
        for outcome in runner(list(known.values()), habits, stop):
            if trouble is None:
                try:
                    tally = _write(store, known[outcome.id], outcome, tally)
                except UserError as error:  # a full disk, most often: the workers still keep what they have
                    trouble = error
                    stop.set()
                else:
                    watch(tally, known[outcome.id], outcome)
    if trouble is not None:
        kept = f"{tally.done:,} of {tally.cells:,} runs were finished and are kept"
        raise UserError(f"{trouble}; {kept}, and the same command goes on")
    _tidy(store)
    return tally._replace(stopped=stop.is_set())


def _write(store: Store, cell: Cell, outcome: Outcome, tally: Tally) -> Tally:
    if outcome.result is not None and outcome.about is not None:
        store.finish(outcome.id, outcome.result, outcome.about)
        discard(store.partial, outcome.id)
        diverged = tally.diverged + outcome.result.diverged
        return tally._replace(done=tally.done + 1, diverged=diverged, steps=tally.steps + cell.steps)
    if outcome.error:
        store.fail(outcome.id, outcome.error, outcome.traceback, outcome.attempts)
        return tally._replace(failed=tally.failed + 1)
    return tally


@contextmanager
def _stopping() -> Iterator[Event]:
    """An event that Ctrl-C and SIGTERM set; a second Ctrl-C is the ordinary one."""
    stop = Event()

    def on_signal(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    mine = current_thread() is main_thread()
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM) if mine}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tidy(store: Store) -> None:
    """Remove the folder of unfinished cells if none is left; hidden files are what was being written at a kill."""
    if store.partial.is_dir() and all(file.name.startswith(".") for file in store.partial.iterdir()):
        shutil.rmtree(store.partial, ignore_errors=True)
