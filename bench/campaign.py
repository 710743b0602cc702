"""Kill studies at random moments and see whether anything is lost: `python -m bench campaign`."""

import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import ucls
from bench.driver import NAME
from bench.harness import Effort
from bench.machine import describe, revision
from bench.tables import Table, markdown, plain
from bench.torture.page import MARK
from ucls.study import Store
from ucls.study.result import pack

PATIENCE = 1200.0
PATH = (Path(__file__).parents[1], Path(ucls.__file__).parents[1])
WORKER = {"local": "spawn_main", "ray": "ray::Worker", "submitit": "submitit.core._submit"}


class Trial(NamedTuple):
    """What was done to a study, and what came of it."""

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
        """Whether the store is the one of an undisturbed run, and no cell in it was run again."""
        return not (self.repeated or self.lost or self.different)


def kill_the_driver(
    folder: Path,
    cells: int,
    kills: int,
    want: dict[str, Any],
    seed: int = 0,
    early: float = 0.25,
    until: float = math.inf,
) -> Trial:
    """Kill the whole process group with SIGKILL at random moments, from its start on, and start it again.

    An `early` kill may come before there is a store; the others wait for an outcome. At the time `until` of the
    monotonic clock the killing ends, and the study is let to its end.
    """
    rng, study, done = random.Random(seed), _Study(folder / "driver.sqlite", cells, "local"), 0
    for kill in range(kills):
        if time.monotonic() > until:
            break
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
    folder: Path,
    cells: int,
    kills: int,
    want: dict[str, Any],
    runner: str,
    seed: int = 0,
    early: float = 0.0,
    until: float = math.inf,
) -> Trial:
    """Kill one worker after another with SIGKILL at random moments; the driver lives. See `kill_the_driver`."""
    rng, study, done = random.Random(seed), _Study(folder / f"{runner}.sqlite", cells, runner), 0
    with study.running() as process:
        while done < kills and process.poll() is None and time.monotonic() < until:
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
    """Run on a Ray of two nodes, and take one away in the middle."""
    study = _Study(folder / "nodes.sqlite", cells, "ray-two-nodes")
    with study.running() as process:
        study.await_end(process)
    return study.judge("one of two nodes of Ray", 1, want)


def undisturbed(folder: Path, cells: int, runner: str = "local") -> dict[str, Any]:
    """The results of a study that nobody disturbs."""
    study = _Study(folder / f"undisturbed-{runner}.sqlite", cells, runner)
    with study.running() as process:
        study.await_end(process)
    return results(study.store)


def results(path: Path) -> dict[str, Any]:
    """Everything that a store knows of the results in it, to the last bit, by the cells' ids."""
    if not path.exists() or not path.stat().st_size:
        return {}
    with Store(path) as store:
        found = {row.id: store.result(row.id) for row in store.rows(NAME)}
    return {id: r._replace(arrays=pack(r.arrays)) for id, r in found.items() if r is not None}


