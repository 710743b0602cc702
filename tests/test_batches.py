"""One observation or a batch of them: the same numbers, told apart by the shape of the space."""

import copy

import gymnasium
import numpy as np
import pytest

from support.params import in_env
from ucls import Agent, UserError

BOUNDS = {"low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3]}


@pytest.fixture(scope="module")
def cart():
    return Agent("CartPole-v1", seed=1, features="tiles", tilings=4, **BOUNDS).learn(300)


@pytest.fixture(scope="module")
def lake():
    return Agent("FrozenLake-v1", seed=1).learn(300)


def points(n, seed=0):
    return np.random.default_rng(seed).uniform(BOUNDS["low"], BOUNDS["high"], (n, 4))


def test_a_batch_is_its_observations_one_by_one_bit_for_bit(cart):
    batch = points(7)
    mean, radius = cart.value_estimates(batch)
    assert mean.shape == radius.shape == (7, 2)
    unknown, noisy = cart.uncertainty(batch)
    actions, nothing = cart.predict(batch, deterministic=True)
    assert nothing is None
    assert actions.shape == (7,)
    for i, s in enumerate(batch):
        assert np.array_equal((mean[i], radius[i]), cart.value_estimates(s))
        assert np.array_equal((unknown[i], noisy[i]), cart.uncertainty(s))
        assert actions[i] == cart.predict(s, deterministic=True)[0]


DRAWN = ("sarsa", "ucbootstrap", "ucls-exact")  # two that draw their actions, and one that breaks ties


@pytest.mark.parametrize("name", in_env("ucls/RiverSwim-v0", DRAWN))
def test_what_is_drawn_for_a_batch_is_drawn_row_by_row(name):
    many = Agent("ucls/RiverSwim-v0", name, seed=2).learn(60)
    one = copy.deepcopy(many)
    batch = np.linspace(0.05, 0.95, 20)[:, None]
    assert many.predict(batch)[0].tolist() == [one.predict(s)[0] for s in batch]
    mean, radius = many.value_estimates(batch)
    singles = [one.value_estimates(s) for s in batch]
    assert np.array_equal(mean, [each[0] for each in singles])
    assert np.array_equal(radius, [each[1] for each in singles])


def test_one_observation_keeps_its_types(cart, lake):
    assert type(cart.predict(points(1)[0], deterministic=True)[0]) is int
    assert type(lake.predict(3)[0]) is int
    assert cart.value_estimates(points(1)[0])[0].shape == (2,)
    assert lake.value_estimates(np.int64(3))[0].shape == (4,)


def test_the_shape_of_the_space_decides(cart, lake):
    assert cart.predict(points(4))[0].shape == (4,)
    assert cart.value_estimates(points(1))[0].shape == (1, 2)
    assert cart.value_estimates(points(0))[0].shape == (0, 2)
    assert cart.predict(points(0), deterministic=True)[0].shape == (0,)
    assert lake.predict([3])[0].shape == (1,)
    assert np.array_equal(lake.value_estimates(range(16))[0][5], lake.value_estimates(5)[0])


def test_vector_environments_take_the_answer():
    envs = gymnasium.make_vec("CliffWalking-v1", num_envs=3, vectorization_mode="sync")
    agent = Agent("CliffWalking-v1", seed=1).learn(50)
    observations, _ = envs.reset(seed=0)
    for _ in range(5):
        observations, rewards, *_ = envs.step(agent.predict(observations)[0])
    assert rewards.shape == (3,)
    envs.close()


def test_actions_of_a_batch_are_numbered_as_the_environments():
    class Late(gymnasium.ActionWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.action_space = gymnasium.spaces.Discrete(4, start=10)

        def action(self, action):
            return action - 10

    agent = Agent(Late(gymnasium.make("FrozenLake-v1"))).learn(30)
    assert set(agent.predict(range(16))[0].tolist()) <= {10, 11, 12, 13}


@pytest.mark.parametrize(
    ("who", "given", "words"),
    [
        ("cart", np.zeros(3), "here it is 4 numbers, of shape (4,)"),
        ("cart", np.zeros((2, 3)), "here it is 4 numbers, of shape (4,)"),
        ("cart", np.zeros((2, 2, 4)), "here it is 4 numbers, of shape (4,)"),
        ("cart", [[0, 0, 0, 0], [0, 0, np.nan, 0]], "observations must be finite"),
        ("cart", [[0, 0, 0, 0], [0, 0]], "here it is 4 numbers"),
        ("cart", "left", "here it is 4 numbers"),
        ("lake", [0, 16], "cannot be np.int64(16): here it is an integer from 0 to 15"),
        ("lake", [0.5], "integer from 0 to 15"),
        ("lake", [[0, 1, 2]], "one number"),
    ],
)
def test_what_is_neither_gets_one_line(cart, lake, who, given, words):
    for ask in (lambda agent: agent.value_estimates(given), lambda agent: agent.predict(given)):
        with pytest.raises(UserError) as error:
            ask({"cart": cart, "lake": lake}[who])
        assert words in str(error.value)
        assert "\n" not in str(error.value)
