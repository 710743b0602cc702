"""Comparisons of policies from a log: the answer, its honesty, and the command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import ucls
from support.ring import GAMMA, often, seldom, true_value, true_values, walk
from ucls.cli import app
from ucls.errors import UserError
from ucls.evaluation import compare, read_log
from ucls.evaluation.comparison import verdict
from ucls.evaluation.comparison.basis import Scale, chosen_bases, fourier_basis
from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.estimators.propensity import fit_propensity
from ucls.evaluation.comparison.policies import on_log
from ucls.evaluation.comparison.support import regions_of, support_of

TRUTH = true_value(0.8) - true_value(0.5)


def test_a_better_policy_is_found_and_the_interval_covers_the_difference():
    found = compare(walk(200, 0), {"often": often}, gamma=GAMMA)
    [one] = found.candidates
    assert one.verdict == "better"
    assert one.difference.low <= TRUTH <= one.difference.high
    assert found.logged.low <= true_value(0.5) <= found.logged.high
    assert one.value.low <= true_value(0.8) <= one.value.high
    assert found.safe == "often"
    assert "often is better than the logged policy by +" in one.sentence


def test_a_worse_policy_is_found_and_the_logged_one_is_safe():
    found = compare(walk(200, 1), seldom, gamma=GAMMA)
    assert found.candidates[0].verdict == "worse"
    assert found.safe == "the logged policy"


def test_the_same_policy_differs_by_nothing():
    table = walk(60, 2)
    taken = np.zeros((len(table["t"]), 2))
    taken[np.arange(len(taken)), table["action"].astype(int)] = 1.0
    [one] = compare(table, {"same": taken}, gamma=GAMMA).candidates
    assert one.difference.estimate == pytest.approx(0.0, abs=1e-9)
    assert one.verdict == "cannot say"
    assert "do not differ" in one.because[0]


def test_intervals_cover_and_better_is_rarely_wrong():
    covered, wrong = [], []
    for seed in range(100):
        log = read_log(walk(50, seed), gamma=GAMMA)
        [better], [half] = (compare(log, policy).candidates for policy in (often, lambda s: np.full((len(s), 2), 0.5)))
        covered.append(better.difference.low <= TRUTH <= better.difference.high)
        covered.append(half.difference.low <= 0 <= half.difference.high)
        wrong.append(half.verdict == "better")
    assert np.mean(covered) >= 0.86, "90% but for chance: three standard errors are 6% if they were independent"
    assert np.mean(wrong) <= 0.1, "5% but for chance"


def test_more_episodes_are_asked_for_if_the_interval_includes_0_and_then_decide():
    few = [compare(walk(25, seed, noise=3.0), often, gamma=GAMMA).candidates[0] for seed in range(8)]
    one = next(each for each in few if each.verdict == "cannot say" and each.difference.estimate > 0.5)
    assert one.more_episodes is not None
    decided = [
        compare(walk(25 + one.more_episodes, seed, noise=3.0), often, gamma=GAMMA).candidates[0] for seed in range(5)
    ]
    assert sum(each.verdict == "better" for each in decided) >= 3


def test_fitted_probabilities_are_close_and_stand_in_for_logged_ones():
    table = walk(300, 3, right=0.7)
    probability = table.pop("propensity")
    log = read_log(table, gamma=GAMMA)
    fitted = fit_propensity(log, chosen_bases(log)[:2])
    assert np.abs(fitted.probability - probability).max() < 0.1
    assert fitted.calibration_error < 0.03
    found = compare(log, often)
    assert found.propensities == "fitted"
    assert found.calibration_error == pytest.approx(fitted.calibration_error)


def test_a_change_of_the_environment_forbids_a_verdict_and_a_change_of_the_policy_does_not():
    [one] = compare(walk(300, 4, change=1.0), often, gamma=GAMMA).candidates
    assert one.verdict == "cannot say"
    assert any("changed over time" in reason for reason in one.because)
    early, late = walk(150, 5, right=0.3), walk(150, 6, right=0.6)
    late["episode"] += 150
    both = {name: np.concatenate([early[name], late[name]]) for name in early}
    [one] = compare(both, often, gamma=GAMMA).candidates
    assert one.verdict == "better"


def test_hidden_state_is_detected_by_the_returns():
    """The reward depends on the episode, which the state does not show: fitted values are those of no Markov chain."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(400):
        kind, s = int(rng.integers(2)), 0
        for t in range(8):
            a = int(rng.random() < 0.5)
            last = t == 7 or rng.random() < (0.6 if kind else 0.02)
            rows.append((i, t, s, a, 1.0 if not kind else 0.0, last))
            if last:
                break
    table = dict(zip(("episode", "t", "place", "action", "reward", "terminated"), np.array(rows, float).T, strict=True))
    [one] = compare(table, lambda s: np.ones(len(s), int), gamma=GAMMA).candidates
    assert any(check.name == "returns" and check.failed for check in one.checks)
    assert one.verdict == "cannot say"


