"""Studies that are killed, lose workers or nodes, or run elsewhere, end with the results of an undisturbed run."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from threading import Event

import numpy as np
import pytest

from faults import kills
from faults.driver import NAME, SMALL, endless_cell, failing_cell, runner_named, small_study, troubled_study
from faults.troubles import give_trouble, is_the_failure
from support.uncompiled import run_uncompiled
from ucls.core.run import Run
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.study import Member, RunSpec, Store, make_run_specs, run_study
from ucls.study.outcome import Outcome
from ucls.study.runners.base import outcome_of
from ucls.study.runners.outcome_file import outcome_file, read_outcome, write_outcome
from ucls.study.runners.queue import Losses, Queue
from ucls.study.runners.ray import run_ray
from ucls.study.runners.run_cell import run_cell
from ucls.study.runners.slurm import Terms, batches_of, run_slurm
from ucls.study.storage.partial import Checkpoints, partial_file

CELLS = 8
# What is tried are the runners: kernels as plain Python start at once in every new process.
UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'ucls[ray]'")
needs_submitit = pytest.mark.skipif(
    find_spec("submitit") is None, reason="submitit is not installed: pip install 'ucls[slurm]'"
)


@pytest.fixture(scope="module")
def want(tmp_path_factory):
    """The results of an undisturbed run."""
    found = kills.undisturbed(tmp_path_factory.mktemp("undisturbed"), CELLS)
    assert len(found) == CELLS
    return found


def cells_of(agent="sarsa", n=3, steps=200, **more):
    return make_run_specs("ucls/RiverSwim-v0", agent, steps=steps, seeds=range(n), settings=SMALL, **more)


@pytest.fixture(
    scope="module",
    params=["local", pytest.param("submitit", marks=needs_submitit), pytest.param("ray", marks=needs_ray)],
)
def seen(request, tmp_path_factory):
    """What was seen of a study in trouble on each runner."""
    return give_trouble(tmp_path_factory.mktemp("trouble"), CELLS, request.param)


@pytest.fixture(scope="module")
def wanted(want):
    """The results of an undisturbed run that a study in trouble should have too."""
    return {cell.id: want[cell.id] for _, cell in troubled_study(CELLS).members if cell.id in want}


class TestEveryRunner:
    """The same promises of every runner, tested with one study that has a cell that fails and one that never ends,
    whose workers are all killed once, and which is stopped when nothing but the endless cell is left."""

    def test_every_cell_gets_one_outcome(self, seen, wanted):
        assert sorted(seen.outcomes) == sorted([*wanted, failing_cell().id])

    def test_a_failing_cell_is_reported_and_the_others_go_on(self, seen, wanted):
        assert [is_the_failure(failure) for failure in seen.failures] == [True]
        assert {id: seen.status[id] for id in wanted} == dict.fromkeys(wanted, "done")

    def test_results_are_those_of_an_undisturbed_run(self, seen, wanted):
        assert seen.results == wanted

    def test_the_cell_of_a_killed_worker_is_run_again_from_its_checkpoint(self, seen):
        at_kill, after, _ = seen.steps
        assert seen.killed >= 1
        assert 0 < at_kill < after

    def test_a_stop_takes_seconds_and_keeps_what_is_unfinished(self, seen):
        assert seen.stop_seconds < 60  # a few, on a machine that has time
        assert seen.status[endless_cell().id] == "waiting"
        assert seen.steps[2] >= seen.steps[1]

    def test_only_the_stop_is_announced_and_no_other_machine_can_connect(self, seen):
        assert seen.printed == "ucls: saving unfinished runs; press Ctrl-C twice more to quit without saving\n"
        assert seen.listened_on <= {"127.0.0.1", "::1"}


def test_a_study_killed_at_random_moments_equals_an_undisturbed_one(tmp_path, want):
    trial = kills.kill_the_driver(tmp_path, CELLS, 2, want, seed=1)
    assert trial.sound, trial
    assert CELLS <= trial.outcomes <= CELLS + 2


@pytest.mark.skipif("UCLS_SLURM_PARTITION" not in os.environ, reason="UCLS_SLURM_PARTITION names no Slurm to try")
def test_slurm_gives_the_same_results(tmp_path, want):
    assert kills.undisturbed(tmp_path, CELLS, "slurm") == want
    assert not (tmp_path / "undisturbed-slurm.sqlite.slurm").exists()


@pytest.mark.slow
@needs_ray
def test_a_ray_node_may_be_lost(tmp_path, want):
    trial = kills.lose_a_node(tmp_path, CELLS, want)
    assert trial.sound, trial


def start(code, **more):
    """Start some lines of Python in a process group of their own, with the compiler off."""
    environment = {**os.environ, **UNCOMPILED}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, start_new_session=True, **more)


def test_a_cell_killed_in_its_middle_goes_on_from_its_checkpoint(tmp_path):
    cell = cells_of("ucls", 1, 6000, keep=True)[0]
    code = f"""
