"""The scores of bsuite: against its rules in plain loops, and against bsuite itself where it is installed."""

import functools

import numpy as np
import pytest

from support.commands import ucls
from ucls.benchmark import bsuite, places
from ucls.benchmark.bsuite import EXPERIMENTS, Log, Sea
from ucls.errors import UserError

RATIOS = [1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]


@functools.cache  # a quarter of a million questions
def written(episode):
    """Whether bsuite's logger writes a line for an episode, by its own rule."""
    return any(episode == 10 ** np.floor(np.log10(max(1, episode))) * ratio for ratio in RATIOS)


def made_up(name, seed, unfinished=False):
    """Logs whose episodes become better, each with its own speed."""
    experiment, rng, logs = EXPERIMENTS[name], np.random.default_rng(seed), []
    low, high = {"mountain_car": (-1000, -100), "cartpole": (10, 1001), "cartpole_swingup": (-20, 700)}.get(
        name, (-1, 1)
    )
    for i, settings in enumerate(experiment.settings):
        n = experiment.episodes if not (unfinished and i % 3 == 0) else int(rng.integers(50, 900))
        progress = np.linspace(0, 1, n) ** rng.uniform(0.1, 3)
        returns = low + (high - low) * progress * rng.random(n) ** 0.2
        logs.append(Log(settings, returns, rng.random(n) > 0.3 * rng.random() + 0.5 * progress))
    return logs


def rows_of(logs, episodes):
    """The lines that bsuite would have written: id, episode, total return, best episode, bad episodes."""
    rows = []
    for id, log in enumerate(logs):
        total, best, bad = 0.0, -np.inf, 0
        for episode, (r, was_bad) in enumerate(zip(log.returns, log.bad, strict=True), start=1):
            total, best, bad = total + r, max(best, r), bad + bool(was_bad)
            if episode <= episodes and written(episode):
                rows.append((id, episode, total, best, bad))
    return rows


def by_rules(name, logs):
    """The score of an experiment by bsuite's rules, in plain loops."""
    n = EXPERIMENTS[name].episodes
    rows = rows_of(logs, n)

    def regret_score(rows, ideal, base):
        last = min(n, max(row[1] for row in rows))
        mean = np.mean([ideal * row[1] - row[2] for row in rows if row[1] == last]) / last
        return min(1.0, max(0.0, (base - mean) / base))

    def good(rows, least):
        return np.mean([max(row[3] for row in rows if row[0] == id) > least for id in {row[0] for row in rows}])

    if name in ("bandit", "catch", "mountain_car"):
        return regret_score(rows, *{"bandit": (1, 0.5), "catch": (1, 1.6), "mountain_car": (-100, 1000)}[name])
    if name == "discounting_chain":
        last = min(n, max(row[1] for row in rows))
        return min(1, max(0, 1 - 10 * (1.1 - np.mean([row[2] for row in rows if row[1] == last]) / last)))
    if name == "cartpole":
        return 0.5 * (regret_score(rows, 1000, 1000) + good(rows, 500))
    if name == "cartpole_swingup":
        groups = [[row for row in rows if row[0] == id] for id in range(len(logs))]
        return np.mean([0.5 * (regret_score(some, 700, 700) + good(some, 100)) for some in groups])
    fraction, after = (0.9, 1) if name == "deep_sea" else (0.8, 100)
    solved = []
    for id, log in enumerate(logs):
        at = [row[1] for row in rows if row[0] == id and row[1] >= after and row[4] / row[1] < fraction]
        solved.append(bool(at) and min(at) < 2 ** log.settings["size"] + 100)
    return np.mean(solved)


@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_scores_are_those_of_the_rules_in_plain_loops(name, unfinished):
    logs = made_up(name, 0, unfinished)
    assert EXPERIMENTS[name].score(logs, EXPERIMENTS[name].episodes) == pytest.approx(by_rules(name, logs))


def test_the_logged_episodes_are_those_of_the_logger():
    assert bsuite.logged(3000).tolist() == [episode for episode in range(1, 3001) if written(episode)]


