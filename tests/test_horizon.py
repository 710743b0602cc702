"""Algorithms that are indexed by time or learn tables: the fact `time_limit`, `UPDATES_FIRST` and `DISCRETE`."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit, TransformReward

from support import clock
from ucls import Agent, make_run
from ucls.core.learner import Learner
from ucls.core.run import plan_run
from ucls.envs import make_builtin
from ucls.errors import UserError
from ucls.gym.registry import make_env
from ucls.gym.spaces import facts_of


@pytest.mark.parametrize(
    ("env", "settings", "limit"),
    [
        ("ucls/RiverSwim-v0", {}, None),
        ("ucls/RiverSwim-v0", {"time_limit": 20}, 20),
        ("ucls/DeepSea-v0", {"size": 7}, 7),
        ("ucls/DeepSea-v0", {"size": 7, "time_limit": 4}, 4),
        ("ucls/DeepSea-v0", {"size": 7, "time_limit": 9}, 7),
    ],
)
def test_the_time_limit_of_a_builtin_environment_is_a_fact_in_both_routes(env, settings, limit):
    assert make_builtin(env, settings).facts().get("time_limit") == limit
    assert facts_of(make_env(env, settings)) == make_builtin(env, settings).facts()


def test_the_time_limit_of_a_gymnasium_environment_is_a_fact_whatever_is_around_it():
    lake = gymnasium.make("FrozenLake-v1")
    assert facts_of(lake) == {"time_limit": 100}
    assert facts_of(gymnasium.make("CliffWalking-v1")) == {}
    assert facts_of(TimeLimit(lake, 30)) == facts_of(TransformReward(TimeLimit(lake, 30), float)) == {"time_limit": 30}
    sea = TransformReward(make_env("ucls/DeepSea-v0", {}), float)
    assert facts_of(sea) == {"time_limit": 10}
    assert facts_of(TimeLimit(make_env("ucls/DeepSea-v0", {}), 3)) == {
        "reward_max": 1,
        "return_max": 1,
        "time_limit": 3,
    }


def test_a_horizon_follows_the_time_limit_unless_it_is_given():
    assert make_run("ucls/DeepSea-v0", clock, settings={"size": 7}).plan.settings == {"horizon": 7}
    assert make_run("ucls/DeepSea-v0", clock, settings={"horizon": 3}).plan.settings == {"horizon": 3}
    assert Agent("FrozenLake-v1", clock).plan.settings == {"horizon": 100}
    assert Agent("CliffWalking-v1", clock).plan.settings == {"horizon": 0}


@pytest.mark.parametrize("mask", [None, np.ones(2, np.uint8)])
def test_an_algorithm_that_updates_first_knows_the_step_in_which_it_acts(mask):
    learner = Learner(plan_run("ucls/DeepSea-v0", clock)[1])
    learner.begin(np.zeros(1), mask)
    actions = [learner.action]
    for cell in (1.0, 3.0, 6.0):
        learner.advance(0.0, 1.0, np.array([cell]), False, mask)
        actions.append(learner.action)
    learner.advance(0.0, 1.0, np.array([9.0]), True, mask)
    learner.begin(np.zeros(1), mask)
    assert [*actions, learner.action] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize("make", [make_run, Agent])
def test_an_algorithm_with_a_table_is_refused_where_states_are_not_discrete(make):
    with pytest.raises(UserError, match="which tiles features do not have: choose an environment whose observations"):
        make("ucls/RiverSwim-v0", clock)
