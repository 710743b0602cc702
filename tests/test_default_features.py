"""Features fit themselves to an environment: to how many numbers it shows and how many actions it takes."""

import warnings

import gymnasium
import numpy as np
import pytest

from ucls import Agent
from ucls.errors import UclsWarning, UserError
from ucls.features import BUDGET, features_module, fitting


@pytest.mark.parametrize("name", ["tiles", "fourier", "random_fourier"])
@pytest.mark.parametrize("n_actions", [1, 2, 3, 18, 500])
def test_fitted_features_keep_to_the_budget(name, n_actions):
    module = features_module(name)
    for dimensions in (1, 2, 3, 4, 6, 8, 17, 100, 784, 30_000):
        settings = module.Settings(**module.fit(dimensions, n_actions))
        room = module.allocation(settings, [0.0] * dimensions, [1.0] * dimensions, n_actions)
        if name == fitting(dimensions, n_actions):
            assert room.size <= BUDGET


class Still(gymnasium.Env):
    """An environment of some numbers in which little happens."""

    def __init__(self, dimensions, n_actions=3):
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (dimensions,), np.float64)
        self.action_space = gymnasium.spaces.Discrete(n_actions)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.np_random.uniform(-1, 1, self.observation_space.shape), float(action == 1), False, False, {}


@pytest.mark.parametrize(
    ("dimensions", "name"), [(1, "tiles"), (3, "tiles"), (4, "fourier"), (8, "fourier"), (784, "random_fourier")]
)
def test_few_numbers_have_tiles_and_many_have_waves(dimensions, name):
    agent = Agent(Still(dimensions), "sarsa").learn(50)
    assert agent.plan.features == name
    assert np.isfinite(agent.value_estimates(np.zeros(dimensions))[0]).all()


def test_named_features_fit_too_and_a_given_setting_stays():
    assert Agent(Still(3), "sarsa", features="fourier", order=5).plan.feature_settings == {"order": 5, "coupled": 2}
    assert Agent(Still(6), "sarsa", features="tiles").plan.feature_settings["tiles"] == 2


def test_a_full_table_is_said_aloud_once_with_what_to_set():
    agent = Agent(Still(2), "sarsa", table_size=20)
    with pytest.warns(UclsWarning, match="all 20 tiles of the table are taken, new ones share them: raise table_size"):
        agent.learn(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(100)


def test_a_table_with_room_for_every_tile_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Agent("ucls/RiverSwim-v0", "sarsa").learn(3000)


def test_a_setting_of_other_features_is_refused():
    with pytest.raises(UserError, match="unknown setting 'tilings'"):
        Agent(Still(6), tilings=4)


def test_cart_pole_is_learned_with_nothing_given():
    """Random play gets 22. The whole promise, ten seeds, is in docs/environments.md."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UclsWarning)
        agent = Agent("CartPole-v1", seed=1).learn(8000)
    assert agent.history.episode_returns[-10:].mean() > 150