def test_poor_features_do_not_decide():
    """Features that cannot represent the values: the interval must also hold for finer ones, or they are refused."""
    table = walk(600, 7)
    [one] = compare(table, often, gamma=GAMMA, features=lambda states: np.ones((len(states), 1))).candidates
    covers = one.difference.low <= TRUTH <= one.difference.high
    assert covers or one.verdict == "cannot say"


def test_what_the_log_never_shows_forbids_a_verdict():
    table = walk(200, 8)
    kept = ~((table["place"] == 4) & (table["action"] == 1))
    table["action"] = np.where(kept, table["action"], 0.0)
    [one] = compare(table, {"right": lambda s: np.ones(len(s), int)}, gamma=GAMMA).candidates
    assert one.verdict == "cannot say"
    assert any("the log does not" in reason for reason in one.because)
    assert one.support.never == pytest.approx(np.mean(table["place"] == 4), abs=0.02)
    assert one.support.actions == [1]
    assert one.support.where(["place"]) in next(reason for reason in one.because if "the log does not" in reason)
    low, high = one.support.worst[0].low[0], one.support.worst[0].high[0]
    assert low <= 4 <= high
    assert one.support.where(["place"]) == f"most of all where place {low:g} to {high:g}"


def test_actions_that_are_not_in_the_log_make_values_unknown():
    [one] = compare(walk(50, 9), lambda s: np.full(len(s), 7), gamma=GAMMA).candidates
    assert one.verdict == "cannot say"
    assert one.support.never == 1.0
    assert one.as_data()["difference"] == {"estimate": None, "low": None, "high": None}


def test_regions_split_the_states_into_equal_parts():
    rng = np.random.default_rng(0)
    n = 6400
    table = {name: rng.normal(size=n) for name in ("x_0", "x_1", "reward")}
    table |= {"episode": np.arange(n) // 10, "terminated": np.arange(n) % 10 == 9, "action": rng.random(n) < 0.5}
    table["action"] = np.where(table["x_0"] > 1, 0, table["action"])
    log = read_log(table)
    region = regions_of(log)
    assert np.bincount(region).tolist() == pytest.approx([100] * 64, abs=2)
    found = support_of(log, on_log(lambda s: np.ones(len(s), int), log), region)
    assert 0.05 < found.never < np.mean(table["x_0"] > 1)
    assert found.worst[0].low[0] > 0.8


def test_holm_keeps_levels_and_p_values_consistent():
    found = verdict.levels([0.03, 0.02, 0.6], 0.9)
    assert [level for level, _ in found] == pytest.approx([0.95, 1 - 0.1 / 3, 0.9])
    assert [p for _, p in found] == pytest.approx([0.06, 0.06, 0.6])
    assert verdict.levels([0.08, 0.09], 0.9)[0][0] == pytest.approx(0.95), "0.08 exceeds 0.05, and stops the others"
    assert verdict.levels([0.08, 0.09], 0.9)[1][0] == pytest.approx(0.95)


def test_the_number_of_more_episodes_is_that_of_80_percent_power():
    rng = np.random.default_rng(0)
    influence = rng.normal(size=100)
    estimate = Estimate(0.1, influence)
    more = verdict._more(100, [estimate], 0.9)
    needed = ((1.68 + 0.8416) * influence.std() / 0.1) ** 2
    assert more == pytest.approx(needed - 100, rel=0.12)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("no_such_module:f", "cannot be imported"),
        ("math:nothing", "has no function 'nothing'"),
        ("nothing", "no policy 'nothing'"),
        ("columns:q_", "no column begins with 'q_'"),
        (lambda s: np.ones((len(s), 2, 2)), "array of shape"),
        (lambda s: np.ones((len(s), 2)), "sum to 1"),
        (lambda s: s[:3, 0], "array of shape"),
        (lambda s: 1 / 0, "ZeroDivisionError"),
        (lambda s: np.array(["left"] * len(s)), "returned actions such as"),
        (3, "a policy cannot be a int"),
        ([], "no policy to compare"),
    ],
)
def test_a_policy_that_is_none_is_one_line(policy, told):
    with pytest.raises(UserError, match=told):
        compare(walk(5, 0), policy, gamma=GAMMA)


def test_probability_columns_are_policies_and_not_states(tmp_path):
    table = walk(100, 10)
    rows = len(table["t"])
    table |= {"new_0": np.full(rows, 0.2), "new_1": np.full(rows, 0.8)}
    found = compare(table, "columns:new_", gamma=GAMMA)
    assert found.log.columns.state == ("place",)
    given = compare({name: table[name] for name in list(table)[:7]}, often, gamma=GAMMA)
    assert found.candidates[0].difference.estimate == pytest.approx(given.candidates[0].difference.estimate)


