"""Bounds that an environment does not give are learned before the run, and change nothing but what they are for."""

import warnings

import gymnasium
import numpy as np
import pytest

from ucls import Agent, UserError
from ucls.errors import UclsWarning
from ucls.gym import bounds

SMALL = {"algorithm": "sarsa", "features": "tiles", "tilings": 2, "tiles": 3, "table_size": 32}


class Drift(gymnasium.Env):
    """Numbers that go where they are sent: `span` times a walk of 1 and -1, around `middle`."""

    action_space = gymnasium.spaces.Discrete(2, start=5)

    def __init__(self, low, high, span, middle=0.0, dtype=np.float64, spoil=None):
        low, high = np.array(low, dtype), np.array(high, dtype)
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=dtype)
        self.span, self.middle, self.spoil = np.array(span), middle, spoil
        self.resets, self.taken = [], []

    def _seen(self):
        seen = np.asarray(self.middle + self.span * self.at, self.observation_space.dtype)
        return self.spoil if self.spoil is not None and len(self.taken) == 30 else seen

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.resets.append(seed)
        self.at = 0
        return self._seen(), {}

    def step(self, action):
        assert action in (5, 6)
        self.taken.append(action)
        self.at = np.clip(self.at + 2 * action - 11, -10, 10)
        return self._seen(), 0.0, False, False, {}


def test_an_environment_without_bounds_is_learned_and_what_was_found_is_said_once():
    with pytest.warns(UclsWarning, match=r"observation\[1\] .* observation\[3\]") as said:
        agent = Agent("CartPole-v1", seed=0, **SMALL)
    assert len(said) == 1
    assert "\n" not in str(said[0].message)
    space = gymnasium.make("CartPole-v1").observation_space
    assert [agent.plan.low[i] for i in (0, 2)] == [float(space.low[i]) for i in (0, 2)]
    for i in (1, 3):
        assert -5 < agent.plan.low[i] < -2
        assert 2 < agent.plan.high[i] < 5
    assert agent.learn(100).steps == 100


def test_the_run_is_the_same_as_with_those_bounds_given():
    found = Agent("CartPole-v1", seed=3, **SMALL).learn(200)
    given = Agent("CartPole-v1", seed=3, low=found.plan.low, high=found.plan.high, **SMALL).learn(200)
    again = Agent("CartPole-v1", seed=3, **SMALL).learn(200)
    mine = found.learner.checkpoint()
    for other in (given, again):
        theirs = other.learner.checkpoint()
        assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert Agent("CartPole-v1", seed=4, **SMALL).plan.low != found.plan.low


def test_what_the_notice_says_gives_the_same_bounds():
    with pytest.warns(UclsWarning) as said:
        found = Agent("CartPole-v1", seed=3, **SMALL)
    text = str(said[0].message)
    words = eval(f"dict({text[text.index('low=') :]})")  # what a person would copy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copied = Agent("CartPole-v1", seed=3, **words, **SMALL)
    assert (copied.plan.low, copied.plan.high) == (found.plan.low, found.plan.high)


def test_a_bounded_environment_sees_no_scout():
    env = Drift([-10], [10], [1])
    agent = Agent(env, **SMALL)
    assert env.resets == []
    agent.learn(3)
    assert len(env.resets) == 1


