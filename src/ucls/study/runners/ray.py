"""The Ray runner: runs on a Ray cluster, or on a temporary one on this machine. The only import of Ray.

Each worker is an actor that is kept alive and given one cell after another. A worker or a node that is lost loses the
cell it was at, which is given to another worker; how often, `Losses` says.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import Any
from uuid import uuid4

from ucls.errors import ClusterLost, UserError
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.runners.base import PATIENCE, THREADS, Runner, one_thread_each, outcome_of
from ucls.study.runners.cores import cores
from ucls.study.runners.queue import Queue
from ucls.study.runners.time_limit import ended
from ucls.study.storage.partial import Checkpoints

# What Ray reads when it is imported: no environments of uv, no usage statistics, no notices of lost workers (it would
# print them to standard output), no change to what is seen of GPUs. Ray ends a process whose head is gone, but
# only long after `_Head` has noticed, on a busy machine too.
SETTINGS = {
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "600",
}
# In spite of its name: a Ray that is no cluster listens on loopback only, any other on every address.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
OBJECT_STORE = 200 * 2**20
LOOK_SECONDS = 2.0
HEAD_SECONDS = 30.0  # without an answer, after which the head is gone
STARTS = 6  # workers in a row that may die before they answer


def run_ray(
    cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event, address: str = "local", jobs: int | None = None
) -> Iterator[Outcome]:
    """Make the runs on Ray; once `stop` is set the workers save checkpoints and end, within seconds.

    `local` starts a cluster that only this machine can reach; another address is attached to. There are as many
    workers as the cluster has cores, at most `jobs`.
    """
    if checkpoints.folder is not None:
        checkpoints = checkpoints._replace(folder=checkpoints.folder.absolute())
    with _connected(address, jobs) as (api, head), _mark(checkpoints.folder) as mark:
        team = _Team(api, head, checkpoints, mark, jobs)
        try:
            yield from team.run(Queue(cells), stop)
        finally:
            team.end()


def ray_runner(address: str = "local", jobs: int | None = None) -> Runner:
    """The Ray runner at an address."""
    return lambda cells, checkpoints, stop: run_ray(cells, checkpoints, stop, address, jobs)


class Worker:
    """The code of an actor: it makes runs, and can be told to stop from another thread."""

    def __init__(self, checkpoints: Checkpoints, mark: str, path: list[str]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]
        self._checkpoints = checkpoints if _shared(checkpoints.folder, mark) else checkpoints._replace(folder=None)
        self._stop = Event()

    def ready(self) -> None:
        """Answer, which shows that the worker has started."""

    def run(self, cell: RunSpec) -> Outcome:
        """Make a run."""
        return outcome_of(cell, self._checkpoints, self._stop.is_set)

    def stop(self) -> None:
        """Let the current run be saved and stop."""
        self._stop.set()


class _Head:
    """The head process of Ray. Calls that need it block once it is gone, so it is contacted first."""

    def __init__(self, address: str) -> None:
        self._address, self._heard = address, time.monotonic()

    def answers(self) -> bool:
        """Return whether it answers; raise an error if it has not for a while."""
        host, colon, port = self._address.rpartition(":")
        if not colon:  # its address is unknown
            return True
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=LOOK_SECONDS).close()
        except OSError:
            if time.monotonic() - self._heard > HEAD_SECONDS:
                done = "finished runs are saved; restart Ray and repeat the command to resume"
                raise ClusterLost(f"the Ray head node at {self._address} does not answer: {done}") from None
            return False
        self._heard = time.monotonic()
        return True


class _Team:
    """The actors, each with one pending call: its start, or a run."""

    def __init__(self, api: Any, head: _Head, checkpoints: Checkpoints, mark: str, jobs: int | None) -> None:
        self._api, self._head, self._jobs = api, head, jobs
        self._make = api.remote(num_cpus=1, max_concurrency=2)(Worker)
        self._checkpoints = checkpoints
        self._about = (checkpoints, mark, [str(Path(folder).absolute()) for folder in sys.path])
        self._calls: dict[Any, tuple[Any, RunSpec | None]] = {}
        self._given: dict[str, float] = {}
        self._dead_starts = 0

    def run(self, waiting: Queue, stop: Event) -> Iterator[Outcome]:
        """Give out runs until all have an outcome, or until the stop."""
        look = 0.0
        while (waiting or self._busy) and not stop.is_set():
            if time.monotonic() >= look:
                if self._head.answers():
                    self._grow(waiting.ready(alone=not self._busy) + len(self._busy))
                look = time.monotonic() + LOOK_SECONDS
            ready, _ = self._api.wait(list(self._calls), timeout=0.2)
            for call in ready:
                outcome, survived = self._answer(call, waiting)
                look = look if survived else 0.0
                if outcome is not None:
                    yield outcome
        yield from self._stop()

    def end(self) -> None:
        """End every worker."""
        for actor, _ in self._calls.values():
            self._dismiss(actor)
        self._calls.clear()

    @property
    def _busy(self) -> list[Any]:
        return [call for call, (_, cell) in self._calls.items() if cell]

    def _grow(self, cells: int) -> None:
        """Start as many workers as the cluster has cores now; it may have lost or gained some."""
        cores = int(self._api.cluster_resources().get("CPU", 0))
        wanted = min(max(1, cores), self._jobs or cores or 1, cells)
        for _ in range(wanted - len(self._calls)):
            actor = self._make.remote(*self._about)
            self._calls[actor.ready.remote()] = (actor, None)

    def _answer(self, call: Any, waiting: Queue) -> tuple[Outcome | None, bool]:
        """Handle the result of a call; if its worker is alive, give it the next run."""
        actor, cell = self._calls.pop(call)
        try:
            outcome = self._api.get(call)
            self._dead_starts = 0
        except self._api.exceptions.RayError as error:
            self._dismiss(actor)
            if cell and isinstance(error, self._api.exceptions.RayTaskError):
                return Outcome(cell.id, error=_last_line(error), traceback=str(error)), False
            return (self._lost(cell, waiting) if cell else self._missed(error)), False
        if cell and outcome.lost:
            self._dismiss(actor)
            return waiting.put_back(cell, outcome), False
        following = waiting.take(cell, alone=not self._busy)
        if following is None:
            self._dismiss(actor)
        else:
            self._calls[actor.run.remote(following)] = (actor, following)
            self._given[following.id] = time.monotonic()
        return (None if outcome is None else _own(outcome)), True

    def _lost(self, cell: RunSpec, waiting: Queue) -> Outcome | None:
        """Queue a run again whose worker is gone, unless the time limit ended it."""
        seconds = time.monotonic() - self._given[cell.id]
        return ended(cell, self._checkpoints, seconds) or waiting.put_back(cell)

    def _missed(self, error: Exception) -> None:
        self._dead_starts += 1
        if self._dead_starts >= STARTS:
            reason = _last_line(error)
            raise UserError(
                f"Ray's workers do not start: check that this version of ucls is installed on all machines ({reason})"
            )

    def _stop(self) -> Iterator[Outcome]:
        """Ask every worker to save its run, and collect the outcomes of runs that finish in the meantime."""
        if not self._busy:
            return
        for actor, _ in self._calls.values():
            actor.stop.remote()
        ready, _ = self._api.wait(self._busy, num_returns=len(self._busy), timeout=PATIENCE)
        for call in ready:
            with suppress(self._api.exceptions.RayError):
                yield _own(self._api.get(call))

    def _dismiss(self, actor: Any) -> None:
        with suppress(self._api.exceptions.RayError, ClusterLost):
            if self._head.answers():
                self._api.kill(actor)


def _own(outcome: Outcome) -> Outcome:
    """Return an outcome with its own arrays: those from Ray are read-only views of its memory."""
    if outcome.result is None:
        return outcome
    arrays = {name: array.copy() for name, array in outcome.result.arrays.items()}
    return outcome._replace(result=outcome.result._replace(arrays=arrays))


def _last_line(error: Exception) -> str:
    return ([line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__])[-1]


@contextmanager
def _connected(address: str, jobs: int | None) -> Iterator[tuple[Any, _Head]]:
    """Connect to Ray; restore its state and the signal handlers afterwards."""
    for name, value in {**SETTINGS, **(LOOPBACK if address == "local" else {})}.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise UserError("Ray is not installed: run `pip install 'ucls[ray]'`, or run without --ray") from None
    api: Any = ray
    if api.is_initialized():
        yield api, _head(api, address)
        return
    _check_address(address)
    mine = current_thread() is main_thread()
    handler = signal.getsignal(signal.SIGTERM) if mine else None
    one_thread = {"env_vars": dict.fromkeys(THREADS, "1")}
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False, "runtime_env": one_thread}
    here: dict[str, Any] = {
        "num_cpus": jobs or cores(),
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE,
        "_node_ip_address": "127.0.0.1",
    }
    try:
        with one_thread_each():
            api.init(address=address, **quiet, **(here if address == "local" else {}))
    except (OSError, RuntimeError, ValueError, api.exceptions.RayError) as error:
        raise UserError(f"cannot run on Ray at {address}: {_last_line(error)}") from None
    finally:
        if mine:  # Ray takes the signal that the driver stops by
            signal.signal(signal.SIGTERM, handler)
    try:
        yield api, _head(api, address)
    finally:
        api.shutdown()


def _head(api: Any, address: str) -> _Head:
    """The head of the Ray that is connected; a client of Ray knows only the address that it was given."""
    try:
        return _Head(api.get_runtime_context().gcs_address)
    except (AttributeError, RuntimeError):
        return _Head(address.removeprefix("ray://"))


def _check_address(address: str) -> None:
    """Check that something answers at HOST:PORT, where Ray would try for a minute and then end the process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        if address in ("local", "auto"):
            return
        raise UserError(f"a Ray address must be local, auto or HOST:PORT, not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError) as error:
        raise UserError(f"no answer from Ray at {address}: {error}") from None


@contextmanager
def _mark(folder: Path | None) -> Iterator[str]:
    """Write a mark to the folder of unfinished runs, from which workers know that they share it."""
    mark = uuid4().hex
    if folder is None:
        yield mark
        return
    folder.mkdir(parents=True, exist_ok=True)
    _mark_file(folder).write_text(mark)
    try:
        yield mark
    finally:
        _mark_file(folder).unlink(missing_ok=True)


def _shared(folder: Path | None, mark: str) -> bool:
    try:
        return folder is not None and _mark_file(folder).read_text() == mark
    except OSError:
        return False


def _mark_file(folder: Path) -> Path:
    return folder / ".shared"
