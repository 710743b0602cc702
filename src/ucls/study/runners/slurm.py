"""The Slurm runner: runs in batches, as job arrays. `cluster` calls submitit and Slurm's commands.

Nothing is asked of a job but files: it leaves each outcome in a folder beside the store, where the driver takes it
from. Jobs outlive a driver that is killed: the next one takes what they left, and waits for those that still run.
"""

import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import NamedTuple
from uuid import uuid4

from ucls._util.files import write_atomic
from ucls.errors import UserError
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.runners.base import PATIENCE, Runner
from ucls.study.runners.cluster import Batch, Cluster, Key, open_cluster
from ucls.study.runners.outcome_file import SUFFIX, read_outcome
from ucls.study.runners.queue import Losses, kind
from ucls.study.runners.time_limit import ended
from ucls.study.storage.partial import Checkpoints

JOBS = 64
HOURS = 4.0
ARRAY = 1000  # what Slurm allows by default in one array
LOOK_SECONDS = 5.0
STARTS = 3  # times in a row that jobs may die before they begin


class Terms(NamedTuple):
    """The options with which jobs are submitted; Slurm's own SBATCH_ACCOUNT, SBATCH_TIMELIMIT and so on take
    precedence."""

    partition: str | None = None
    jobs: int = JOBS
    hours: float = HOURS
    executor: str = "slurm"
    look_seconds: float = LOOK_SECONDS


def run_slurm(
    cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event, terms: Terms = Terms()
) -> Iterator[Outcome]:
    """Make the runs as job arrays; once `stop` is set the jobs save their runs and end, and are canceled.

    A job that dies loses the cell it was at, which is submitted again by itself, until it has died six times.
    """
    partial = (checkpoints.folder or Path("ucls.partial")).absolute()
    checkpoints = checkpoints._replace(folder=partial if checkpoints.folder else None)
    cluster = open_cluster(terms.executor, partial.with_suffix(".slurm") / "log", terms.partition, terms.hours)
    campaign = _Campaign(cells, checkpoints, partial.with_suffix(".slurm"), cluster, terms)
    try:
        yield from campaign.run(stop)
    finally:
        campaign.end()


def slurm_runner(
    partition: str | None = None, jobs: int | None = None, hours: float = HOURS, executor: str = "slurm"
) -> Runner:
    """The Slurm runner in a partition, with about so many jobs, each of so many hours before it is queued again."""
    look = LOOK_SECONDS if executor == "slurm" else 0.3
    terms = Terms(partition, jobs or JOBS, hours, executor, look)
    return lambda cells, checkpoints, stop: run_slurm(cells, checkpoints, stop, terms)


