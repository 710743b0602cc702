"""A share of the torture that `bench.torture` hands out: every mutant is refused in one line, or does no harm."""

import os
import random
import signal
import time

import pytest

from bench.torture import checkpoints, commands, environments, workers


def test_spoilt_checkpoints_are_refused_or_do_no_harm():
    found = workers.run(checkpoints.prepare(["sarsa"]), range(300))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found)["refused"] > 200


def test_spoilt_environments_are_named_or_do_no_harm():
    found = workers.run(environments.prepare(["sarsa"]), range(200))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found)["refused"] > 100


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
            time.sleep(60)
        if seed == 5:
            raise RuntimeError("two\nlines")
        if seed == 6:
            os._exit(3)
        return "fine"

    found = workers.run(attempt, range(8), seconds=1.0)
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


@pytest.mark.slow
def test_absurd_command_lines_end_in_one_line():
    assert {commands.attempt(seed) for seed in range(60)} <= {"fine", "refused", "failed"}


def test_a_command_line_is_the_same_for_the_same_seed():
    lines = [[commands.command(random.Random(seed)) for seed in range(200)] for _ in range(2)]
    assert lines[0] == lines[1]
    assert {line[0] for line in lines[0]} >= {"train", "study", "paper", "diagnose", "evaluate-log"}
