"""Kill studies at random moments, and check whether anything is lost."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import ucls
from faults.driver import NAME
from faults.processes import PATIENCE, below, wait_until
from ucls.study import Store
from ucls.study.storage.result import pack

PATH = (Path(__file__).parents[1], Path(ucls.__file__).parents[1])
WORKER = {"local": "spawn_main", "ray": "ray::Worker", "submitit": "submitit.core._submit"}


class Trial(NamedTuple):
    """The faults that a study was exposed to, and its results."""

    what: str
    cells: int
    kills: int
    outcomes: int
    repeated: int
    lost: int
    different: int
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether the store equals that of an undisturbed run, and no run in it was repeated."""
        return not (self.repeated or self.lost or self.different)


def kill_the_driver(
    folder: Path, cells: int, kills: int, want: dict[str, Any], seed: int = 0, early: float = 0.25
) -> Trial:
    """Kill the whole process group with SIGKILL at random moments, from its start on, and restart it.

    An `early` kill may come before there is a store; the others wait for an outcome.
    """
    rng, study, done = random.Random(seed), StudyProcess(folder / "driver.sqlite", cells, "local"), 0
    for kill in range(kills):
        with study.running() as process:
            if rng.random() < early:
                time.sleep(rng.uniform(0.0, 4.0))
            else:
                share = (cells - study.outcomes) // (kills - kill + 1)
                study.await_outcomes(process, rng.randint(1, max(1, 2 * share)))
                time.sleep(rng.uniform(0.0, 0.3))
            done += process.poll() is None
    with study.running() as process:
        study.await_end(process)
    return study.judge("the driver and its workers, all at once (SIGKILL to the group)", done, want)


def kill_workers(
    folder: Path, cells: int, kills: int, want: dict[str, Any], runner: str, seed: int = 0, early: float = 0.0
) -> Trial:
    """Kill one worker after another with SIGKILL at random moments; the driver lives. See `kill_the_driver`."""
    rng, study, done = random.Random(seed), StudyProcess(folder / f"{runner}.sqlite", cells, runner), 0
    with study.running() as process:
        while done < kills and process.poll() is None:
            if rng.random() < early:
                time.sleep(rng.uniform(0.0, 2.0))
            else:
                study.await_outcomes(process, rng.randint(1, max(1, cells // (2 * kills))))
                time.sleep(rng.uniform(0.0, 0.3))
            if workers := below(process.pid, WORKER[runner]):
                os.kill(rng.choice(workers), signal.SIGKILL)
                done += 1
        study.await_end(process)
    return study.judge(f"{done} workers of the {runner} runner", done, want)


def lose_a_node(folder: Path, cells: int, want: dict[str, Any]) -> Trial:
    """Run on a Ray cluster of two nodes, and remove one in the middle."""
    study = StudyProcess(folder / "nodes.sqlite", cells, "ray-two-nodes")
    with study.running() as process:
        study.await_end(process)
    return study.judge("one of two nodes of Ray", 1, want)


def undisturbed(folder: Path, cells: int, runner: str = "local") -> dict[str, Any]:
    """Return the results of an undisturbed study."""
    study = StudyProcess(folder / f"undisturbed-{runner}.sqlite", cells, runner)
    with study.running() as process:
        study.await_end(process)
    return results(study.store)


def results(path: Path) -> dict[str, Any]:
    """Return everything that a store contains about its results, to the last bit, by the ids of the runs."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with Store(path) as store:
        every = {row.id: store.result(row.id) for row in store.rows(NAME)}
    return {id: r._replace(arrays=pack(r.arrays)) for id, r in every.items() if r is not None}


class StudyProcess:
    """A study in a separate process, with a log of the outcomes that its driver got."""

    def __init__(self, store: Path, cells: int, runner: str, *options: str) -> None:
        self.store, self.cells, self.runner, self._options = store, cells, runner, options
        self._log, self.printed = store.with_suffix(".log"), store.with_suffix(".txt")
        self._repeated, self._began = 0, time.monotonic()

    @property
    def outcomes(self) -> int:
        """How many outcomes the driver has got, over all its starts."""
        return len(self.logged())

    def logged(self) -> list[str]:
        """Return the ids of the runs of these outcomes, in their order."""
        return self._log.read_text().split() if self._log.exists() else []

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start the study, or the rest of it; at the end of the block its whole process group is killed."""
        before, logged = set(results(self.store)), self.outcomes
        command = [sys.executable, "-m", "faults.driver", str(self.store), "--runner", self.runner]
        environment = {"NUMBA_DISABLE_JIT": "1", **os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATH))}
        command += ["--cells", str(self.cells), *self._options]
        with self.printed.open("ab") as file:
            process = subprocess.Popen(
                command, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
        self._repeated += len(before.intersection(self.logged()[logged:]))

    def await_outcomes(self, process: subprocess.Popen[bytes], more: int) -> None:
        """Wait until it has so many outcomes more, or is done."""
        enough = self.outcomes + more
        wait_until(lambda: self.outcomes >= enough or process.poll() is not None)

    def await_end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until it is done."""
        wait_until(lambda: process.poll() is not None)
        if process.returncode:
            said = self.printed.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"the driver ended with {process.returncode}: {said}")

    def judge(self, what: str, kills: int, want: dict[str, Any]) -> Trial:
        """Compare its results."""
        have = results(self.store)
        lost, different = len(want.keys() - have.keys()), sum(have[id] != want[id] for id in have)
        seconds = time.monotonic() - self._began
        return Trial(what, self.cells, kills, self.outcomes, self._repeated, lost, different, seconds)