def batches_of(cells: Sequence[RunSpec], jobs: int) -> list[list[RunSpec]]:
    """Divide runs into about so many batches, each with one set of kernels, so that a job compiles once."""
    kinds: dict[object, list[RunSpec]] = {}
    for cell in cells:
        kinds.setdefault(kind(cell), []).append(cell)
    size = max(1, -(-len(cells) // jobs))
    return [some[i : i + size] for some in kinds.values() for i in range(0, len(some), size)]


class _Campaign:
    """The missing runs, the jobs that make them, and the folder with their outcomes."""

    def __init__(
        self, cells: Sequence[RunSpec], checkpoints: Checkpoints, folder: Path, cluster: Cluster, terms: Terms
    ) -> None:
        self._wanted = {cell.id: cell for cell in cells}
        self._checkpoints, self._folder, self._cluster, self._terms = checkpoints, folder, cluster, terms
        self._outcomes = folder / "outcomes"
        self._jobs: dict[Key, list[str]] = {}
        self._losses = Losses()
        self._dead_starts, self._clean = 0, True

    def run(self, stop: Event) -> Iterator[Outcome]:
        """Submit runs that are in no job, and collect outcomes until there is one for every run."""
        self._outcomes.mkdir(parents=True, exist_ok=True)
        (self._folder / "begun").mkdir(exist_ok=True)
        self._adopt()
        yield from self._collect()
        taken = {id for ids in self._jobs.values() for id in ids}
        self._submit(batches_of([cell for id, cell in self._wanted.items() if id not in taken], self._terms.jobs))
        look = 0.0
        while self._wanted and not stop.is_set():
            # Which jobs run is asked before outcomes are taken: one that has ended by then will write no more.
            alive = self._cluster.alive() if time.monotonic() >= look else None
            yield from self._collect()
            if alive is not None:
                yield from self._resubmit(alive)
                look = time.monotonic() + self._terms.look_seconds
            stop.wait(0.2)
        if self._wanted:
            yield from self._stop()

    def end(self) -> None:
        """Remove the folder of a study that completed."""
        if not self._wanted:
            self._await_jobs()
        self._cluster.close()
        if not self._wanted and self._clean:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _adopt(self) -> None:
        """Take over the jobs of a driver that was killed, as far as they are alive."""
        alive = self._cluster.alive()
        if alive is None:
            raise UserError("cannot list Slurm jobs: check that `squeue --me` works")
        for record in self._folder.glob("ucls-*.json"):
            batches = enumerate(_batches(record))
            jobs = {(record.stem, i): ids for i, ids in batches if (record.stem, i) in alive}
            if not jobs:
                record.unlink()
                self._halt(record.stem).unlink(missing_ok=True)
            elif not self._halt(record.stem).exists():  # those that were told to stop are about to end
                self._jobs |= jobs

    def _submit(self, batches: list[list[RunSpec]]) -> None:
        for first in range(0, len(batches), ARRAY):
            some = batches[first : first + ARRAY]
            name = f"ucls-{uuid4().hex[:12]}"
            ids = [[cell.id for cell in batch] for batch in some]
            # Written first: whenever the driver is killed, the next one knows what was in the jobs it finds.
            write_atomic(self._folder / f"{name}.json", lambda file, ids=ids: file.write_text(json.dumps(ids)))
            path = tuple(str(Path(folder).absolute()) for folder in sys.path)
            about = (self._checkpoints, self._outcomes, self._halt(name))
            work = [Batch(tuple(batch), *about, self._begun((name, i)), path) for i, batch in enumerate(some)]
            self._cluster.submit(name, work)
            self._jobs |= {(name, index): batch for index, batch in enumerate(ids)}

    def _collect(self) -> Iterator[Outcome]:
        """Yield every outcome in the folder; its file is removed once the driver has stored it."""
        for path in sorted(self._outcomes.glob(f"[!.]*{SUFFIX}")):  # one that begins with a dot is being written
            if path.stem in self._wanted and (outcome := _read(path)):
                del self._wanted[path.stem]
                self._dead_starts = 0
                yield outcome
            path.unlink(missing_ok=True)

    def _resubmit(self, alive: set[Key]) -> Iterator[Outcome]:
        """Submit again the unfinished runs of jobs that died: the interrupted run alone, then the others."""
        again: list[list[RunSpec]] = []
        dead_start = False
        for key in self._jobs.keys() - alive:
            left = [self._wanted[id] for id in self._jobs.pop(key) if id in self._wanted]
            if not left:
                continue
            self._clean = False
            if not self._begun(key).exists():  # no cell's fault
                dead_start = True
                again.append(left)
                continue
            late = ended(left[0], self._checkpoints)
            if outcome := late or self._losses.count(left[0], f"see the logs in {self._folder / 'log'}"):
                del self._wanted[outcome.id]
                yield outcome
            else:
                again.append(left[:1])
            again += [left[1:]] if left[1:] else []
        self._dead_starts += dead_start
        if self._dead_starts >= STARTS:
            raise UserError(
                f"jobs fail before they start: see the logs in {self._folder / 'log'}, then repeat the command"
            )
        self._submit(again)

    def _stop(self) -> Iterator[Outcome]:
        """Ask the jobs to save their runs, collect what they finish in the meantime, and cancel the rest."""
        for name in {name for name, _ in self._jobs}:
            self._halt(name).touch()
        self._cluster.cancel(self._jobs, pending=True)
        self._await_jobs()
        yield from self._collect()
        self._cluster.cancel(self._jobs)

    def _await_jobs(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._jobs.keys() & (self._cluster.alive() or set()):
            time.sleep(0.3)

    def _halt(self, name: str) -> Path:
        return self._folder / f"{name}.halt"

    def _begun(self, job: Key) -> Path:
        return self._folder / "begun" / f"{job[0]}-{job[1]}"


def _batches(record: Path) -> list[list[str]]:
    """Return the runs in the jobs of an array; empty if its record is corrupted: they are then submitted again."""
    try:
        batches = json.loads(record.read_text())
    except (OSError, ValueError, RecursionError):
        return []
    sound = isinstance(batches, list) and all(isinstance(ids, list) for ids in batches)
    return [[str(id) for id in ids] for ids in batches] if sound else []


def _read(path: Path) -> Outcome | None:
    try:
        return read_outcome(path)
    except Exception:  # unsound, however it is: the cell is run again
        return None
