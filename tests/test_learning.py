"""UCLS learns, untuned, at the paper's size: full checks are slow, smaller ones in two environments always run."""

import numpy as np
import pytest

from ucls.core.run import make_run
from ucls.envs import make_builtin

STEPS = 50_000


def runs(env, seeds, steps=STEPS):
    """What happened in a run of each seed."""
    return [make_run(env, "ucls", seed=seed).advance(steps) for seed in seeds]


def near_optimal_in_river_swim(happened):
    optimum = make_builtin("ucls/RiverSwim-v0").optimal()
    return happened.rewards[-STEPS // 5 :].mean() >= 0.9 * optimum.reward_rate


def best_episodes(happened, window=20):
    """The best mean length of `window` consecutive episodes."""
    lengths = happened.episode_steps
    means = [lengths[i : i + window].mean() for i in range(len(lengths) - window + 1)]
    return min(means, default=np.inf)


def test_river_swim_is_solved():
    assert all(map(near_optimal_in_river_swim, runs("ucls/RiverSwim-v0", [0])))


def test_puddle_world_is_learned_within_15000_steps():
    happened = make_run("ucls/PuddleWorld-v0", "ucls", seed=4).advance(15_000)
    assert len(happened.episode_steps) > 100
    assert happened.episode_returns[-20:].mean() > -120


@pytest.mark.slow
def test_sparse_mountain_car_finds_the_goal_again_and_again_with_coarser_tiles():
    coarse = {"tilings": 4, "tiles": 6}
    happened = make_run("ucls/SparseMountainCar-v0", "ucls", seed=10, settings=coarse).advance(40_000)
    assert happened.rewards.sum() >= 40
    assert happened.episode_steps[-10:].mean() < 300


@pytest.mark.slow
def test_sparse_mountain_car_finds_the_goal_again_and_again_in_single_precision():
    happened = make_run("ucls/SparseMountainCar-v0", "ucls", seed=10, dtype="float32").advance(20_000)
    assert happened.rewards.sum() >= 15
    assert happened.episode_steps[-10:].mean() < 300


@pytest.mark.slow
def test_river_swim_27_of_30_seeds_within_a_tenth_of_the_optimum():
    assert sum(near_optimal_in_river_swim(h) for h in runs("ucls/RiverSwim-v0", range(30))) >= 27


@pytest.mark.slow
def test_puddle_world_1000_episodes_and_a_return_above_minus_80():
    happened = runs("ucls/PuddleWorld-v0", range(20))
    assert np.mean([len(h.episode_steps) for h in happened]) >= 1000
    assert np.median([h.episode_returns[-20:].mean() for h in happened]) > -80


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_sparse_mountain_car_20_episodes_in_a_row_are_short():
    best = np.array([best_episodes(h) for h in runs("ucls/SparseMountainCar-v0", range(20))])
    assert np.median(best) < 160
    assert (best < 200).sum() >= 15
