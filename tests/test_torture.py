"""A share of the torture that `faults.torture` hands out: every mutant is refused in one line, or does no harm."""

import json
import os
import random
import signal
import time

import pytest

from faults.torture import campaign, checkpoints, commands, environments, page, soak, workers, wrapped
from faults.torture.parts import STRANGER, Ask, parts
from ucls.algorithms import ALGORITHMS


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
    found = workers.run(checkpoints.prepare([*ALGORITHMS, STRANGER]), range(1000, 4000))
    assert [outcome for outcome in found if not outcome.sound] == []


@pytest.mark.parametrize(("minutes", "tried"), [(0.03, 15), pytest.param(0.4, 200, marks=pytest.mark.slow)])
def test_absurd_command_lines_end_in_one_line(tmp_path, minutes, tried):
    assert campaign.main(["--only", "commands", "--minutes", str(minutes), "--out", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "commands.json").read_text())
    assert (found["tried"], found["faults"]) == (tried, 0)
    assert found["ends"].keys() <= {"fine", "refused", "failed"}


def test_a_command_line_is_the_same_for_the_same_seed():
    lines = [[commands.command(random.Random(seed)) for seed in range(200)] for _ in range(2)]
    assert lines[0] == lines[1]
    assert {line[0] for line in lines[0]} >= {"train", "study", "paper", "diagnose", "evaluate-log"}


def test_trials_end_when_the_time_is_up():
    found = workers.run(lambda seed: time.sleep(0.2) or "fine", range(100), until=time.monotonic() + 2.0)
    assert 1 <= len(found) <= 10
    assert workers.tally(found) == {"fine": len(found)}


def test_a_long_run_keeps_its_memory_its_numbers_and_its_checkpoint():
    found = soak.carry_out(Ask(3000, 0, time.monotonic() + 600), "sarsa")
    assert (found["faults"], found["tried"], found["ends"]) == (0, 3000, {"sound": 1})
    assert found["rows"][0]["same"]


def test_a_long_run_that_cannot_go_on_as_it_was_or_grows_is_a_fault(monkeypatch):
    rows = iter(range(0, 10**12, 10**9))
    monkeypatch.setattr(soak, "_resident", lambda: next(rows))
    monkeypatch.setattr(soak, "_same", lambda *_: False)
    found = soak.carry_out(Ask(1000, 0, time.monotonic() + 600), "sarsa")
    assert found["shown"] == ["sarsa: same", "sarsa: memory grew by 90,000,000,000 bytes"]


def test_new_tallies_replace_those_of_the_same_part_and_leave_the_others(tmp_path):
    file = tmp_path / "tallies.json"
    old = {"tried": 7, "wanted": 7, "ends": {}, "faults": 0, "shown": [], "compiled": False, "commit": "c", "date": "d"}
    page.merge([{"part": name, "family": name, **old} for name in ("studies", "logs")], file)
    words = ["--only", "studies", "--minutes", "0.01", "--out", str(tmp_path / "out"), "--data", str(file)]
    assert campaign.main(words) == 0
    assert [f["tried"] for f in page.load(file)] == [80, 7]
    said = page.sections(page.load(file))
    assert said["verdict"] == "None of the 87 fuzzing trials ended in a traceback, crash or hang."
    assert "| 80 of 20,000 | 0 |" in said["trials"]
    assert "| uncompiled | 7 | 0 |" in said["trials"]


def test_every_algorithm_has_its_parts_and_every_fault_is_on_the_page():
    names = {part.name for part in parts()}
    assert names >= {f"{family}-{agent}" for family in ("checkpoints", "soak") for agent in (*ALGORITHMS, STRANGER)}
    bad = {"tried": 3, "wanted": 3, "shown": [[7, "signal", "SIGSEGV"]], "faults": 1, "compiled": True}
    text = page.verdict([{"part": "logs", "family": "logs", "commit": "c", "date": "d", **bad}])
    assert text == "These trials failed: logs: 7, signal, SIGSEGV."
