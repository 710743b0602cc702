"""Actions of any space of numbers, numbered for an agent."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import ucls
from ucls import Agent, DiscreteActions, UserError
from ucls.agent.maps import action_names
from ucls.testing import check_environment

SMALL = {"features": "tiles", "tilings": 2, "tiles": 3, "table_size": 32}


class Taking(gymnasium.Env):
    """Takes actions of a space, and remembers them."""

    observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)

    def __init__(self, space):
        self.action_space = space
        self.taken = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.random(1), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.taken.append(action)
        return self.np_random.random(1), 0.0, False, False, {}


def every(env):
    """All actions of a wrapped environment, in the order of their numbers."""
    env.reset(seed=0)
    for a in range(int(env.action_space.n)):
        env.step(a)
    return env.unwrapped.taken


def test_the_bins_of_a_box_are_evenly_between_its_bounds():
    env = DiscreteActions(Taking(spaces.Box(np.array([-1, 0], np.float32), np.array([1, 9], np.float32))), [3, 2])
    assert [action.tolist() for action in every(env)] == [[-1, 0], [-1, 9], [0, 0], [0, 9], [1, 0], [1, 9]]
    assert all(action.dtype == np.float32 for action in env.unwrapped.taken)


@pytest.mark.parametrize(
    ("space", "given", "actions"),
    [
        (spaces.Box(-2, 2, ()), {}, [-2, 0, 2]),
        (spaces.Box(-2, 2, (1, 1)), {"bins": 1}, [[[0]]]),
        (spaces.Box(0, 5, (1,), np.int32), {"bins": 3}, [[0], [2], [5]]),
        (spaces.Box(0, 2, (1,), np.uint8), {"bins": 9}, [[0], [1], [2]]),
        (spaces.Box(3.0, 3.0, (1,)), {}, [[3]]),
        (spaces.Box(-np.inf, np.inf, (1,)), {"bins": 2, "low": -1, "high": 2}, [[-1], [2]]),
        (spaces.Box(0, np.inf, (2,)), {"bins": [1, 2], "high": [4, 6]}, [[2, 0], [2, 6]]),
        (spaces.Box(-9, 9, (2,)), {"bins": 1, "low": [None, 7]}, [[0, 8]]),
        (spaces.Discrete(3, start=4), {}, [4, 5, 6]),
        (spaces.MultiDiscrete([2, 2], start=[0, 5]), {}, [[0, 5], [0, 6], [1, 5], [1, 6]]),
        (spaces.MultiBinary(2), {}, [[0, 0], [0, 1], [1, 0], [1, 1]]),
    ],
    ids=str,
)
def test_every_space_of_numbers_gives_all_its_choices(space, given, actions):
    assert [np.asarray(action).tolist() for action in every(DiscreteActions(Taking(space), **given))] == actions


def test_choices_in_parts_are_combined():
    space = spaces.Dict(a=spaces.Discrete(2), b=spaces.Tuple((spaces.Box(0, 1, (1,)), spaces.MultiBinary(1))))
    taken = every(DiscreteActions(Taking(space), bins=2))
    assert len(taken) == 8
    assert taken[5]["a"] == 1
    assert [part.tolist() for part in taken[5]["b"]] == [[0.0], [1]]


@pytest.mark.parametrize(
    ("space", "given", "words"),
    [
        (spaces.Box(-1, np.inf, (2,)), {}, "number 0 of the actions has no bounds: DiscreteActions(env, low="),
        (spaces.Box(-1, 1, (2,)), {"high": np.inf}, "has no bounds"),
        (spaces.Box(-1, 1, (2,)), {"low": -2}, "cannot go from -2 to 1: give low and high within -1 and 1"),
        (spaces.Box(-1, 1, (2,)), {"low": 0.5, "high": 0.2}, "cannot go from 0.5 to 0.2"),
        (spaces.Box(-1, 1, (2,)), {"low": [0, 0, 0]}, "low cannot be [0, 0, 0]: give one number, or 2"),
        (spaces.Box(-1, 1, (2,)), {"bins": [2, 2, 2]}, "bins cannot be [2, 2, 2]: give one number, or 2"),
        (spaces.Box(-1, 1, (2,)), {"bins": 0}, "bins cannot be 0"),
        (spaces.Box(-1, 1, (2,)), {"bins": 2.5}, "bins cannot be 2.5"),
        (spaces.Box(-1, 1, (2,)), {"bins": "x"}, "bins cannot be 'x'"),
        (spaces.Box(-1, 1, (2,)), {"bins": 10**15}, "give fewer bins"),
        (spaces.Box(-1, 1, (17,)), {}, "3 x 3 x 3 x 3 x 3 x 3 x 3 x 3 x ... actions, but an agent can try"),
        (spaces.Box(-1, 1, (0,)), {"bins": 3}, "are for actions in a Box"),
        (spaces.Discrete(10**12), {}, "1000000000000 actions, but an agent can try"),
        (spaces.MultiBinary(2000), {}, "wrap the environment to offer fewer"),
        (spaces.MultiBinary(2), {"bins": 3}, "bins, low and high are for actions in a Box"),
        (spaces.Text(3), {}, "only numbers can be discretized"),
        (
            spaces.Tuple((spaces.Discrete(2), spaces.Sequence(spaces.Discrete(2)))),
            {},
            "only numbers can be discretized",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_numbered_is_refused_in_one_line(space, given, words):
    with pytest.raises(UserError) as error:
        DiscreteActions(Taking(space), **given)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("action", [-1, 3, 1.5, "x", None])
def test_a_number_of_no_action_is_refused(action):
    env = DiscreteActions(Taking(spaces.Box(-1, 1, (1,))))
    env.reset(seed=0)
    with pytest.raises(UserError, match="give an integer from 0 to 2"):
        env.step(action)


@pytest.mark.parametrize("id", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_the_wrapped_environment_keeps_gymnasiums_promises_and_ours(id):
    env = DiscreteActions(gymnasium.make(id).unwrapped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(env, skip_render_check=True)
    check_environment(DiscreteActions(gymnasium.make(id)))


def test_an_agent_learns_with_them_is_saved_and_evaluated(tmp_path):
    def make():
        return DiscreteActions(gymnasium.make("Pendulum-v1"), bins=5)

    agent = Agent(make(), "sarsa", **SMALL).learn(250)
    assert agent.plan.n_actions == 5
    assert make().get_action_meanings() == ["-2", "-1", "0", "1", "2"]
    assert action_names(agent, agent._stage) == ["-2", "-1", "0", "1", "2"]
    assert len(agent.history.episode_steps) == 1
    again = Agent.load(agent.save(tmp_path / "a.safetensors"), make())
    assert again.learn(10).steps == 260
    assert ucls.evaluate_policy(agent, n_eval_episodes=1).lengths.tolist() == [200]
    with pytest.raises(UserError, match="saved for 5 actions"):
        Agent.load(tmp_path / "a.safetensors", DiscreteActions(gymnasium.make("Pendulum-v1")))


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (
            spaces.Box(-1, 1, (2,)),
            "only Discrete is supported: wrap the environment, ucls.DiscreteActions(env, bins=3)",
        ),
        (spaces.MultiBinary(3), "only Discrete is supported: wrap the environment, ucls.DiscreteActions(env)"),
    ],
)
def test_an_agent_says_how_to_wrap_what_it_cannot_act_in(space, words):
    with pytest.raises(UserError) as error:
        Agent(Taking(space))
    assert str(error.value).endswith(words)
