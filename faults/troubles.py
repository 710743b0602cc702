"""Several faults at once: a study with a run that fails and one that never ends, whose workers are killed, then
stopped.

One study shows every promise that a runner makes, so that each runner has to be started only once.
"""

import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

from faults.driver import NAME, endless_cell, failing_cell, troubled_study
from faults.kills import WORKER, StudyProcess, results
from faults.processes import below, kill, listened_on, wait_until
from ucls.core.saving import checkpoint
from ucls.study import Store
from ucls.study.storage.partial import partial_file
from ucls.study.storage.records import Failure

SOME_STEPS = 4000  # of the endless cell before its worker is killed: more than one that began again has at first


class Seen(NamedTuple):
    """The observations of a study with faults.

    `outcomes` are the ids of the cells that the driver got an outcome of; `killed` how many workers were killed;
    `steps` those of the endless cell that were kept at the kill, at the first checkpoint after it, and at the end.
    """

    outcomes: list[str]
    status: dict[str, str]
    failures: list[Failure]
    results: dict[str, Any]
    killed: int
    steps: tuple[int, int, int]
    stop_seconds: float
    printed: str
    listened_on: set[str]


def give_trouble(folder: Path, cells: int, runner: str) -> Seen:
    """Run a study with faults on a runner: kill its workers once, stop it when only the endless run is left."""
    study = StudyProcess(folder / f"{runner}.sqlite", cells, runner, "--troubled", "--every", "0.2")
    with Store(study.store, write=True) as store:
        file = partial_file(store.partial, endless_cell().id)

    finite = len(troubled_study(cells).members) - 1

    def kept() -> int:
        return checkpoint.load(file)[0]["steps"] if file.exists() else 0

    with study.running() as process:
        wait_until(lambda: process.poll() is not None or (kept() >= SOME_STEPS and study.outcomes > 0))
        workers = below(process.pid, WORKER[runner])
        kill(workers)
        at_kill = kept()
        wait_until(lambda: process.poll() is not None or kept() != at_kill)
        after = kept()
        wait_until(lambda: process.poll() is not None or study.outcomes >= finite)
        addresses = listened_on([process.pid, *below(process.pid)])
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        study.await_end(process)
        seconds = time.monotonic() - began
    with Store(study.store) as store:
        status = {row.id: row.status for row in store.rows(NAME)}
        failures = store.failures(NAME)
    printed = study.printed.read_text()
    steps = at_kill, after, kept()
    have = results(study.store)
    return Seen(study.logged(), status, failures, have, len(workers), steps, seconds, printed, addresses)


def is_the_failure(failure: Failure) -> bool:
    """Return whether a failure is that of the failing run."""
    return (
        failure.id == failing_cell().id
        and "declare the study again" in failure.error
        and "Traceback" in failure.traceback
    )
