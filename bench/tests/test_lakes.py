"""What is possible in FrozenLake, by its table; and what a long run lost."""

import gymnasium
import numpy as np
import pytest

from bench import lakes, long


def test_without_ice_the_goal_is_always_reached_in_time_and_never_with_one_step_less():
    sure = gymnasium.make("FrozenLake-v1", is_slippery=False)
    policy = lakes.discounted_policy(sure)
    assert (lakes.best_return(sure), lakes.exact_return(sure, policy)) == (1.0, 1.0)
    for steps, value in ((6, 1.0), (5, 0.0)):
        hurried = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=steps)
        assert (lakes.best_return(hurried), lakes.exact_return(hurried, policy)) == (value, value)


def test_an_exact_return_is_the_mean_of_sampled_ones():
    lake = gymnasium.make("FrozenLake-v1")
    policy = lakes.discounted_policy(lake)
    lake.reset(seed=1)
    returns = []
    for _ in range(3000):
        s, over, total = lake.reset()[0], False, 0.0
        while not over:
            s, reward, terminated, truncated, _ = lake.step(policy[s])
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    assert np.mean(returns) == pytest.approx(lakes.exact_return(lake, policy), abs=4 * np.std(returns) / 3000**0.5)
    assert lakes.exact_return(lake, policy) == pytest.approx(0.7402, abs=1e-4)
    assert lakes.exact_return(lake, policy) < lakes.best_return(lake)


def line(domain, seed, window, **numbers):
    first, last = window
    return {"domain": domain, "seed": str(seed), "first": str(first), "last": str(last), **numbers}


def test_long_runs_lose_rewards_per_step_mean_returns_or_episodes_per_step():
    end = long.TENTHS[-1]
    found = [
        line("River Swim", 1, long.EARLY, reward="1000"),
        line("River Swim", 1, end, reward="9000"),
        line("River Swim", 2, long.EARLY, reward="1000"),
        line("River Swim", 2, end, reward="10000"),
        line("Puddle World", 1, long.EARLY, mean_return="-40"),
        line("Puddle World", 1, end, mean_return="-50"),
        line("Mountain Car", 1, long.EARLY, episodes="50"),
        line("Mountain Car", 1, end, episodes="525"),
    ]
    assert [row[2:] for row in long.table(found)[1]] == [
        ["2", "1,000.0", "950.0", "10.0%"],
        ["1", "-40.0", "-50.0", "25.0%"],
        ["1", "50.0", "52.5", "-5.0%"],
    ]


def test_the_table_of_lakes_has_the_worst_run_and_what_is_possible():
    first = {"env": "FrozenLake-v1", "seed": "1", "steps": "5000", "greedy": "0.5", "last_20": "0.4"}
    columns, lines = lakes.table([first, {**first, "seed": "2", "greedy": "0.7", "last_20": "0.5"}])
    assert lines == [["FrozenLake-v1", "5,000", "2", "0.600", "0.500", "0.450", "0.744", "0.740"]]
    assert len(columns) == len(lines[0])
