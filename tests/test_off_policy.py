"""Off-policy evaluation: lambda leaves the trace a variance, or intervals are refused; weights say what data count."""

import json

import numpy as np
import pytest

from support.commands import ucls
from ucls.errors import UserError
from ucls.evaluation import LSTD
from ucls.evaluation.chains import domains, simulate
from ucls.evaluation.off_policy import LARGEST


def acted(chain, chance):
    """The chain under a policy that takes the first successor of every state with this chance, the others alike."""
    others = (chain.P > 0).astype(float)
    first = others.argmax(1)[:, None] == np.arange(len(others))
    others[first] = 0.0
    return chain._replace(P=np.where(first, chance, (1 - chance) * others / others.sum(1, keepdims=True)))


def walk(behavior, target, steps=400):
    """A log of a garnet and its importance ratios."""
    chain = domains()["garnet"].chain
    walked, wanted = acted(chain, behavior), acted(chain, target)
    states, rewards, discounts = simulate(walked, steps, np.random.default_rng(0))
    here, there = states[:-1], states[1:]
    return here, rewards, discounts, there, wanted.P[here, there] / walked.P[here, there]


def evaluator(log, lambda_=None):
    here, rewards, discounts, there, rho = log
    lstd = LSTD(12, lambda_)
    lstd.observe_batch(here[:, None], rewards, discounts, there[:, None], rho)
    return lstd


def square(log):
    """The mean of (gamma rho)^2, from its definition; the first transition has none before it."""
    _, _, discounts, _, rho = log
    return ((discounts * rho)[:-1] ** 2).sum() / len(rho)


@pytest.mark.parametrize(("behavior", "target"), [(0.33, 0.5), (0.2, 0.6), (0.1, 0.7), (0.02, 0.9)])
def test_the_default_lambda_is_the_largest_with_a_variance(behavior, target):
    log = walk(behavior, target)
    lstd = evaluator(log)
    allowed = [i / 10 for i in range(10) if (i / 10) ** 2 * square(log) <= LARGEST]
    assert lstd.lambda_ == max(allowed)
    assert lstd.report().growth == pytest.approx(lstd.lambda_**2 * square(log))
    assert lstd.report().growth <= LARGEST


def test_on_policy_the_default_lambda_is_nine_tenths_and_results_are_the_same():
    log = (*walk(0.3, 0.3)[:4], 1.0)
    chosen, given = evaluator(log), evaluator(log, 0.9)
    assert chosen.lambda_ == 0.9
    assert np.array_equal(chosen.w, given.w)
    assert chosen.interval([3]) == given.interval([3])
    assert chosen.report().effective_sample_size == len(chosen)


def test_a_lambda_is_chosen_anew_when_ratios_come_in_a_stream():
    here, rewards, discounts, there, rho = walk(0.2, 0.6)
    rho[:200] = 1.0
    lstd = LSTD(12)
    for t in range(len(here)):
        lstd.observe(here[t : t + 1], rewards[t], discounts[t], there[t : t + 1], rho[t])
        if t in (100, 300):
            lstd.value([0])
    whole = evaluator((here, rewards, discounts, there, rho))
    assert lstd.lambda_ == whole.lambda_ < 0.9
    assert lstd.w == pytest.approx(whole.w)


def test_a_lambda_without_a_variance_has_values_but_no_intervals():
    log = walk(0.1, 0.7)
    lstd = evaluator(log, 0.9)
    assert lstd.report().growth == pytest.approx(0.81 * square(log))
    assert lstd.report().growth > 1
    assert np.isfinite(lstd.value([0]))
    say = rf"E\[rho\^2\] is {lstd.report().growth:.3g}, and must be below 1; give lambda {evaluator(log).lambda_:g}"
    for ask in (lstd.interval, lstd.standard_error):
        with pytest.raises(UserError, match=say):
            ask([0])
    assert np.isfinite(evaluator(log, 0.0).interval([0]).high)


def test_the_effective_sample_size_is_that_of_the_weights_of_the_traces():
    log = walk(0.2, 0.6)
    _, _, discounts, _, rho = log
    weighted, plain = np.zeros(len(rho)), np.zeros(len(rho))
    for t in range(len(rho)):
        before = 0.0 if t == 0 else discounts[t - 1] * 0.4
        weighted[t] = rho[t] * (1 + (before * weighted[t - 1] if t else 0.0))
        plain[t] = 1 + (before * plain[t - 1] if t else 0.0)
    w = weighted / plain
    assert evaluator(log, 0.4).report().effective_sample_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert evaluator(log, 0.0).report().effective_sample_size == pytest.approx(rho.sum() ** 2 / (rho**2).sum())


def test_evaluate_log_chooses_lambda_and_says_what_the_data_are_worth(tmp_path):
    here, rewards, discounts, there, rho = walk(0.1, 0.7)
    path = tmp_path / "log.npz"
    np.savez(path, x=here[:, None], reward=rewards, discount=discounts, x_next=there[:, None], rho=rho)
    lstd = evaluator((here, rewards, discounts, there, rho))
    found = json.loads(ucls("evaluate-log", path, "--json").stdout)
    assert (found["lambda"], found["growth"]) == (lstd.lambda_, pytest.approx(lstd.report().growth))
    assert found["effective_sample_size"] == pytest.approx(lstd.report().effective_sample_size)
    text = " ".join(ucls("evaluate-log", path).stdout.split())
    assert f"off-policy: effective sample size {found['effective_sample_size']:,.0f} (of the trace weights" in text
    assert f"lambda {lstd.lambda_:g}, gamma^2 lambda^2 E[rho^2] = {found['growth']:.2g}" in text
    with pytest.raises(UserError, match=r"log\.npz: with lambda 0\.9 no variance exists: .* give lambda 0\.[1-8]"):
        ucls("evaluate-log", path, "--lambda", 0.9)
    np.savez(path, x=here[:, None], reward=rewards, discount=discounts, x_next=there[:, None])
    assert json.loads(ucls("evaluate-log", path, "--json").stdout)["lambda"] == 0.9
    assert "effective sample size" not in ucls("evaluate-log", path).stdout


def test_ratios_of_zero_and_huge_ratios_have_a_lambda():
    here, rewards, discounts, there, rho = walk(0.3, 0.3)
    assert evaluator((here, rewards, discounts, there, 0 * rho)).report().effective_sample_size == 0
    assert evaluator((here, rewards, discounts, there, rho * 1e200)).lambda_ == 0