def below(pid: int, mark: str) -> list[int]:
    """The processes under another one whose command holds a mark."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, queue = [], [pid]
    while queue:
        queue += (mine := children.get(queue.pop(), []))
        found += [child for child in mine if mark in _command(child)]
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


class _Study:
    """A study in a process of its own, with a log of the outcomes that its driver got."""

    def __init__(self, store: Path, cells: int, runner: str) -> None:
        self.store, self.cells, self.runner = store, cells, runner
        self._log, self._repeated, self._began = store.with_suffix(".log"), 0, time.monotonic()

    @property
    def outcomes(self) -> int:
        return len(self._logged())

    def _logged(self) -> list[str]:
        return self._log.read_text().split() if self._log.exists() else []

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start it, or what is left of it; at the end of the block its whole process group is killed."""
        before, logged = set(results(self.store)), self.outcomes
        command = [sys.executable, "-m", "bench.driver", str(self.store), "--runner", self.runner]
        environment = {"NUMBA_DISABLE_JIT": "1", **os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATH))}
        process = subprocess.Popen([*command, "--cells", str(self.cells)], env=environment, start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
        self._repeated += len(before.intersection(self._logged()[logged:]))

    def await_outcomes(self, process: subprocess.Popen[bytes], more: int) -> None:
        """Wait until it has so many outcomes more, or is done."""
        enough = self.outcomes + more
        _await(lambda: self.outcomes >= enough or process.poll() is not None)

    def await_end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until it is done."""
        _await(lambda: process.poll() is not None)
        if process.returncode:
            raise RuntimeError(f"the driver ended with {process.returncode}")

    def judge(self, what: str, kills: int, want: dict[str, Any]) -> Trial:
        """Compare what it has come to."""
        found = results(self.store)
        lost, different = len(want.keys() - found.keys()), sum(found[id] != want[id] for id in found)
        seconds = time.monotonic() - self._began
        return Trial(what, self.cells, kills, self.outcomes, self._repeated, lost, different, seconds)


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing happened for {PATIENCE:.0f} seconds")
        time.sleep(0.02)


def measure(effort: Effort) -> Iterator[Trial]:
    """The whole campaign, or a small one."""
    cells, kills, fewer = effort.of((200, 20, 10), (24, 3, 2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        want = undisturbed(folder, cells)
        assert len(want) == cells
        yield kill_the_driver(folder, cells, kills, want)
        for runner in WORKER:
            yield kill_workers(folder, cells, fewer, want, runner)
        yield lose_a_node(folder, cells, want)


def run(quick: bool, compiled: bool, page: Path) -> int:
    """Carry the campaign out, print it, and write the page; the exit code says whether everything was sound."""
    if compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "0"
    trials = []
    for trial in measure(Effort(quick)):
        print(f"{'sound' if trial.sound else 'NOT SOUND'}: {trial}", flush=True)
        trials.append(trial)
    print(plain(table(trials)))
    command = " ".join(["python -m bench campaign", *["--quick"] * quick, *["--compiled"] * compiled])
    page.parent.mkdir(parents=True, exist_ok=True)
    after = page.read_text().partition(MARK)[1:] if page.exists() else ()
    page.write_text("\n".join([text(trials, command, compiled), "".join(after)]).rstrip() + "\n")
    print(f"wrote {page}", file=sys.stderr)
    return 0 if all(trial.sound for trial in trials) else 1


def table(trials: list[Trial]) -> Table:
    """The trials, a row each."""
    heads = ["killed", "cells", "kills", "outcomes", "cells lost", "run again", "results that differ", "seconds"]
    rows = [
        [t.what, *(str(n) for n in (t.cells, t.kills, t.outcomes, t.lost, t.repeated, t.different)), f"{t.seconds:.0f}"]
        for t in trials
    ]
    return Table("What was killed, and what came of it", heads, rows)


def text(trials: list[Trial], command: str, compiled: bool) -> str:
    """The page."""
    about = {**describe(), "commit": revision()}
    facts = ", ".join(f"{name} {about[name]}" for name in ("cores", "system", "python", "ucls", "date", "commit"))
    kernels = (
        "" if compiled else " Kernels ran uncompiled, so that starting again is quick (`--compiled` compiles them)."
    )
    sound = all(trial.sound for trial in trials)
    verdict = "Every store equals the undisturbed one." if sound else "NOT every store equals the undisturbed one."
    return f"""# Robustness

A study may be killed at any instant: started again it goes on, and ends with the results it would have had. {verdict}

Made by `{command}` ({facts}).

The study has {trials[0].cells} short runs of Sarsa and UCLS in River Swim, with two workers; some runs are long enough
to be killed in their middle and go on from a checkpoint, and the learners of those are kept and compared too.{kernels}
First the study is run undisturbed. Then, from an empty store each time, it is run while being killed, and its store is
compared with the undisturbed one: every measure, every array and every kept learner, to the last bit.

{markdown(table(trials))}
"Outcomes" are what the driver got from its workers in all: more than there are cells where it was killed between an
outcome's arrival and its being written down. "Run again" counts outcomes of cells whose result was in the store before.

A cell whose worker died goes to the end of the line. After three deaths it waits until no other cell runs beside it,
and after three more, alone, it counts as failed until `ucls study retry`: nothing tells whether the cell killed its
process or somebody else did.
"""