def test_a_scout_takes_few_steps_and_the_first_reset_of_the_run_has_its_own_seed():
    bounded, free = Drift([-10], [10], [1]), Drift([-np.inf], [np.inf], [1])
    Agent(bounded, seed=7, **SMALL).learn(3)
    agent = Agent(free, seed=7, **SMALL)
    assert (len(free.taken), len(free.resets)) == (bounds.STEPS, 1 + bounds.STEPS // bounds.EPISODE)
    before = len(free.resets)
    agent.learn(3)
    assert free.resets[before:] == bounded.resets
    assert free.resets[0] != bounded.resets[0]


def test_only_what_nobody_bounds_is_learned():
    inf, most = np.inf, float(np.finfo(np.float32).max)
    env = Drift([-inf, 0, -50, -most], [inf, inf, 50, most], [1, 1, 1, 100])
    plan = Agent(env, low=[None, None, None, -3000], **SMALL).plan
    assert plan.low == [-12.5, 0.0, -50.0, -3000.0]
    assert plan.high == [12.5, 12.5, 50.0, 1250.0]
    wide = Agent(env, low=[-20, np.nan, -inf, -1], high=[20, None, inf, 1], **SMALL).plan
    assert (wide.low, wide.high) == ([-20.0, 0.0, -12.5, -1.0], [20.0, 12.5, 12.5, 1.0])


@pytest.mark.parametrize(
    ("span", "middle", "low", "high"),
    [
        (0.0, 0.0, -1.0, 1.0),
        (0.0, 5.0, 0.0, 10.0),
        (0.0, -1e20, -2e20, 0.0),
        (1e-30, 0.0, -1.25e-29, 1.25e-29),
        (1e-320, 0.0, -1.0, 1.0),
        (1e8, 0.0, -1.25e9, 1.25e9),
        (1.0, 1e6, 999987.5, 1000012.5),
        (0.0, 1e40, 0.0, 1e30),
    ],
)
def test_learned_bounds_have_room_whatever_the_scale(span, middle, low, high):
    plan = Agent(Drift([-np.inf], [np.inf], [span], middle), **SMALL).plan
    assert plan.low == pytest.approx([low], rel=0.02, abs=1e-32)
    assert plan.high == pytest.approx([high], rel=0.02, abs=1e-32)
    Agent(Drift([-np.inf], [np.inf], [span], middle), **SMALL).learn(5)


def test_a_bound_that_was_given_stays_where_all_was_met_beyond_it():
    plan = Agent(Drift([-np.inf], [np.inf], [1.0]), low=[100], **SMALL).plan
    assert (plan.low, plan.high) == ([100.0], [125.0])
    plan = Agent(Drift([-np.inf], [np.inf], [1.0]), high=[-100], **SMALL).plan
    assert (plan.low, plan.high) == ([-125.0], [-100.0])


def test_the_last_number_of_a_type_bounds_nothing():
    last = np.iinfo(np.int64)
    assert Agent(Drift([last.min], [last.max], [1], 0, np.int64), **SMALL).plan.high == [12.5]
    assert Agent(Drift([0], [255], [1], 20, np.uint8), **SMALL).plan.high == [255.0]


def test_a_number_that_its_space_holds_still_has_room_for_tiles():
    agent = Agent(Drift([0.0, -10], [0.0, 10], [0, 1]), **SMALL).learn(20)
    assert (agent.plan.low, agent.plan.high) == ([0.0, -10.0], [1.0, 10.0])
    with pytest.raises(UserError, match="must be below its number in high"):
        Agent(Drift([0.0, -10], [1.0, 10], [0, 1]), low=[0, 3], high=[1, 3], **SMALL)


def test_observations_beyond_every_bound_are_refused_in_one_line():
    with pytest.raises(UserError, match=r"observation\[0\] has no bounds and goes beyond 1e\+30"):
        Agent(Drift([-np.inf], [np.inf], [1e38], 1e40), **SMALL)


@pytest.mark.parametrize("spoil", [np.array([np.nan]), np.zeros(2), "x", None])
def test_what_an_environment_breaks_before_the_run_is_its_fault(spoil):
    env = Drift([-np.inf], [np.inf], [1.0], spoil=spoil)
    if spoil is None:
        env.step = lambda action: (env._seen(), np.nan, False, False, {})
    with pytest.raises(
        UserError, match=r"the environment is at fault, at step \d+ of the search for its bounds: "
    ) as e:
        Agent(env, **SMALL)
    assert "\n" not in str(e.value)


def test_a_wrong_seed_is_refused_before_anything_is_tried():
    env = Drift([-np.inf], [np.inf], [1.0])
    with pytest.raises(UserError, match="seed cannot be -1"):
        Agent(env, seed=-1, **SMALL)
    assert env.resets == []


def test_a_loaded_agent_keeps_its_bounds_and_sends_no_scout(tmp_path):
    agent = Agent(Drift([-np.inf], [np.inf], [1.0]), seed=2, **SMALL).learn(50)
    path = agent.save(tmp_path / "agent.safetensors")
    env = Drift([-np.inf], [np.inf], [1.0])
    again = Agent.load(path, env)
    assert env.taken == []
    assert (again.plan.low, again.plan.high) == (agent.plan.low, agent.plan.high)
    assert Agent.load(path).value_estimates([3.0])[0].tolist() == agent.value_estimates([3.0])[0].tolist()
    assert again.learn(5).steps == 55


def test_the_command_learns_them_too_and_says_so_in_a_line(tmp_path):
    from support.commands import ucls_process

    words = (
        "--algo",
        "sarsa",
        "--steps",
        "50",
        "--features",
        "tiles",
        "--set",
        "table_size=32",
        "--out",
        str(tmp_path / "run"),
    )
    done = ucls_process("train", "CartPole-v1", "--low", "none,-3,none,-3", *words)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "bounds learned" in line]
    assert len(said) == 1
    assert said[0].startswith("ucls: bounds learned from 1,000 random steps: observation[1] -3 to ")
