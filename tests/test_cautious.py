"""Cautious policies: lower bounds as in a plain reference, safe where data are few, and saved with the agent."""

import gymnasium
import numpy as np
import pytest

import ucls
from support.cautious_oracle import lower_bounds
from ucls.agent.logs import cautious
from ucls.errors import UserError
from ucls.evaluation import pessimism, read_log


class Places(gymnasium.Env):
    """Four places and two actions; it takes no steps."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(4)


def place_log(episodes=12, seed=0):
    """Walks over places 0 to 3 that terminate at 3; moving right is rewarded with 1 at the end, with noise."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(episodes):
        s = int(rng.integers(0, 3))
        for t in range(8):
            a = int(rng.random() < 0.6)
            after = min(3, max(0, s + (1 if a and rng.random() < 0.8 else -1)))
            rows.append((i, t, s, a, float(after == 3) + 0.1 * rng.normal(), after == 3, t == 7 and after != 3))
            s = after
            if s == 3:
                break
    names = ("episode", "t", "place", "action", "reward", "terminated", "truncated")
    return dict(zip(names, np.array(rows, float).T, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_lower_bounds_are_those_of_the_plain_reference(seed):
    log = read_log(place_log(seed=seed), gamma=0.9)
    agent = ucls.Agent(Places()).learn_from(log)
    logged = agent._logged[0]
    solution = agent.cautious_solution()
    floor, ceiling, ridge, _ = solution.limits
    expected = lower_bounds(
        *(logged.states[:, 0].astype(int), logged.action, logged.reward, logged.discount),
        *(logged.next_states[:, 0].astype(int), 4, 2, floor, ceiling, ridge, pessimism.CAUTION),
    )
    found = solution.bounds(agent.learner, np.arange(4.0)[:, None])
    assert ridge == cautious.PRIOR
    assert found[:3] == pytest.approx(expected[:3], abs=1e-3 * (ceiling - floor))
    assert np.array_equal(agent.policy("cautious")(np.arange(3)), expected[:3].argmax(axis=1))


def test_dense_features_give_the_ridge_regression_of_their_targets():
    rng = np.random.default_rng(0)
    x, action, reward = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.normal(size=60)
    logged = pessimism.Transitions(x, action, reward, np.zeros(60), x, np.array([-5.0, 5.0]))
    rows = pessimism.Rows(x, np.zeros(60))
    w, G, wide = pessimism.iterate([x[action == a] for a in range(2)], [rows, rows], logged, 0.5)
    for a in range(2):
        mine = x[action == a]
        inverse = np.linalg.inv(0.5 * np.eye(3) + mine.T @ mine)
        assert G[a] == pytest.approx(inverse)
        assert w[a] == pytest.approx(inverse @ mine.T @ (reward[action == a] + 5))
        assert rows.squares(G[a], 0.5) == pytest.approx(np.einsum("ti,ij,tj->t", x, inverse, x))
    errors = sum(((reward + 5 - x @ w[a])[action == a] ** 2).sum() for a in range(2))
    used = sum(np.trace(G[a] @ x[action == a].T @ x[action == a]) for a in range(2))
    assert wide == pytest.approx(pessimism.CAUTION * np.sqrt(errors / (60 - used)))


def test_a_lucky_reward_of_an_action_tried_once_is_not_believed():
    n = 200
    action = np.zeros(n, int)
    action[7] = 1
    reward = np.where(action == 1, 1.6, 1.0 + 0.5 * np.random.default_rng(1).normal(size=n))
    log = {"episode": np.arange(n), "place": np.zeros(n), "action": action, "reward": reward, "terminated": np.ones(n)}
    assert ucls.Agent(Places()).learn_from(log).policy("cautious")([0]).tolist() == [0]


def test_uncertainty_about_later_states_counts():
    """Both actions are tried equally often, but what follows the second one was seen to its end only once."""
    rng, rows = np.random.default_rng(2), []
    for i in range(200):
        a = i % 2
        rows.append((i, 0, 0, a, 0.0, 0, 0))
        ends = a == 0 or i == 1
        rows.append((i, 1, 1 + a, 0, (1.3 if a else 1.0 + 0.5 * rng.normal()) if ends else 0.0, ends, not ends))
    names = ("episode", "t", "place", "action", "reward", "terminated", "truncated")
    agent = ucls.Agent(Places()).learn_from(dict(zip(names, np.array(rows, float).T, strict=True)))
    mean = agent._logged[0].reward[agent._logged[0].states[:, 0] == 2]
    assert mean.tolist() == [1.3]
    assert agent.policy("cautious")([0]).tolist() == [0]


def test_several_logs_count_together_and_the_policy_is_saved(tmp_path):
    log = read_log(place_log(20), gamma=0.9)
    whole = ucls.Agent(Places()).learn_from(log)
    parts = ucls.Agent(Places()).learn_from(log.some(np.arange(9))).learn_from(log.some(np.arange(9, 20)))
    points = np.arange(3.0)[:, None]
    bounds = whole.cautious_solution().bounds(whole.learner, points)
    assert parts.cautious_solution().bounds(parts.learner, points) == pytest.approx(bounds, abs=0.2)
    again = ucls.Agent.load(whole.save(tmp_path / "agent"))
    assert np.array_equal(again.cautious_solution().bounds(again.learner, points), bounds)
    assert np.array_equal(again.policy("cautious")(np.arange(3)), whole.policy("cautious")(np.arange(3)))


def test_without_a_log_there_is_no_cautious_policy():
    with pytest.raises(UserError, match="call learn_from"):
        ucls.Agent(Places()).policy("cautious")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("first", lambda array: array[:-1]),
        ("first", lambda array: array[::-1].copy()),
        ("features", lambda array: array + 10_000),
        ("features", lambda array: np.zeros_like(array)),
        ("weights", lambda array: array * np.nan),
        ("inverse", lambda array: array[:-1]),
        ("limits", lambda array: array[::-1].copy()),
        ("actions", lambda array: array + 2),
        ("states", lambda array: array[:-1]),
    ],
)
def test_a_corrupted_solution_is_refused(name, change):
    agent = ucls.Agent(Places()).learn_from(place_log())
    arrays = agent.checkpoint()
    arrays["cautious." + name] = change(arrays["cautious." + name])
    with pytest.raises(UserError, match="cautious policy in it is corrupted"):
        agent.restore(arrays, 0)


