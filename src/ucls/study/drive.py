"""The driver of a study: gives the cells that the store lacks to a runner, and is the one writer of what comes back."""

import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from typing import NamedTuple

from ucls.study.cell import Cell
from ucls.study.local import run_local
from ucls.study.runner import Outcome, Runner
from ucls.study.store import Store
from ucls.study.work import CHECKPOINT_SECONDS, Habits, partial_file


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
    with _stopping() as stop:
        for outcome in runner(list(known.values()), habits, stop):
            cell = known[outcome.id]
            if outcome.result is not None and outcome.about is not None:
                store.finish(outcome.id, outcome.result, outcome.about)
                partial_file(store.partial, outcome.id).unlink(missing_ok=True)
                diverged = tally.diverged + outcome.result.diverged
                tally = tally._replace(done=tally.done + 1, diverged=diverged, steps=tally.steps + cell.steps)
            elif outcome.error:
                store.fail(outcome.id, outcome.error, outcome.traceback, outcome.attempts)
                tally = tally._replace(failed=tally.failed + 1)
            watch(tally, cell, outcome)
    _tidy(store)
    return tally._replace(stopped=stop.is_set())


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