def test_bad_episodes_are_those_that_leave_the_diagonal_by_choice():
    sea = Sea(size=4, mapping_seed=3)
    rng = np.random.default_rng(0)
    returns = []
    for _ in range(300):
        sea.reset(seed=None)
        over, total = False, 0.0
        while not over:
            _, reward, over, _, _ = sea.step(int(rng.integers(2)))
            total += reward
        returns.append(total)
    assert (np.array(returns) < 0.9).tolist() == sea.bad[:-1], "without chance every other episode misses the treasure"
    assert 0 < np.mean(sea.bad) < 1


def test_a_catch_is_worth_1_and_a_miss_costs_1():
    env = places.Catch()
    for seed in range(5):
        (ball, _, paddle), _ = env.reset(seed=seed)
        for step in range(9):
            state, reward, over, _, _ = env.step(1 + np.sign(ball - paddle))
            paddle = state[2]
            assert over == (step == 8)
        assert reward == 1.0
    (ball, _, paddle), _ = env.reset(seed=0)
    for _ in range(9):
        _, reward, over, _, _ = env.step(0 if ball > 0 else 2)
    assert reward == -1.0


def test_the_chain_pays_at_the_time_of_the_first_choice():
    env = places.DiscountingChain(mapping_seed=7)
    for choice, time in enumerate(env.TIMES):
        env.reset(seed=0)
        rewards = [env.step(choice if t == 0 else 4)[1] for t in range(100)]
        assert rewards[time - 1] == (1.1 if choice == 2 else 1.0)
        assert np.count_nonzero(rewards) == 1


def test_an_algorithm_is_scored_and_a_wrong_name_refused():
    score, logs = bsuite.run("sarsa", "bandit", {"epsilon": 0.1}, episodes=30)
    assert 0.0 <= score <= 1.0
    assert len(logs) == 20
    assert all(len(log.returns) == 30 for log in logs)
    with pytest.raises(UserError, match="did you mean 'deep_sea'"):
        ucls("benchmark", "bsuite", "sarsa", "--experiment", "deepsea")


def test_environments_are_those_of_bsuite_itself():
    pytest.importorskip("dm_env")
    theirs = pytest.importorskip("bsuite.environments")
    assert theirs
    from bsuite.environments.bandit import SimpleBandit
    from bsuite.environments.cartpole import CartpoleConfig, CartpoleState, step_cartpole
    from bsuite.experiments.cartpole_swingup.cartpole_swingup import CartpoleSwingup

    config, rng = CartpoleConfig(1.0, 0.1, 0.5, 10.0, 9.8), np.random.default_rng(0)
    for _ in range(100):
        state, a = rng.normal(size=4), int(rng.integers(3))
        after = step_cartpole(a, 0.01, CartpoleState(*state, 0.0), config)[:4]
        mine = np.array(places.moved(*state, a - 1))
        mine[2] %= 2 * np.pi
        assert mine == pytest.approx(after)
    assert np.array_equal(places.Bandit(5).rewards, SimpleBandit(5)._rewards)
    one, other = (
        places.SwingUp(height_threshold=0.2, x_reward_threshold=0.8),
        CartpoleSwingup(0.2, x_reward_threshold=0.8),
    )
    one.reset(seed=0)
    other.reset()
    for angle in (0.3, 1.3, 1.5, 3.0):
        for a in range(3):
            one.state = (0.7, 0.1, angle, 0.5)
            other._state = CartpoleState(0.7, 0.1, angle, 0.5, 0.0)
            assert one.step(a)[1] == pytest.approx(other.step(a).reward)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_scores_are_those_of_bsuite_itself(name, monkeypatch):
    pd, analysis = pytest.importorskip("pandas"), pytest.importorskip(f"bsuite.experiments.{name}.analysis")
    # Its analysis of Deep Sea was written for a pandas whose Series could be appended to each other.
    monkeypatch.setattr(pd.Series, "append", lambda one, other: pd.concat([one, other]), raising=False)
    logs = made_up(name, 3)
    table = [
        {"bsuite_id": f"{name}/{id}", "episode": e, "total_return": total, "raw_return": total, "best_episode": best}
        | {"total_regret": e - total, "total_bad_episodes": bad, **logs[id].settings}
        for id, e, total, best, bad in rows_of(logs, EXPERIMENTS[name].episodes)
    ]
    assert EXPERIMENTS[name].score(logs, EXPERIMENTS[name].episodes) == pytest.approx(
        analysis.score(pd.DataFrame(table))
    )