def test_an_agent_is_a_policy(tmp_path, monkeypatch):
    agent = ucls.Agent("ucls/RiverSwim-v0", seed=1).learn(300)
    path = agent.save(tmp_path / "swimmer")
    rng = np.random.default_rng(0)
    rows = []
    env = agent.env.unwrapped
    for i in range(30):
        s, _ = env.reset(seed=i)
        for t in range(20):
            a = int(rng.integers(2))
            after, r, *_ = env.step(a)
            rows.append((i, t, s[0], a, 0.5, r, t == 19))
            s = after
    names = ("episode", "t", "place", "action", "propensity", "reward", "truncated")
    table = dict(zip(names, np.array(rows, float).T, strict=True))
    found = compare(table, {"agent": agent})
    chosen = agent.predict(np.array(rows)[:, 2:3], deterministic=True)[0]
    log = read_log(table)
    assert np.array_equal(on_log(agent, log).now.argmax(axis=1), chosen)
    text = [",".join(f"{x!r}" for x in map(float, row)) for row in zip(*table.values(), strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([",".join(names), *text]))
    result = CliRunner().invoke(app, ["compare-log", str(tmp_path / "log.csv"), "--policy", str(path), "--json"])
    data = json.loads(result.output)
    assert data["policies"][0]["name"] == "swimmer"
    assert data["difference"]["estimate"] == pytest.approx(found.candidates[0].difference.estimate)


@pytest.fixture
def files(tmp_path, monkeypatch):
    table = walk(120, 11)
    text = [",".join(f"{x!r}" for x in map(float, row)) for row in zip(*table.values(), strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([",".join(table), *text]))
    (tmp_path / "my_rules.py").write_text(
        "import numpy as np\ndef often(s):\n    return np.tile([0.2, 0.8], (len(s), 1))\n"
        "def right(s):\n    return np.ones(len(s), int)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_command_answers_in_one_line_and_in_json(files):
    command = ["compare-log", "log.csv", "--policy", "my_rules:often", "--gamma", "0.9"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "often is better than the logged policy by" in " ".join(result.output.split())
    assert "largest weight" in result.output
    data = json.loads(CliRunner().invoke(app, [*command, "--json"]).output)
    assert data["verdict"] == "better"
    assert data["difference"]["low"] < data["difference"]["estimate"] < data["difference"]["high"]
    assert data["log"]["columns"]["state"] == ["place"]
    assert data["log"]["horizon"] == pytest.approx(10)


def test_several_policies_are_corrected_and_chosen_states_valued(files):
    command = ["compare-log", "log.csv", "--policy", "a=my_rules:often", "--policy", "b=my_rules:right"]
    data = json.loads(CliRunner().invoke(app, [*command, "--gamma", "0.9", "--at", "2", "--at", "4", "--json"]).output)
    assert [one["name"] for one in data["policies"]] == ["a", "b"]
    assert max(one["confidence"] for one in data["policies"]) == pytest.approx(0.95)
    assert data["safe"] in ("a", "b")
    assert "verdict" not in data
    points = data["policies"][0]["at"]
    assert [point["state"] for point in points] == [[2.0], [4.0]]
    for point, place in zip(points, (2, 4), strict=True):
        assert point["new"]["low"] <= true_values(0.8)[place] <= point["new"]["high"]
        assert point["logged"]["low"] <= true_values(0.5)[place] <= point["logged"]["high"]
    assert CliRunner().invoke(app, [*command, "--at", "2"]).exit_code == 0


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--gamma", "1.5"], "gamma must be"),
        (["--confidence", "0.2"], "confidence must be"),
        (["--reward", "rewrad"], "did you mean 'reward'"),
        (["--features", "tils"], "did you mean 'tiles'"),
        (["--at", "1,2"], "a state has 1 numbers"),
        (["--at", "x"], "numbers separated by commas"),
        (["--ends", "truncated"], "leave --ends out"),
        (["--policy", "x="], "--policy cannot be"),
        (["--policy", "my_rules:lost"], "has no function 'lost'"),
    ],
)
def test_bad_input_is_refused(files, more, told):
    command = ["compare-log", "log.csv", "--policy", "my_rules:often", *more]
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, UserError)
    assert told in str(result.exception)


def test_probabilities_are_recalibrated_where_that_helps_on_other_episodes():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=4000)
    p = np.where(x < 0.5, 0.1, 0.9)
    log = read_log({"episode": np.arange(4000), "x": x, "action": (rng.random(4000) < p).astype(float),
                    "reward": x, "terminated": np.ones(4000)})  # fmt: skip
    line = fourier_basis(1, 1, Scale(log))  # a slope cannot be a jump
    fitted = fit_propensity(log, [line])
    assert fitted.curves is not None
    assert fitted.calibration_error < 0.5 * fitted.raw_error
    error, plain = (np.abs(each.at(x[:, None])[:, 1] - p).mean() for each in (fitted, fitted._replace(curves=None)))
    assert error < 0.2 * plain


def test_features_that_predict_held_out_actions_best_are_chosen():
    log = read_log(
        {name: column for name, column in walk(200, 3, right=0.7).items() if name != "propensity"}, gamma=GAMMA
    )
    constant = fourier_basis(1, 0, Scale(log))
    table = chosen_bases(log).table
    rng = np.random.default_rng(1)
    by_place = replace(log, action=(rng.random(log.n_steps) < 0.1 + 0.2 * log.states[:, 0]).astype(int))
    assert fit_propensity(by_place, [table, constant]).basis is table