from pathlib import Path
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.storage.partial import Checkpoints
from ucls.study.runners.run_cell import run_cell
run_cell(RunSpec.from_json({cell.json()!r}), Checkpoints(Path({str(tmp_path)!r}), 0.0))
"""
    process = start(code)
    path, deadline = partial_file(tmp_path, cell.id), time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    before = checkpoint.load(path)[0]["steps"]
    assert 0 < before < cell.steps

    run_uncompiled(
        f"import sys\nfrom pathlib import Path\nsys.path.append({str(kills.PATH[0])!r})\n"
        f"from test_runners import check_continued\n"
        f"check_continued({cell.json()!r}, Path({str(tmp_path)!r}), {before})"
    )


def check_continued(content, folder, before):
    """Run a cell from its checkpoint, and see that it takes only the steps that are left."""
    cell, advanced, advance = RunSpec.from_json(content), [], Run.advance
    Run.advance = lambda run, steps, *limit: advanced.append(steps) or advance(run, steps, *limit)
    continued = run_cell(cell, Checkpoints(folder)).result
    assert sum(advanced) == cell.steps - before
    whole = run_cell(cell).result
    assert continued.metrics == whole.metrics
    assert continued.learner == whole.learner
    assert all(np.array_equal(continued.arrays[name], whole.arrays[name]) for name in whole.arrays)


def test_an_outcome_comes_back_from_its_file_as_it_was(tmp_path):
    for cell in (*cells_of(n=1, keep=True), *cells_of(n=1, steps=1)):
        outcome = outcome_of(cell, Checkpoints())
        write_outcome(tmp_path, outcome)
        again = read_outcome(outcome_file(tmp_path, cell.id))
        assert again.about == outcome.about
        assert again.result.metrics == outcome.result.metrics
        assert again.result.learner == outcome.result.learner
        assert {name: a.tobytes() for name, a in again.result.arrays.items()} == {
            name: a.tobytes() for name, a in outcome.result.arrays.items()
        }
    failed = Outcome("abc", error="no: memory", traceback="line\nline", attempts=3)
    write_outcome(tmp_path, failed)
    assert read_outcome(outcome_file(tmp_path, "abc")) == failed


def test_batches_hold_one_kind_and_every_cell_once():
    cells = [*cells_of(n=7), *cells_of("ucls", 4)]
    batches = batches_of(cells, 3)
    assert [len(batch) for batch in batches] == [4, 3, 4]
    assert [cell for batch in batches for cell in batch] == cells


def test_a_cell_lost_three_times_waits_until_it_is_alone_and_fails_after_three_more():
    cell, other = cells_of(n=2)
    queue = Queue([cell])
    for _ in range(3):
        assert queue.put_back(queue.take(None, alone=False)) is None
    assert len(queue) == 1
    assert queue.ready(alone=False) == 0
    assert queue.take(None, alone=False) is None
    for _ in range(2):
        assert queue.ready(alone=True) == 1
        assert queue.put_back(queue.take(None, alone=True)) is None
    assert queue.put_back(queue.take(None, alone=True)).attempts == 6
    assert len(queue) == 0
    assert Losses().count(other) is None


def test_what_was_put_aside_comes_after_all_others():
    suspect, *others = cells_of(n=3)
    queue = Queue([suspect])
    for _ in range(3):
        queue.put_back(queue.take(None, alone=True))
    for other in others:
        queue.put_back(other)
    assert [queue.take(None, alone=True).seed for _ in range(3)] == [1, 2, 0]


class FakeCluster:
    """A cluster whose jobs do what a function says, at once."""

    def __init__(self, work):
        self.work, self.submitted, self.living = work, [], set()

    def submit(self, name, batches):
        self.submitted += [[cell.seed for cell in batch.cells] for batch in batches]
        for batch in batches:
            self.work(batch)

    def alive(self):
        return self.living

    def cancel(self, jobs, pending=False):
        pass

    def close(self):
        pass


def run_on_fake(work, cells, folder, monkeypatch, jobs=1):
    cluster = FakeCluster(work)
    monkeypatch.setattr("ucls.study.runners.slurm.open_cluster", lambda *_: cluster)
    terms = Terms(jobs=jobs, look_seconds=0.0)
    found = {o.id: o for o in run_slurm(cells, Checkpoints(folder / "s.partial"), Event(), terms)}
    return [found[cell.id] for cell in cells], cluster.submitted


def test_the_cell_that_kills_its_job_fails_alone(tmp_path, monkeypatch):
    cells = cells_of(n=4, steps=1)

    def work(batch):  # dies at seed 1
        bad = [cell.seed for cell in batch.cells].index(1) if any(c.seed == 1 for c in batch.cells) else 4
        batch._replace(cells=batch.cells[:bad])()

    outcomes, submitted = run_on_fake(work, cells, tmp_path, monkeypatch)
    assert [bool(outcome.error) for outcome in outcomes] == [False, True, False, False]
    assert outcomes[1].attempts == 6
    assert submitted == [[0, 1, 2, 3], [1], [2, 3], [1], [1], [1], [1]]


def test_a_cluster_where_jobs_die_before_they_begin_is_no_cells_fault(tmp_path, monkeypatch):
    began = []
    with pytest.raises(UserError, match="see the logs in"):
        run_on_fake(began.append, cells_of(n=5, steps=1), tmp_path, monkeypatch)
    assert [len(batch.cells) for batch in began] == [5, 5, 5]


def test_what_jobs_left_for_a_killed_driver_is_taken_and_not_run_again(tmp_path, monkeypatch):
    cells = cells_of(n=3, steps=1)
    write_outcome(tmp_path / "s.slurm" / "outcomes", outcome_of(cells[1], Checkpoints()))
    outcomes, submitted = run_on_fake(lambda batch: batch(), cells, tmp_path, monkeypatch)
    assert all(outcome.result is not None for outcome in outcomes)
    assert submitted == [[0, 2]]
    assert not (tmp_path / "s.slurm").exists()


@pytest.mark.parametrize(("halted", "submitted"), [(False, [[2]]), (True, [[0, 1, 2]])])
def test_jobs_that_outlive_their_driver_are_waited_for(tmp_path, monkeypatch, halted, submitted):
    cells, folder = cells_of(n=3, steps=1), tmp_path / "s.slurm"
    folder.mkdir()
    (folder / "ucls-abc.json").write_text(json.dumps([[cell.id for cell in cells[:2]]]))
    if halted:  # the driver was not killed but stopped: its jobs are about to end
        (folder / "ucls-abc.halt").touch()

    def work(batch):
        for cell in cells:  # the older job ends too
            write_outcome(batch.outcomes, outcome_of(cell, Checkpoints()))
        cluster.living = set()

    cluster = FakeCluster(work)
    cluster.living = {("ucls-abc", 0)}
    monkeypatch.setattr("ucls.study.runners.slurm.open_cluster", lambda *_: cluster)
    found = list(run_slurm(cells, Checkpoints(tmp_path / "s.partial"), Event(), Terms(jobs=1, look_seconds=0.0)))
    assert sorted(outcome.id for outcome in found) == sorted(cell.id for cell in cells)
    assert cluster.submitted == submitted


@needs_submitit
def test_jobs_find_an_algorithm_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "my_own_agent.py").write_text("from ucls.algorithms.sarsa import *\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    study = small_study(4)._replace(members=())
    own, ours = cells_of("my_own_agent", 1, 50), cells_of("sarsa", 1, 50)
    members = tuple(Member(cell.agent, cell) for cell in (*own, *ours))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("PYTHONPATH", str(kills.PATH[1]))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study._replace(members=members), runner_named("submitit"), quiet=True)
        rows = store.rows(NAME)
    assert [row.status for row in rows] == ["done", "done"]
    assert rows[0].metrics == rows[1].metrics


def test_what_is_not_there_is_said_in_one_line(tmp_path, monkeypatch):
    def ask(runner):
        return list(runner(cells_of(n=1), Checkpoints(tmp_path), Event()))

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'ucls\[ray\]'"):
        ask(run_ray)
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UserError, match=r"pip install 'ucls\[slurm\]'"):
        ask(run_slurm)


@needs_submitit
def test_slurm_that_is_not_there_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="Slurm is not available on this machine"):
        list(run_slurm(cells_of(n=1), Checkpoints(tmp_path / "p"), Event()))


def test_an_address_where_nobody_answers_is_said_in_one_line():
    from ucls.study.runners.ray import _check_address

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        with pytest.raises(UserError, match="no answer from Ray at 127"):
            _check_address(f"127.0.0.1:{taken.getsockname()[1]}")
    with pytest.raises(UserError, match="HOST:PORT"):
        _check_address("here")
