"""A share of the torture that `faults.torture` hands out: every mutant is refused in one line, or does no harm."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from faults.torture import campaign, checkpoints, commands, environments, logs, soak, workers, wrapped

ROOT = Path(__file__).parents[1]


def test_spoilt_checkpoints_are_refused_or_do_no_harm():
    found = workers.run(checkpoints.prepare(["sarsa"]), range(300))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found)["refused"] > 200


def test_spoilt_environments_are_named_or_do_no_harm():
    found = workers.run(environments.prepare(["sarsa"]), range(200))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found)["refused"] > 100


def test_an_environment_in_random_wrappers_is_the_same_after_loading_or_refused():
    found = workers.run(wrapped.trial, range(120))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found).keys() >= {"same", "refused", "told", "alone"}


def test_a_seed_makes_one_mutant():
    agents = ("sarsa",)
    assert [checkpoints.mutant(seed, agents)[1:] for seed in range(20)] == [
        checkpoints.mutant(seed, agents)[1:] for seed in range(20)
    ]


def test_what_kills_or_hangs_a_worker_is_an_outcome():
    def attempt(seed):
        if seed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if seed == 4:
            time.sleep(600)
        if seed == 5:
            raise RuntimeError("two\nlines")
        if seed == 6:
            os._exit(3)
        return "fine"

    found = workers.run(attempt, range(8), seconds=5.0)
    assert [outcome.seed for outcome in found] == list(range(8))
    ends = [outcome.end for outcome in found]
    assert ends == ["fine", "fine", "signal", "fine", "hang", "traceback", "signal", "fine"]
    assert [found[2].detail, found[6].detail] == ["SIGKILL", "exit 3"]
    assert found[5].detail.startswith("RuntimeError: two (")
    assert workers.tally(found) == {"fine": 4, "signal": 2, "hang": 1, "traceback": 1}


@pytest.mark.slow
def test_much_torture_of_every_algorithm():
    found = workers.run(checkpoints.prepare(), range(1000, 4000))
    assert [outcome for outcome in found if not outcome.sound] == []


@pytest.mark.parametrize("trials", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_absurd_command_lines_end_in_one_line(trials):
    words = [sys.executable, "-m", "bench", "torture", "commands", "--trials", str(trials)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert (done.returncode, found["tried"], found["shown"]) == (0, trials, [])
    assert found["ends"].keys() <= {"fine", "refused", "failed"}


def test_every_part_can_be_found_and_its_faults_are_counted(monkeypatch):
    for name in campaign.PARTS:
        part = import_module(f"faults.torture.{name}")
        assert hasattr(part, "carry_out") or hasattr(part, "attempt"), name
    monkeypatch.setattr(logs, "attempt", lambda seed: "fine" if seed != 10**9 + 1 else {}["nothing"])
    found = campaign.run("logs", 3, 1)
    assert (found["tried"], found["ends"], found["faults"]) == (3, {"fine": 2, "traceback": 1}, 1)
    assert found["shown"][0][:2] == [10**9 + 1, "traceback"]


def test_a_command_line_is_the_same_for_the_same_seed():
    lines = [[commands.command(random.Random(seed)) for seed in range(200)] for _ in range(2)]
    assert lines[0] == lines[1]
    assert {line[0] for line in lines[0]} >= {"train", "study", "paper", "diagnose", "evaluate-log"}


def test_a_long_run_keeps_its_memory_its_numbers_and_its_checkpoint():
    found = soak.soak("sarsa", 3000, 0)
    assert (found["faults"], found["steps"], found["same"]) == ([], 3000, True)


def test_a_long_run_that_cannot_go_on_as_it_was_or_grows_is_a_fault(monkeypatch):
    rows = iter(range(0, 10**12, 10**9))
    monkeypatch.setattr(soak, "_resident", lambda: next(rows))
    monkeypatch.setattr(soak, "_same", lambda *_: False)
    assert soak.soak("sarsa", 1000, 0)["faults"] == ["same", "memory grew by 90,000,000,000 bytes"]
