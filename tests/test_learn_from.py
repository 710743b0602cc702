"""An agent learns from logged transitions what they say, and its policies follow from its intervals."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import ucls
from support.transitions import assert_same_learner
from ucls.cli import app
from ucls.errors import UserError
from ucls.evaluation import read_log


def river_log(episodes=40, seed=0, steps=60):
    """A log of a fish that swims up with probability 0.7."""
    env = ucls.Agent("ucls/RiverSwim-v0").env.unwrapped
    rng, rows = np.random.default_rng(seed), []
    for i in range(episodes):
        s, _ = env.reset(seed=1000 * seed + i)
        for t in range(steps):
            a = int(rng.random() < 0.7)
            after, r, *_ = env.step(a)
            rows.append((i, t, s[0], a, 0.7 if a else 0.3, r, t == steps - 1))
            s = after
    names = ("episode", "t", "place", "action", "propensity", "reward", "truncated")
    return dict(zip(names, np.array(rows, float).T, strict=True))


def test_the_values_of_a_one_step_log_are_the_mean_rewards():
    rng = np.random.default_rng(0)
    n = 4000
    action = rng.integers(0, 2, n)
    log = {"episode": np.arange(n), "state": np.zeros(n), "action": action,
           "reward": np.where(action == 1, 2.0, 1.0) + rng.normal(size=n), "terminated": np.ones(n)}  # fmt: skip
    agent = ucls.Agent("ucls/OneState-v0").learn_from(log)
    mean, _ = agent.value_estimates([0.0])
    expected = [log["reward"][action == a].mean() for a in range(2)]
    assert mean == pytest.approx(expected, abs=0.05)
    assert agent.policy("greedy")(np.zeros((3, 1))).tolist() == [1, 1, 1]


def test_a_log_in_two_halves_teaches_what_the_whole_does():
    log = read_log(river_log(10))
    whole = ucls.Agent("ucls/RiverSwim-v0").learn_from(log)
    parts = ucls.Agent("ucls/RiverSwim-v0").learn_from(log.some(np.arange(5))).learn_from(log.some(np.arange(5, 10)))
    assert_same_learner(whole.learner, parts.learner)


def test_a_warm_start_continues_live_with_a_new_episode():
    agent = ucls.Agent("ucls/RiverSwim-v0").learn(50)
    agent.learn_from(river_log(5))
    assert agent.steps == 50
    agent.learn(50)
    assert agent.steps == 100
    assert not agent.diverged


def test_attitudes_follow_the_interval():
    agent = ucls.Agent("ucls/RiverSwim-v0").learn_from(river_log())
    points = np.linspace(0.01, 0.9, 30)[:, None]
    mean, radius = agent.value_estimates(points)
    assert np.array_equal(agent.policy("optimistic")(points), (mean + radius).argmax(axis=1))
    assert np.array_equal(agent.policy("greedy")(points), mean.argmax(axis=1))
    with pytest.raises(UserError, match="did you mean 'cautious'"):
        agent.policy("causious")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"action": "a"}, "an agent takes integers"),
        ({"action": 5}, "the agent has 0 to 1"),
        ({"speed": 1.0}, "the log's states have 2 numbers"),
    ],
)
def test_a_log_that_does_not_fit_the_agent_is_refused(change, told):
    table = river_log(3)
    [(name, value)] = change.items()
    if name == "speed":
        table["speed"] = np.arange(len(table["t"]), dtype=float)
    else:
        table["action"] = np.where(table["action"] == 1, value, "b") if value == "a" else table["action"] * value
    with pytest.raises(UserError, match=told):
        ucls.Agent("ucls/RiverSwim-v0").learn_from(table)


def test_learn_log_writes_an_agent_that_compare_log_judges(tmp_path):
    table = river_log(40)
    rows = [",".join(f"{x!r}" for x in map(float, row)) for row in zip(*table.values(), strict=True)]
    path, out = tmp_path / "log.csv", tmp_path / "swimmer"
    path.write_text("\n".join([",".join(table), *rows]))
    result = CliRunner().invoke(
        app, ["learn-log", str(path), "--env", "ucls/RiverSwim-v0", "--out", str(out), "--json"]
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["transitions"] == 40 * 59
    policies = [f"{attitude}:{data['out']}" for attitude in ("greedy", "cautious", "optimistic")]
    options = [word for policy in policies for word in ("--policy", policy)]
    result = CliRunner().invoke(app, ["compare-log", str(path), *options, "--json"])
    assert result.exit_code == 0, result.output
    assert [one["name"] for one in json.loads(result.output)["policies"]] == ["greedy", "cautious", "optimistic"]
