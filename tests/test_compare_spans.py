"""Intervals allow for what features may miss, and verdicts are refused where that dominates or cannot be seen."""

import numpy as np
import pytest

from ucls.evaluation import compare
from ucls.evaluation.comparison.checks import features_check
from ucls.evaluation.comparison.estimators import traces
from ucls.evaluation.comparison.estimators.estimate import Estimate, quantile
from ucls.evaluation.comparison.spans import allowance, p_value, span


def estimate(value, seed=0, n=100, size=1.0):
    noise = size * np.random.default_rng(seed).normal(size=n)
    return Estimate(value, noise - noise.mean())


def test_the_allowance_is_the_disagreement_beyond_its_noise():
    one, other = estimate(5.0), estimate(2.0, seed=1)
    gap = one.minus(other)
    assert allowance(one, other, 0.9) == pytest.approx(3 - quantile(0.9, gap.freedom) * gap.error)
    assert allowance(one, estimate(5.05, seed=1), 0.9) == 0
    assert allowance(one, Estimate(np.nan, np.full(100, np.inf)), 0.9) == 0


@pytest.mark.parametrize("extra", [0.0, 0.2])
def test_an_interval_excludes_0_exactly_if_its_p_value_is_below_the_level(extra):
    for k in range(200):
        several = [estimate(0.003 * k, size=1.0), estimate(0.004 * k, seed=1, size=1.5)]
        found = span(several, 0.9, extra)
        assert (found.low > 0) == (p_value(several, extra) < 0.1)
    assert p_value([estimate(1.0), estimate(-1.0, seed=1)]) == 1


def test_features_fail_their_test_only_if_they_change_the_difference_by_more_than_its_noise():
    here = estimate(5.0)
    noise = quantile(0.9, here.freedom) * here.error
    near = Estimate(5.0 + 0.9 * noise, here.influence + 1e-3 * estimate(0, seed=2).influence)
    far = Estimate(5.0 + 1.5 * noise, near.influence)
    assert not features_check(here, near, 0.9, ("a", "b")).failed
    assert features_check(here, far, 0.9, ("a", "b")).failed


def contexts(n, seed=0):
    rng = np.random.default_rng(seed)
    x, action = rng.uniform(-1, 1, (n, 2)), rng.integers(0, 2, n)
    reward = np.where(action == 1, 2 + x[:, 0], x[:, 1]) + 0.1 * rng.normal(size=n)
    return {"episode": np.arange(n), "x": x[:, 0], "y": x[:, 1], "action": action, "reward": reward,
            "terminated": np.ones(n)}  # fmt: skip


def always_1(states):
    return np.ones(len(states), int)


def test_returns_of_single_steps_agree_with_the_fit_up_to_rounding():
    [one] = compare(contexts(1000, seed=1), always_1).candidates
    assert {check.name: check.p_value for check in one.checks}["returns"] == 1
    assert one.verdict == "better"


def test_without_a_second_fit_or_estimator_there_is_no_verdict():
    [one] = compare(contexts(22), always_1, features=lambda s: np.column_stack([np.ones(len(s)), s])).candidates
    assert one.difference.low > 0
    assert one.verdict == "better"  # given features are confirmed by those that would have been chosen
    [alone] = compare(contexts(24), always_1).candidates
    assert alone.verdict == "cannot say"
    assert any("to confirm the result" in reason for reason in alone.because)


def delayed(n, seed=0, steps=20):
    """Rewards depend on the action before, which is not logged as part of the state, and episodes are truncated."""
    rng = np.random.default_rng(seed)
    action = rng.integers(0, 2, (n, steps))
    before = np.roll(action, 1, axis=1)
    before[:, 0] = 0
    return {"episode": np.repeat(np.arange(n), steps), "x": rng.uniform(size=n * steps), "action": action.ravel(),
            "reward": (before + 0.1 * rng.normal(size=before.shape)).ravel(),
            "truncated": np.tile(np.arange(steps) == steps - 1, n)}  # fmt: skip


def test_a_cause_that_acts_later_is_seen_with_a_larger_lambda_and_forbids_a_verdict():
    [one] = compare(delayed(100), always_1, gamma=0.9).candidates
    assert one.verdict == "cannot say"
    assert next(check for check in one.checks if check.name == "lambda").failed
    assert any("depends on lambda" in reason for reason in one.because)
    assert [line.name for line in one.lambdas] == ["lambda 0.5", "lambda 0.9"]
    [markov] = compare(delayed(100) | {"y": np.roll(delayed(100)["action"], 1)}, always_1, gamma=0.9).candidates
    assert not next(check for check in markov.checks if check.name == "lambda").failed


def test_the_answer_for_a_large_log_depends_on_lambda_in_some_episodes(monkeypatch):
    monkeypatch.setattr(traces, "ENTRIES", 5000)
    [one] = compare(delayed(100), always_1, gamma=0.9).candidates
    assert one.lambdas[0].name.startswith("lambda 0, ")
    assert one.as_data()["lambdas"].keys() == {line.name for line in one.lambdas}
