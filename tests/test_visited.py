"""What is read of a run in an environment that is not ours: against its own returns, and without changing it."""

import json

import numpy as np
import pytest

import foreign
from ucls.diagnostics.verdict import PESSIMISTIC, WIDE, WRONG
from ucls.diagnostics.visited import EXPLORING, FAULTLESS, UNSEEN, judge
from ucls.runs.history import TERMINATED, TRUNCATED
from ucls.runs.trail import Visit, known_returns


def test_returns_are_those_of_the_definition_and_known_only_if_little_is_beyond():
    rng = np.random.default_rng(1)
    ends = rng.choice([0, TERMINATED, TRUNCATED], 300, p=[0.9, 0.05, 0.05])
    visits = [Visit(np.zeros(1), 0, float(rng.normal()), float(rng.choice([0.5, 0.9, 1.0])), int(end)) for end in ends]
    returns, known = known_returns(visits)
    for i in range(len(visits)):
        g, weight = 0.0, 1.0
        for visit in visits[i:]:
            g += weight * visit.r
            weight *= 0.0 if visit.end == TERMINATED else visit.gamma
            if visit.end:
                break
        assert returns[i] == pytest.approx(g)
        assert known[i] == (weight <= 0.05)


def reading(**late):
    start = {"margin": 5.0, "held": 1.0, "radius": 5.0, "widest": 5.0, "value_error": 0.0, "earned": 10.0, "size": 10.0}
    end = {**start, "margin": 0.1, "radius": 0.1, **late}
    return {"step": np.array([10, 100]), **{name: np.array([start[name], end[name]]) for name in start}}


@pytest.mark.parametrize(
    ("late", "word"),
    [
        ({}, FAULTLESS),
        ({"margin": -2.0, "value_error": -1.9}, PESSIMISTIC),
        ({"radius": 2.0, "margin": 2.0}, EXPLORING),
        ({"radius": 4.0, "margin": 4.0}, WIDE),
        ({"value_error": 3.0, "margin": 3.1}, WRONG),
        ({"margin": np.nan, "value_error": np.nan, "earned": np.nan, "size": np.nan}, UNSEEN),
    ],
)
def test_the_verdict_names_the_largest_fault(late, word):
    assert judge(reading(**late)).word == word


def test_a_run_that_diverged_at_once_has_a_verdict():
    readings = {name: values[:0] for name, values in reading().items()}
    assert judge(readings, diverged=True).word == "diverged"


SAME = """
import numpy as np
from ucls import Agent
from ucls.diagnostics.visited import visited

settings = {"env.is_slippery": False}
plain, read = (Agent("FrozenLake-v1", "ucls-exact", seed=3, settings=settings) for _ in range(2))
happened, (seen, readings) = plain.advance(400), visited(read, 400, 9)
assert np.array_equal(happened.rewards, seen.rewards) and np.array_equal(happened.ends, seen.ends)
for name, array in plain.checkpoint().items():
    assert np.array_equal(array, read.checkpoint()[name]), name
assert readings["step"].tolist() == sorted({round(400 * (i / 9) ** 2) for i in range(1, 10)})
assert (readings["widest"] >= readings["radius"]).all()
known = np.isfinite(readings["margin"])
assert known[-1] and (readings["margin"][known] >= readings["value_error"][known] - 1e-12).all()
"""


def test_reading_a_run_does_not_change_it(tmp_path):
    foreign.python(tmp_path, SAME)


def test_diagnose_says_what_it_leaves_out_and_is_valid_json(tmp_path):
    foreign.write_lakes(tmp_path)
    words = ["diagnose", "lakes:make_lake", "--agent", "ucls-exact", "--steps", 120, "--points", 4, "--discount", 1]
    told = foreign.command(tmp_path, *words, "--set", "env.steps=7", "--out", "why")
    assert told.returncode == 0, told.stderr
    assert "regret and its bound f + g are left out: nobody knows the optimum of lakes:make_lake" in told.stdout
    assert (tmp_path / "why" / "diagnosis.png").stat().st_size > 5000

    def refuse(word):
        raise AssertionError(word)

    (row,) = json.loads((tmp_path / "why" / "diagnosis.json").read_text(), parse_constant=refuse)["runs"]
    assert row["readings"]["step"][-1] == 120
    assert "regret" not in row["readings"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lakes:nothing"], "which is no environment"),
        (["FrozenLake-v1", "--density", "uniform"], "the density can only be 'visited' in FrozenLake-v1"),
        (["FrozenLake-v1", "--agent", "sarsa"], "sarsa keeps no bounds"),
        (["ucls/RiverSwim-v0", "--discount", "0.5"], "low, high and discount are for other environments"),
        (["ucls/RiverSwim-v0", "--density", "visited"], "unknown density 'visited'"),
    ],
)
def test_what_cannot_be_diagnosed_is_one_line(tmp_path, words, said):
    foreign.write_lakes(tmp_path)
    done = foreign.command(tmp_path, "diagnose", *words, "--steps", 10)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
