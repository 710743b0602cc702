"""What is read of a run in a third-party environment: against its own returns, and without changing it."""

import json

import gymnasium
import numpy as np
import pytest

from support import foreign
from ucls import Agent
from ucls.agent.trajectory import Visit, returns_of
from ucls.core.history import TERMINATED, TRUNCATED
from ucls.diagnostics.verdict import PESSIMISTIC, WIDE, WRONG
from ucls.diagnostics.visited import EXPLORING, FAULTLESS, UNSEEN, judge, visited


def test_returns_are_those_of_the_definition_with_the_discount_beyond_what_was_seen():
    rng = np.random.default_rng(1)
    ends = rng.choice([0, TERMINATED, TRUNCATED], 300, p=[0.9, 0.05, 0.05])
    visits = [Visit(np.zeros(1), 0, float(rng.normal()), float(rng.choice([0.5, 0.9, 1.0])), int(end)) for end in ends]
    visits = [visit._replace(last=np.ones(1)) if visit.end == TRUNCATED else visit for visit in visits]
    returns, beyond, last = returns_of(visits)
    for i in range(len(visits)):
        g, weight = 0.0, 1.0
        for visit in visits[i:]:
            g += weight * visit.r
            weight *= 0.0 if visit.end == TERMINATED else visit.gamma
            if visit.end:
                break
        assert returns[i] == pytest.approx(g)
        assert beyond[i] == pytest.approx(weight if weight > 0.05 else 0.0)
        assert (last[i] is None) == (visit.end != TRUNCATED)


def reading(**late):
    start = {"margin": 5.0, "held": 1.0, "radius": 5.0, "widest": 5.0, "value_error": 0.0, "earned": 10.0, "size": 10.0}
    start |= {"truncated": 0.0, "collected": 30.0}
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


class Endless(gymnasium.Env):
    """A ring of four states, with a reward of 1 for every step, that never terminates."""

    observation_space, action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s = 0
        return self.s, {}

    def step(self, action):
        self.s = (self.s + 1 + int(action)) % 4
        return self.s, 1.0, False, False, {}


def test_returns_of_episodes_that_a_time_limit_truncated_count():
    agent = Agent(gymnasium.wrappers.TimeLimit(Endless(), 20), "ucls-exact", discount=0.99)
    history, readings = visited(agent, 400, 4)
    assert history.ends.sum() == 20 * TRUNCATED
    found = judge(readings)
    assert readings["truncated"].tolist() == [1.0] * 4
    assert readings["collected"].sum() == 400
    collected = np.mean([(1 - 0.99**k) / 0.01 for k in range(1, 21)])  # over the steps of an episode
    assert found.late["earned"] == pytest.approx(collected)
    mean, _ = agent.learner.intervals(np.arange(4.0)[:, None])
    assert abs(found.late["value_error"]) < 0.1 * mean.max()  # without the agent's own values it is 90% of them
    assert "a time limit truncated 100% of the returns" in found.because
    assert "its radius went from" in found.because
    assert f"a mean |return| of {collected:.3g}" in found.because


def test_without_an_end_the_verdict_says_what_was_collected():
    _, readings = visited(Agent(Endless(), "ucls-exact", discount=1.0), 100, 2)
    found = judge(readings)
    assert found.word == UNSEEN
    assert "it collected 100 in 100 steps" in found.because


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
    words = [
        "diagnose",
        "lakes:make_lake",
        "--algo",
        "ucls-exact",
        "--steps",
        120,
        "--measurements",
        4,
        "--discount",
        1,
    ]
    told = foreign.command(tmp_path, *words, "--set", "env.steps=7", "--out", "why")
    assert told.returncode == 0, told.stderr
    assert "regret and its bound f + g are left out: there is no known optimum of lakes:make_lake" in told.stdout
    assert (tmp_path / "why" / "diagnosis.png").stat().st_size > 5000

    def refuse(word):
        raise AssertionError(word)

    (row,) = json.loads((tmp_path / "why" / "diagnosis.json").read_text(), parse_constant=refuse)["runs"]
    assert row["readings"]["step"][-1] == 120
    assert "regret" not in row["readings"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lakes:nothing"], "which is not an environment"),
        (["FrozenLake-v1", "--distribution", "uniform"], "the distribution can only be 'visited' in FrozenLake-v1"),
        (["FrozenLake-v1", "--algo", "sarsa"], "sarsa has no confidence bounds"),
        (["ucls/RiverSwim-v0", "--discount", "0.5"], "low, high and discount are for third-party environments"),
        (["ucls/RiverSwim-v0", "--distribution", "visited"], "unknown distribution 'visited'"),
    ],
)
def test_what_cannot_be_diagnosed_is_one_line(tmp_path, words, said):
    foreign.write_lakes(tmp_path)
    done = foreign.command(tmp_path, "diagnose", *words, "--steps", 10)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
