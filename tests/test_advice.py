"""Notices on the cost of a step and on a radius that nothing collected justifies: when they come, and when not."""

import warnings

import gymnasium
import numpy as np
import pytest

from support import foreign
from ucls import Agent, make_run
from ucls.core.advice import FIRST_LOOK, largest_return
from ucls.core.history import TERMINATED, History
from ucls.errors import UclsWarning
from ucls.features import BUDGET

COINS = """
import gymnasium


class Coin(gymnasium.Env):
    # a coin that can be collected once per episode: the agent sees a reward that might come in every step
    observation_space, action_space = gymnasium.spaces.Discrete(12), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.t, self.taken = 5, 0, False
        return self.s, {}

    def step(self, action):
        self.s, self.t = min(max(self.s + (1 if action else -1), 0), 11), self.t + 1
        reward = float(self.s == 8 and not self.taken)
        self.taken = self.taken or reward > 0
        return self.s, reward, False, self.t == 30, {}
"""

names: dict = {}
exec(COINS, names)
Coin = names["Coin"]
WIDE = "the radius after .* steps is .*, more than 10 times the largest return so far, 1 in absolute value: return_max"


def notices(act):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(each.message) for each in caught if issubclass(each.category, UclsWarning)]


def test_a_radius_far_above_all_that_was_collected_asks_for_return_max_once():
    agent = Agent(Coin(), "ucls-exact", seed=1)
    agent.learn(FIRST_LOOK - 1)
    with pytest.warns(UclsWarning, match=WIDE) as caught:
        agent.learn(1)
    (notice,) = [str(each.message) for each in caught]
    assert "return_max is estimated as 100" in notice
    assert "give the maximum possible return, return_max=... (or --set return_max=...)" in notice
    assert f"{FIRST_LOOK:,} steps" in notice
    assert "\n" not in notice
    assert notices(lambda: agent.learn(4 * FIRST_LOOK)) == []


def test_the_advice_changes_no_run():
    told, quiet = Agent(Coin(), seed=1), Agent(Coin(), seed=1)
    told.learn(FIRST_LOOK).learn(200)
    quiet.advance(FIRST_LOOK + 200)
    assert np.array_equal(told.history.rewards, quiet.history.rewards)
    mine, theirs = told.checkpoint(), quiet.checkpoint()
    assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize(
    ("env", "settings"),
    [
        (Coin, {"return_max": 1.0}),
        (Coin, {"return_max": 100.0}),
        (Coin, {"algorithm": "sarsa"}),
        ("CartPole-v1", {}),
        ("FrozenLake-v1", {}),
        ("ucls/RiverSwim-v0", {}),
    ],
)
def test_no_advice_where_return_max_is_given_or_what_was_collected_justifies_the_radius(env, settings):
    agent = Agent(env if isinstance(env, str) else env(), seed=1, **settings)
    assert not [text for text in notices(lambda: agent.learn(2 * FIRST_LOOK)) if "return_max" in text]


def test_training_prints_the_advice_and_a_study_does_not(tmp_path):
    (tmp_path / "coins.py").write_text(COINS)
    words = ("train", "coins:Coin", "--algo", "ucls-exact", "--steps", FIRST_LOOK)
    trained = foreign.command(tmp_path, *words)
    assert "more than 10 times the largest return so far" in trained.stderr
    assert "Warning" not in trained.stderr
    given = foreign.command(tmp_path, *words, "--set", "return_max=1")
    assert "return_max" not in given.stderr
    study = 'name = "coins"\nsteps = 1000\nseeds = [0]\n[[run]]\nalgorithm = "ucls-exact"\nenv = "coins:Coin"\n'
    (tmp_path / "study.toml").write_text(study)
    ran = foreign.command(tmp_path, "study", "run", "study.toml")
    assert ran.returncode == 0, ran.stderr
    assert "largest return" not in ran.stderr + ran.stdout


@pytest.mark.parametrize(
    ("rewards", "ends", "largest"),
    [
        ([1.0, -5.0, 2.0], [0, TERMINATED, 0], 4.0),
        ([1.0, -1.0, 0.0], [0, TERMINATED, 0], 0.0),
        ([1.0, 0.0, -7.0], [TERMINATED, 0, 0], 7.0),
        ([2.0, 2.0], [0, 0], 4.0),
    ],
)
def test_the_largest_return_is_of_episodes_finished_or_not(rewards, ends, largest):
    assert largest_return(History(np.array(rewards), np.array(ends))) == largest


class Still(gymnasium.Env):
    """So many states, and four actions."""

    action_space = gymnasium.spaces.Discrete(4)

    def __init__(self, n_states):
        self.observation_space = gymnasium.spaces.Discrete(n_states)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}


def test_many_features_of_least_squares_are_said_to_be_slow_with_what_to_use_instead():
    (notice,) = notices(lambda: Agent(Still(BUDGET // 4 + 1), "ucls-exact"))
    assert notice.startswith(
        "ucls-exact with 2,052 features (one_hot): once all are visited, a step takes 1.7 ms or more"
    )
    assert "(50,000 steps 1.4 minutes)" in notice
    assert "matrices 68 MB" in notice
    assert "the algorithm ucls-l or sarsa" in notice
    assert notices(lambda: Agent(Still(BUDGET // 4), "ucls-exact")) == []
    for agent in ("ucls-plan", "sarsa", "ucls-l"):
        assert notices(lambda agent=agent: Agent(Still(BUDGET), agent)) == []


def test_the_cost_is_said_in_built_in_environments_too():
    (notice,) = notices(lambda: make_run("ucls/DeepSea-v0", "ucls-exact", settings={"size": 50}))
    assert "2,550 features (one_hot)" in notice
    assert notices(lambda: make_run("ucls/DeepSea-v0", "ucls-exact", settings={"size": 30})) == []
