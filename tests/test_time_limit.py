"""A cell over the time limit fails and says so; nothing else is affected, and what it has reached is not lost."""

import json
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from faults import kills
from faults.driver import SMALL, runner_named
from support.commands import ucls as command
from support.foreign import HANGING
from support.studies import pretend, study_of
from ucls.errors import UserError
from ucls.study import Member, Store, Study, make_run_specs, parse_study, run_study
from ucls.study import running as announcements
from ucls.study.declaration.declare import sweep_study
from ucls.study.runners.base import outcome_of
from ucls.study.runners.run_cell import run_cell
from ucls.study.runners.time_limit import GRACE, ended
from ucls.study.running import announce, running
from ucls.study.slow import running_cells
from ucls.study.storage.partial import Checkpoints, partial_file
from ucls.study.storage.result import pack

TOML = """name = "s"
steps = 20
seeds = "0-1"
time_limit = 2
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
"""


def cells_of(n=1, steps=200, **more):
    return make_run_specs("ucls/RiverSwim-v0", "sarsa", steps=steps, seeds=range(n), settings=SMALL, **more)


RUNNERS = [
    "local",
    pytest.param(
        "submitit",
        marks=[pytest.mark.slow, pytest.mark.skipif(find_spec("submitit") is None, reason="submitit is missing")],
    ),
    pytest.param("ray", marks=[pytest.mark.slow, pytest.mark.skipif(find_spec("ray") is None, reason="no Ray")]),
]


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_hung_cell_is_ended_and_fails_and_the_others_are_done(tmp_path, monkeypatch, runner):
    module = f"hanging_{runner}"
    (tmp_path / f"{module}.py").write_text(HANGING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("PYTHONPATH", str(kills.PATH[1]))
    study = hanging_study(module)
    began = time.monotonic()
    with Store(tmp_path / "s.sqlite", write=True) as store:
        tally = run_study(store, study, runner_named(runner), quiet=True)
        rows, failures = store.rows("s"), store.failures("s")
    assert len(failures) == 1, failures
    [failure] = failures
    assert (tally.done, tally.failed) == (3, 1)
    assert [row.status for row in rows] == ["failed", "done", "done", "done"]
    assert "it did not stop at the time limit of 5 s, so its process was ended" in failure.error
    assert f"{module}.py" in failure.traceback
    assert "in step" in failure.traceback
    assert failure.attempts == 1  # no other worker was given it
    assert time.monotonic() - began < 120
    assert not (tmp_path / "s.sqlite.partial").exists()


def hanging_study(module):
    """A study whose first cell hangs."""
    settings = ({"env.hang": True}, {"env.hang": False})
    made = [make_run_specs(f"{module}:make", "sarsa", steps=20, seeds=range(2), settings=each) for each in settings]
    cells = [made[0][0], *made[1], *cells_of(steps=50)]
    return Study("s", tuple(Member(cell.env, cell) for cell in cells), time_limit=5.0)


def test_a_slow_cell_saves_its_checkpoint_and_resumes_with_a_larger_limit(tmp_path):
    [cell] = cells_of(steps=400_000, keep=True)
    run_cell(cell._replace(steps=10))  # compiled here and now: the limit would end this process if it took too long
    late = outcome_of(cell, Checkpoints(tmp_path, time_limit=0.1))
    assert late.error.startswith("it reached the time limit of 0.1 s; to run it again from its checkpoint, use `ucls")
    assert partial_file(tmp_path, cell.id).exists()
    resumed, whole = outcome_of(cell, Checkpoints(tmp_path, time_limit=3600.0)).result, run_cell(cell).result
    assert (resumed.metrics, resumed.learner) == (whole.metrics, whole.learner)
    assert pack(resumed.arrays) == pack(whole.arrays)
    assert running(tmp_path) == {}


def test_a_stop_at_the_limit_is_a_stop_and_no_failure(tmp_path):
    [cell] = cells_of(steps=400_000)
    run_cell(cell._replace(steps=10))
    outcome = outcome_of(cell, Checkpoints(tmp_path, time_limit=0.1), lambda: True)
    assert (outcome.error, outcome.result) == ("", None)


def test_a_worker_that_died_for_another_reason_is_not_said_to_have_reached_the_limit(tmp_path):
    [cell] = cells_of()
    with announce(tmp_path, cell.id):
        assert ended(cell, Checkpoints(tmp_path, time_limit=5.0), seconds=5.0) is None
        assert ended(cell, Checkpoints(tmp_path), seconds=1e6) is None
        assert "time limit of 5 s" in ended(cell, Checkpoints(tmp_path, time_limit=5.0), seconds=5.0 + GRACE).error


def test_the_limit_is_no_part_of_a_cell_and_of_every_part_of_a_study():
    limited, free = parse_study(TOML), parse_study(TOML.replace("time_limit = 2\n", ""))
    assert (limited.time_limit, free.time_limit) == (2.0, None)
    assert [cell.id for _, cell in limited.members] == [cell.id for _, cell in free.members]
    assert sweep_study(limited).time_limit == 2.0


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", '"2"', "1e9", "true"])
def test_a_wrong_limit_is_refused_in_one_line(value, tmp_path):
    with pytest.raises(UserError, match=r"study, line 4: 'time_limit' is invalid"):
        parse_study(TOML.replace("= 2\n", f"= {value}\n"))
    if value[0] not in '"t':
        (tmp_path / "s.toml").write_text(TOML)
        with pytest.raises(UserError, match=r"--time-limit cannot be .*: give from 0.1 to 100,000,000 seconds"):
            command("study", "run", tmp_path / "s.toml", "--time-limit", value, "--store", tmp_path / "s.sqlite")


def test_the_limit_of_the_command_line_takes_precedence(tmp_path, monkeypatch):
    (tmp_path / "s.toml").write_text(TOML)
    limits = []

    def runner(cells, checkpoints, stop):
        limits.append(checkpoints.time_limit)
        yield from pretend()(cells, checkpoints, stop)

    monkeypatch.setattr("ucls.study.runners.runner_of", lambda *_: runner)
    command("study", "run", tmp_path / "s.toml", "--store", tmp_path / "a.sqlite")
    command("study", "run", tmp_path / "s.toml", "--store", tmp_path / "b.sqlite", "--time-limit", "0.5")
    assert limits == [2.0, 0.5]


# What is running


def slow_cell(store, cells, since):
    """Announce a cell as if it had been running for a while."""
    path = announcements._file(store.with_name(store.name + ".partial"), cells[-1].id)
    about = {**json.loads(path.read_text()), "since": time.time() - since}
    path.write_text(json.dumps(about) + "\n")  # the same file: it stays locked


def test_status_names_cells_that_run_far_longer_than_their_kind(tmp_path):
    cells, path = cells_of(4, 10), tmp_path / "s.sqlite"
    with Store(path, write=True) as store:
        run_study(store, study_of(cells[:3]), pretend(), quiet=True)
        run_study(store, study_of(cells), lambda *_: iter(()), quiet=True)
        partial = store.partial
    with announce(partial, cells[3].id):
        slow_cell(path, cells, 20)
        assert "slow" not in command("study", "status", "s", "--store", path).stdout
        slow_cell(path, cells, 4000)
        text = command("study", "status", "s", "--store", path).stdout
        [found] = json.loads(command("study", "status", "s", "--store", path, "--json").stdout)["running"]
    assert "1 running, the longest for 67 min" in text
    assert "slow: sarsa on ucls/RiverSwim-v0, seed 3: running for 67 min, at the speed of the slowest finished" in text
    assert (found["id"], found["slow"]) == (cells[3].id, True)
    assert 4000 <= found["seconds"] < 4100
    with Store(path) as store:
        assert running_cells(store, "s") == []


def test_what_a_killed_worker_left_is_not_taken_for_a_running_cell(tmp_path):
    code = (
        "import os\nfrom pathlib import Path\nfrom ucls.study.running import announce\n"
        f"with announce(Path({str(tmp_path)!r}), 'abc'):\n    os._exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / ".abc.running").exists()
    assert running(tmp_path) == {}
    for content in (b"", b"\xff", b"[1]", b"{}", b'{"since": "now", "process": 1}', b"9" * 100_000):
        with announce(tmp_path, "abd"):
            (tmp_path / ".abd.running").write_bytes(content)
            assert running(tmp_path) == {}


def test_a_folder_that_cannot_be_written_costs_the_announcement_and_not_the_cell(tmp_path):
    (tmp_path / "file").write_text("")
    [cell] = cells_of()
    assert outcome_of(cell, Checkpoints(tmp_path / "file")).result is not None
