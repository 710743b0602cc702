"""The local runner: a pool of processes on this machine, each given one run after another."""

import multiprocessing
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from threading import Event

from ucls._util import compiling as _compiling
from ucls.core.progress import CompileProgress
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.runners.base import PATIENCE, Runner, one_thread_each, outcome_of
from ucls.study.runners.cores import cores
from ucls.study.runners.queue import Queue
from ucls.study.runners.time_limit import ended
from ucls.study.storage.partial import Checkpoints

STOP = None
CONTEXT = multiprocessing.get_context("spawn")


def run_local(
    cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event, jobs: int | None = None
) -> Iterator[Outcome]:
    """Make the runs in a pool of processes; once `stop` is set they save checkpoints and end, within seconds.

    A worker that is killed or short of memory loses the cell it was at, which is given to another; how often, `Losses`
    says. One that the time limit ended is replaced, and its cell has failed.
    """
    waiting = Queue(cells)
    workers: list[_Worker] = []
    told = Once(_compiling.is_silent())
    try:
        workers += [_Worker(checkpoints, told) for _ in range(min(jobs or cores(), len(cells)))]
        for worker in workers:
            worker.give(waiting.take(None, alone=False))
        while any(worker.cell for worker in workers) and not stop.is_set():
            ready = wait([worker.pipe for worker in workers if worker.cell], timeout=0.2)
            for i, worker in enumerate(workers):
                if worker.pipe not in ready:
                    continue
                outcome, cell = worker.answer(), worker.cell
                assert cell is not None
                if outcome is None or outcome.lost:  # the process is gone, or has no memory left
                    late = ended(cell, checkpoints, worker.seconds) if outcome is None else None
                    worker.end()
                    worker = workers[i] = _Worker(checkpoints, told)
                    outcome = late or waiting.put_back(cell, outcome)
                others = any(other.cell for other in workers if other is not worker)
                worker.give(waiting.take(cell, alone=not others))
                if outcome is not None:
                    yield outcome
        yield from _stop(workers)
    finally:
        for worker in workers:
            worker.end()


def local_runner(jobs: int | None = None) -> Runner:
    """Return the local runner with a number of processes; by default as many as there are cores."""
    return lambda cells, checkpoints, stop: run_local(cells, checkpoints, stop, jobs)


def _stop(workers: "list[_Worker]") -> Iterator[Outcome]:
    """Ask every worker to save its run and end, and collect the outcomes of runs that finish in the meantime."""
    for worker in workers:
        worker.stop()
    deadline = time.monotonic() + PATIENCE
    for worker in workers:
        left = max(0.0, deadline - time.monotonic())
        if worker.cell and worker.pipe.poll(left) and (outcome := worker.answer()):
            yield outcome
        worker.process.join(max(0.0, deadline - time.monotonic()))


class _Worker:
    """A process and the pipe to it; `cell` is its current run."""

    def __init__(self, checkpoints: Checkpoints, told: "Once") -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=run_given, args=(theirs, checkpoints, told), daemon=True)
        with one_thread_each():
            self.process.start()
        theirs.close()  # so that either side sees the other's end
        self.cell: RunSpec | None = None
        self._given = 0.0

    @property
    def seconds(self) -> float:
        """The seconds since its run began."""
        return time.monotonic() - self._given

    def give(self, cell: RunSpec | None) -> None:
        """Give it a run; with none left it stays idle."""
        self.cell, self._given = cell, time.monotonic()
        if cell is not None:
            _send(self.pipe, cell)

    def answer(self) -> Outcome | None:
        """Return the outcome of its run; None if the process is gone."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        """Ask it to end."""
        _send(self.pipe, STOP)

    def end(self) -> None:
        """End it."""
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()


class Once:
    """A message that only one of several processes prints; with `silent`, none."""

    def __init__(self, silent: bool = False) -> None:
        self._chances = CONTEXT.Semaphore(0 if silent else 1)

    def first(self) -> bool:
        """Whether this is the first call in any process."""
        return self._chances.acquire(block=False)


class _Termination:
    """Whether SIGTERM has asked this worker to end: at once if it is idle, otherwise after saving its run."""

    def __init__(self) -> None:
        self.asked = self.busy = False
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:
        self.asked = True
        if not self.busy:
            raise SystemExit


def run_given(pipe: Connection, checkpoints: Checkpoints, told: "Once") -> None:
    """Make the runs that come through a pipe, until it closes; a message during a run means stop."""
    _compiling.watch(CompileProgress(told.first, bar=False))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the driver decides
    termination = _Termination()
    with suppress(EOFError, OSError):  # the driver is gone
        while (cell := pipe.recv()) is not STOP:
            termination.busy = True
            outcome = outcome_of(cell, checkpoints, lambda: termination.asked or pipe.poll())
            # A worker that was asked to end and has no outcome sends none: it is gone, and its cell goes to another.
            if not termination.asked or outcome.result is not None or outcome.error:
                _send(pipe, outcome)
            termination.busy = False
            if termination.asked:
                return


def _send(pipe: Connection, message: object) -> None:
    with suppress(OSError):  # the other side is gone, which the next reading of its pipe tells
        pipe.send(message)
