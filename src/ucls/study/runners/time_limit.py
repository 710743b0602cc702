"""The time limit of runs. A run that reaches it is stopped, saves its checkpoint and fails. If it does not stop,
because a step hangs, its process is ended, which the runner replaces."""

import faulthandler
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ucls.study import running
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.storage.partial import Checkpoints

GRACE = 8.0  # seconds that a cell has to stop by itself


@contextmanager
def limited(cell: RunSpec, checkpoints: Checkpoints) -> Iterator[Callable[[], bool]]:
    """Announce a run and limit its time; yield the function that returns whether the limit has passed."""
    limit, began = checkpoints.time_limit, time.monotonic()
    with running.announce(checkpoints.folder, cell.id) as file:
        if limit is None:
            yield lambda: False
            return
        # The timer is a thread without Python in it: it ends the process whatever holds the interpreter.
        with Path(os.devnull).open("wb") as nowhere:
            faulthandler.dump_traceback_later(limit + GRACE, exit=True, file=file or nowhere)
            try:
                yield lambda: time.monotonic() - began >= limit
            finally:
                faulthandler.cancel_dump_traceback_later()


def over_limit(cell: RunSpec, limit: float | None) -> Outcome:
    """Return the failure of a run that reached its limit and saved its state."""
    return Outcome(cell.id, error=f"it reached the time limit of {limit or 0:g} s{_advice(cell)}")


def ended(cell: RunSpec, checkpoints: Checkpoints, seconds: float = 0.0) -> Outcome | None:
    """Return the failure of a run whose process the time limit ended; None if something else did.

    `seconds` is how long its worker had it at most: where worker and driver share no folder, that must do.
    """
    limit, folder = checkpoints.time_limit, checkpoints.folder
    if limit is None:
        return None
    traceback = running.last_words(folder, cell.id) if folder is not None else ""
    if not traceback and seconds < limit + GRACE:
        return None
    error = f"it did not stop at the time limit of {limit:g} s, so its process was ended{_advice(cell)}"
    return Outcome(cell.id, error=error, traceback=traceback)


def _advice(cell: RunSpec) -> str:
    after = " from its checkpoint" if cell.ours and not cell.probe else ""
    return f"; to run it again{after}, use `ucls study retry` and a larger --time-limit"
