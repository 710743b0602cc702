"""Compiling is told of once and only where it takes long, and `ucls compile` leaves nothing to compile."""

import io
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import ucls
from support.commands import ucls as command
from support.params import always
from ucls import Agent, UserError
from ucls._util import compiling as _compiling
from ucls._util.compiling import Compiled
from ucls.algorithms import ALGORITHMS
from ucls.core import progress
from ucls.core.progress import COMPILING, CompileProgress
from ucls.core.run import make_run
from ucls.envs import ENVIRONMENTS
from ucls.study.runners.local import Once
from ucls.train import precompile

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


class Screen(io.StringIO):
    """A terminal that remembers what was written to it."""

    def isatty(self):
        return True


def hear(notice, *seconds):
    for i, second in enumerate(seconds):
        notice(Compiled(i, second, False))
    notice(Compiled(len(seconds), seconds[-1], True))


def test_what_takes_less_than_a_second_is_not_told(capsys):
    hear(CompileProgress(), 0.1, 0.5, 0.9)
    notice = CompileProgress()
    notice(Compiled(1, 1.2, True))  # it is over: nobody waits any more
    assert capsys.readouterr().err == ""


def test_one_line_says_that_kernels_are_compiled_where_there_is_no_terminal(capsys):
    notice = CompileProgress()
    hear(notice, 0.5, 1.5, 3.0)
    hear(notice, 3.1, 4.0)
    assert capsys.readouterr().err == COMPILING + "\n"


def test_of_several_processes_one_says_it(capsys):
    once = Once()
    for _ in range(3):
        hear(CompileProgress(once.first, bar=False), 0.5, 1.5)
    hear(CompileProgress(Once(silent=True).first), 0.5, 1.5)
    assert capsys.readouterr().err == COMPILING + "\n"


def test_the_bar_of_a_run_makes_place_for_that_of_compiling(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    notice = CompileProgress()
    with progress.Progress(10) as bar:
        hear(notice, 0.5, 1.5, 3.0)
        assert COMPILING in screen.getvalue()
        assert "kernels" in screen.getvalue().partition(COMPILING)[2]
        bar.update(10, 1, 2.0)
    assert not progress._shown


def test_a_quiet_study_tells_nobody_and_gives_the_word_back():
    before = _compiling.clock.watcher
    with _compiling.silence():
        assert _compiling.is_silent()
        with _compiling.silence(False):
            assert _compiling.is_silent()
    assert _compiling.clock.watcher is before


@compiled
@pytest.mark.parametrize("agent", always(("sarsa",), ("sarsa", "ucls-exact")))
def test_what_was_compiled_ahead_is_not_compiled_again(agent):
    assert precompile.carry_out(precompile.Task("ucls/OneState-v0", agent, {})).error is None
    before = _compiling.clock.kernels
    learned = Agent("ucls/OneState-v0", agent, seed=1).learn(20)
    learned.value_estimates([0.0])
    learned.predict([0.0])
    learned.learner.survey(np.zeros((3, 1)))
    if agent == "ucls-exact":
        learned.uncertainty([0.0])
    make_run("ucls/OneState-v0", agent).advance(20)
    assert _compiling.clock.kernels == before


def test_tasks_are_all_of_ours_or_what_was_asked_for():
    every = precompile.tasks()
    assert len({(task.env, task.agent) for task in every}) == len(every)
    assert {task.agent for task in every} == {*ALGORITHMS}
    assert {task.env for task in every} == {*ENVIRONMENTS}
    assert all(task.agent != other.agent for task, other in itertools.pairwise(every)), "neighbors are different agents"
    assert precompile.tasks("FrozenLake-v1", ["sarsa"]) == [precompile.Task("FrozenLake-v1", "sarsa", {})]


def test_a_task_that_cannot_be_is_told_of():
    assert "unknown environment" in str(precompile.carry_out(precompile.Task("nowhere", "sarsa", {})).error)
    assert "unknown" in str(precompile.carry_out(precompile.Task("ucls/OneState-v0", "nobody", {})).error)


def test_without_a_compiler_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(UserError, match="nothing can be compiled"):
        list(precompile.compile_all(precompile.tasks(), 1))


@compiled
def test_the_command_says_what_it_did_and_how_much_is_kept():
    found = json.loads(command("compile", "ucls/OneState-v0", "--algo", "sarsa", "--json").stdout)
    assert [(one["env"], one["agent"], one["error"]) for one in found["compiled"]] == [
        ("ucls/OneState-v0", "sarsa", None)
    ]
    assert found["cache"]["kernels"] > 0
    assert found["cache"]["bytes"] > 0
    said = command("compile", "ucls/OneState-v0", "--algo", "sarsa").stdout
    assert "sarsa in ucls/OneState-v0: already compiled" in said
    assert "MiB" in said


STUDY = """name = "twice"
steps = 30
seeds = "0-5"
[[run]]
algorithm = "sarsa"
env = "ucls/OneState-v0"
"""


@compiled
@pytest.mark.slow
def test_the_workers_of_a_study_compile_once_and_say_it_once(tmp_path):
    (tmp_path / "twice.toml").write_text(STUDY)
    cache = tmp_path / "cache"
    environment = {**os.environ, "UCLS_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(ucls.__file__).parents[1])}
    words = [sys.executable, "-m", "ucls", "study", "run", "twice.toml", "--jobs", "2"]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.count(COMPILING) == 1
    files = [path.name for path in cache.rglob("*.kernel")]
    assert sum(name.startswith("loop-") for name in files) == 1
    assert not list(cache.glob("kernels/**/*.lock"))
