"""A cluster that takes jobs: Slurm, or submitit's processes on this machine. The only import of submitit.

Which jobs are alive is asked of `squeue`: it is everywhere, where `sacct` needs a database that many clusters lack.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ucls.errors import UserError
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.runners.base import PATIENCE, THREADS, one_thread_each, outcome_of
from ucls.study.runners.outcome_file import outcome_file, write_outcome
from ucls.study.storage.partial import Checkpoints

REQUEUES = 1000  # a job at its time limit is requeued and resumes: time limits are for cells, not jobs

# A job: the name of its array, and its place there.
Key = tuple[str, int]


class Batch(NamedTuple):
    """The work of one job: make runs one after another, and leave the outcome of each in a folder."""

    cells: tuple[RunSpec, ...]
    checkpoints: Checkpoints
    outcomes: Path
    halt: Path
    begun: Path
    path: tuple[str, ...]

    def __call__(self) -> None:
        """Make the runs that have no outcome yet, until the file `halt` exists; the file `begun` shows that it
        started."""
        sys.path += [folder for folder in self.path if folder not in sys.path]
        self.begun.touch()
        for cell in self.cells:
            if self.halt.exists():
                return
            if not outcome_file(self.outcomes, cell.id).exists():
                outcome = outcome_of(cell, self.checkpoints, self.halt.exists)
                if outcome.lost:
                    raise MemoryError(outcome.error)  # the job dies, and its cell is submitted by itself
                if outcome.result is not None or outcome.error:
                    write_outcome(self.outcomes, outcome)

    def checkpoint(self) -> Any:
        """Return what submitit queues again when the job's time is up or it is preempted: the same batch."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


class Cluster(Protocol):
    """The interface of a cluster that takes jobs."""

    def submit(self, name: str, batches: Sequence[Batch]) -> None:
        """Submit batches as an array of that name."""
        ...

    def alive(self) -> set[Key] | None:
        """Return the jobs that wait or run; None if that is unknown now."""
        ...

    def cancel(self, jobs: Collection[Key], pending: bool = False) -> None:
        """Cancel some jobs, or only those of them that have not started."""
        ...

    def close(self) -> None:
        """Release the jobs."""
        ...


def open_cluster(executor: str, log: Path, partition: str | None, hours: float) -> Cluster:
    """Open Slurm (`slurm`), or processes on this machine (`local`)."""
    try:
        from submitit import AutoExecutor
    except ImportError:
        raise UserError("submitit is not installed: run `pip install 'ucls[slurm]'`, or run without --slurm") from None
    if executor == "slurm" and not all(shutil.which(command) for command in ("sbatch", "srun", "squeue", "scancel")):
        raise UserError(
            "Slurm is not available on this machine (`sbatch` was not found): run on a login node, or without --slurm"
        )
    wanted: dict[str, Any] = {"timeout_min": max(1, round(60 * hours)), "cpus_per_task": 1}
    if executor == "slurm":
        made = AutoExecutor(log, cluster=executor, slurm_max_num_timeout=REQUEUES)
        made.update_parameters(**wanted, slurm_setup=[f"export {name}=1" for name in THREADS])
        if partition:
            made.update_parameters(slurm_partition=partition)
        return _Slurm(made)
    made = AutoExecutor(log, cluster=executor)
    made.update_parameters(**wanted)
    return _Here(made)


class _Slurm:
    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._ids: dict[Key, str] = {}

    def submit(self, name: str, batches: Sequence[Batch]) -> None:
        self._executor.update_parameters(slurm_job_name=name)
        try:
            _submit(self._executor, batches)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:  # with what sbatch said in many lines
            lines = [line for line in str(error).splitlines() if "error" in line] or [str(error)]
            raise UserError(f"Slurm rejected the jobs: {lines[-1].strip()}") from None

    def alive(self) -> set[Key] | None:
        try:
            answer = subprocess.run(
                ["squeue", "--me", "--array", "--noheader", "--format=%i|%K|%j"],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        self._ids = {}
        for line in answer.stdout.splitlines():
            id, index, name = line.strip().split("|", 2)
            self._ids[name, int(index) if index.isdigit() else 0] = id
        return set(self._ids)

    def cancel(self, jobs: Collection[Key], pending: bool = False) -> None:
        self.alive()
        if ids := [id for key, id in self._ids.items() if key in jobs]:
            command = ["scancel", *(["--state=PENDING"] if pending else []), *ids]
            subprocess.run(command, capture_output=True, timeout=60, check=False)

    def close(self) -> None:
        """Nothing to do: jobs belong to Slurm."""


class _Here:
    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._jobs: dict[Key, Any] = {}

    def submit(self, name: str, batches: Sequence[Batch]) -> None:
        with one_thread_each():
            jobs = _submit(self._executor, batches)
        self._jobs |= {(name, index): job for index, job in enumerate(jobs)}

    def alive(self) -> set[Key]:
        return {key for key, job in self._jobs.items() if not job.done()}

    def cancel(self, jobs: Collection[Key], pending: bool = False) -> None:
        if not pending:  # all begin at once
            for key in self.alive().intersection(jobs):
                self._jobs[key].cancel()

    def close(self) -> None:
        """End the processes, which belong to this driver."""
        self.cancel(self._jobs)
        deadline = time.monotonic() + PATIENCE
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.1)


def _submit(executor: Any, batches: Sequence[Batch]) -> list[Any]:
    with executor.batch():
        jobs = [executor.submit(batch) for batch in batches]
    return jobs
