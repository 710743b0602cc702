"""Deep agents for comparison: their settings, the section on them, and Bootstrapped DQN with randomized priors."""

from pathlib import Path

import numpy as np
import pytest

from bench.deep import places, recipes, tables
from bench.known import found, page

DATA = Path(__file__).parents[2] / "docs" / "data" / "environments.csv"


def one(task="CartPole-v1", agent="DQN", seed=0, greedy=100.0):
    return found.Found(task, agent, seed, 20_000, 90.0, greedy, 100, None, 1.0, False, "c")


def test_every_place_has_settings_for_every_agent():
    for place in places.places().values():
        for agent in recipes.RECIPES:
            recipe = recipes.recipe_of(agent, place.nearest)
            assert recipe.steps >= 50_000
            assert set(recipe.falling) <= set(recipe.settings)


def test_runs_are_as_long_as_those_that_they_are_compared_with():
    own = {run.task: run.steps for run in found.of_csv(DATA) if run.agent == "ucls-plan"}
    assert own == {title: place.steps for title, place in places.places().items() if title in own}


def test_five_torques_stand_for_pendulums_actions():
    env = places.pendulum()
    env.reset(seed=0)
    assert env.action_space.n == 5
    assert env.step(4)[1] <= 0


def test_tuned_runs_replace_those_of_the_same_agent():
    runs = [one(), one(agent="PPO"), one(agent="ucls-plan")]
    tuned = [one(greedy=400.0), one(greedy=500.0, seed=1), one(agent="Bootstrapped DQN"), one(task="Elsewhere")]
    assert found.together(runs, tuned) == [runs[1], runs[2], tuned[0], tuned[1]]


def test_the_table_shows_every_run():
    deep = [one(greedy=400.0), one(greedy=500.0, seed=1), one(task="Elsewhere", agent="PPO", greedy=7.0)]
    table = tables.table([one(agent="ucls-plan", greedy=300.0)], deep)
    assert list(table.head) == ["environment", "steps", "DQN", "PPO", "ucls-plan", "ucls-exact"]
    assert table.rows[0][0] == "CartPole-v1"
    assert table.rows[0][2] == "450; 90.0 (2)"
    assert table.rows[0][4] == "300; 90.0 (1)"
    assert table.rows[1][3] == "7; 90.0 (1)"
    assert page.sections([one(agent="ucls-plan")], deep)["deep runs"].startswith("3 runs, ")


def test_bootstrapped_dqn_finds_the_treasure_of_a_small_sea():
    pytest.importorskip("torch")
    from bench.deep.priors import BootstrappedDQN, Settings
    from ucls.gym.registry import make_env

    env = places.one_hot(make_env("ucls/DeepSea-v0", {"size": 5}))
    agent = BootstrappedDQN(env, 0, Settings(networks=10, batch_size=32))
    agent.learn(1000)
    seen, total, over = env.reset(seed=0)[0], 0.0, False
    while not over:
        seen, reward, over, _, _ = env.step(agent.predict(seen)[0])
        total += reward
    assert total == pytest.approx(0.99)


def test_the_ensemble_computes_what_its_networks_compute_and_its_priors_stay():
    torch = pytest.importorskip("torch")
    from bench.deep.priors import ensemble, forward

    parts = ensemble((3, 4, 2), 5, torch.Generator().manual_seed(0))
    x = torch.randn(7, 3)
    for k, found_values in enumerate(forward(parts, x)):
        w1, b1, w2, b2 = (part[k].numpy() for part in parts)
        expected = np.maximum(x.numpy() @ w1 + b1, 0.0) @ w2 + b2
        assert np.allclose(found_values.numpy(), expected, atol=1e-5)
