"""examples/my_agent.py: an algorithm outside the package keeps the promises of those inside."""

import json

import numpy as np
import pytest

import my_agent
from support.commands import ucls
from ucls.core.run import Run, make_run
from ucls.errors import UserError
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.runners.local import local_runner
from ucls.testing import check_algorithm, small_run

RIVER = "ucls/RiverSwim-v0"


def test_it_keeps_every_promise():
    check_algorithm("my_agent", [RIVER])


@pytest.mark.slow
def test_it_keeps_every_promise_in_other_worlds(unlike):
    check_algorithm("my_agent", [unlike])


def test_a_saved_run_goes_on_bit_for_bit_and_its_file_names_no_code(unlike, tmp_path):
    run = small_run(unlike, "my_agent", seed=9)
    run.advance(333)
    path = run.save(tmp_path / "run.safetensors")
    rest = run.advance(300)
    with pytest.raises(UserError, match="give its module"):
        Run.load(path)
    again = Run.load(path, my_agent)
    assert np.array_equal(rest.rewards, again.advance(300).rewards)


def test_the_command_trains_and_resumes_it(tmp_path):
    words = ("train", RIVER, "--algo", "my_agent")
    found = json.loads(ucls(*words, "--steps", 700, "--set", "kappa=2", "--out", tmp_path / "whole", "--json").stdout)
    assert (found["agent"], found["settings"]) == ("my_agent", {"alpha": 0.1, "kappa": 2.0})
    ucls(*words, "--steps", 400, "--set", "kappa=2", "--out", tmp_path / "part")
    ucls(*words, "--steps", 300, "--resume", tmp_path / "part", "--out", tmp_path / "rest")
    files = [(tmp_path / name / "agent.safetensors").read_bytes() for name in ("whole", "rest")]
    assert files[0] == files[1]
    again = ("train", RIVER, "--steps", 10, "--resume", tmp_path / "part")
    with pytest.raises(UserError, match="uses the algorithm 'my_agent': name its module with --algo"):
        ucls(*again)
    with pytest.raises(UserError, match="uses the algorithm 'my_agent', not 'sarsa'"):
        ucls(*again, "--algo", "sarsa")


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--max-steps", "500"),
        pytest.param(("explain", "--out", "maps.html"), marks=pytest.mark.slow),  # docs/extend.md has these two
        pytest.param(("record-video", "--out", "film.gif"), marks=pytest.mark.slow),
    ],
)
def test_the_commands_for_a_saved_run_work_for_it(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ucls("train", RIVER, "--algo", "my_agent", "--steps", 300, "--out", "mine")
    command, *more = words
    assert ucls(command, "mine", "--algo", "my_agent", *more).exit_code == 0
    assert all((tmp_path / word).is_file() for word in more if "." in word)


def test_a_cell_names_it_too(tmp_path):
    [cell] = make_run_specs(RIVER, "my_agent", steps=300, seeds=[4], settings={"kappa": 2.0}, resolution=1)
    assert cell.code, "a changed file makes other cells"
    expected = make_run(RIVER, "my_agent", seed=4, settings={"kappa": 2.0}).advance(300)
    with Store(tmp_path / "runs.sqlite", write=True) as store:
        run_study(store, Study("mine", (Member("mine", cell),)), local_runner(1), quiet=True)
        found = store.result(cell.id)
    assert found is not None
    assert np.array_equal(found.arrays["curve"], expected.rewards)


def test_it_finds_the_top_of_the_river():
    """Always up earns 0.222 a step, Sarsa without the bonus 0.005."""
    assert make_run(RIVER, "my_agent", seed=0).advance(20_000).final_reward_per_step > 0.15
    assert make_run(RIVER, "my_agent", seed=0, settings={"kappa": 0}).advance(20_000).final_reward_per_step < 0.01