def test_an_invalid_action_is_not_counted_on():
    """Place 1 is worth 1 by its action 0; action 1 seems to be worth 5 there, but the mask says that it is invalid."""
    rows = []
    for i in range(60):
        rows.append((i, 0, 0, 0, 0.0, 0, 1, 1))
        rows.append((i, 1, 1, 0, 1.0, 1, 1, 0))
    rows += [(i, 0, 1, 1, 5.0, 1, 1, 1) for i in range(60, 120)]
    names = ("episode", "t", "place", "action", "reward", "terminated", "action_mask_0", "action_mask_1")
    table = dict(zip(names, np.array(rows, float).T, strict=True))
    values = []
    for masked in (True, False):
        log = {name: column for name, column in table.items() if masked or "mask" not in name}
        agent = ucls.Agent(Places()).learn_from(log, gamma=0.9)
        values.append(agent.cautious_solution().bounds(agent.learner, np.zeros((1, 1)))[0, 0])
    assert values == pytest.approx([0.9, 4.5], abs=0.2)


def test_in_a_state_that_the_log_never_shows_the_policy_does_what_the_log_mostly_did_near_it():
    rng = np.random.default_rng(0)
    place = rng.integers(0, 3, 300)
    action = (rng.random(300) < np.where(place == 2, 0.8, 0.2)).astype(int)
    log = {"episode": np.arange(300), "place": place, "action": action, "reward": rng.normal(size=300),
           "terminated": np.ones(300)}  # fmt: skip
    agent = ucls.Agent(Places()).learn_from(log)
    solution = agent.cautious_solution()
    last = np.array([[3.0]])
    assert solution.bounds(agent.learner, last) == pytest.approx(solution.limits[0], abs=6)
    assert np.ptp(solution.bounds(agent.learner, last)) == 0
    assert agent.policy("cautious")([3]).tolist() == [1]
    assert solution.preferences(agent.learner, last).sum() == pessimism.NEIGHBORS
    known = np.arange(3.0)[:, None]
    assert np.array_equal(solution.preferences(agent.learner, known), solution.bounds(agent.learner, known))
