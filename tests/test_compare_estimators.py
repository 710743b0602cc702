"""Every estimator of a policy's value from a log against plain loops, and its influences against refits."""

import numpy as np
import pytest

from support import log_oracle as oracle
from ucls.evaluation.comparison.basis import Basis, Scale, _table, chosen_bases, fourier_basis
from ucls.evaluation.comparison.estimators import importance, lstd_q, systems
from ucls.evaluation.comparison.estimators.doubly_robust import doubly_robust
from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.estimators.systems import Design
from ucls.evaluation.comparison.estimators.traces import LAMBDAS, by_lambda, sample, some_of, traces
from ucls.evaluation.comparison.policies import logged_policy, on_log
from ucls.evaluation.logs import read_log

STEP = 1e-5


@pytest.fixture(scope="module")
def log():
    return oracle.small_log(40)


def bases(log):
    table = _table(log)
    assert table is not None
    waves = fourier_basis(2, 1, Scale(log))
    return {"table": table, "fourier": waves}


@pytest.mark.parametrize("kind", ["table", "fourier"])
def test_lstd_q_is_its_formula(log, kind):
    basis = bases(log)[kind]
    found = lstd_q.evaluate(Design(log, basis), on_log(oracle.new_policy, log))
    assert found.value.value == pytest.approx(oracle.lstd_q(log, basis, oracle.new_policy), rel=1e-9)


@pytest.mark.parametrize("kind", ["table", "fourier"])
def test_the_influence_of_an_episode_is_the_derivative_with_respect_to_its_weight(log, kind, monkeypatch):
    monkeypatch.setattr(lstd_q, "LEAVE_OUT", 0)
    basis = bases(log)[kind]
    found = lstd_q.evaluate(Design(log, basis), on_log(oracle.new_policy, log)).value
    for i in (0, 7, 23):
        more, less = np.ones((2, log.n_episodes))
        more[i] += STEP
        less[i] -= STEP
        values = [oracle.lstd_q(log, basis, oracle.new_policy, w) for w in (more, less)]
        slope = log.n_episodes * (values[0] - values[1]) / (2 * STEP)
        assert found.influence[i] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", ["table", "fourier"])
def test_leaving_an_episode_out_is_what_a_refit_without_it_gives(log, kind):
    basis = bases(log)[kind]
    S, b, m = oracle.system(log, basis, oracle.new_policy)
    all_in = m @ np.linalg.solve(S, b)
    found = lstd_q.evaluate(Design(log, basis), on_log(oracle.new_policy, log), m[None])
    for i in (1, 8, 30):
        S_i, b_i, _ = oracle.system(log, basis, oracle.new_policy, without=i)
        left = m @ np.linalg.solve(S_i, b_i)
        assert all_in - found.at[0].influence[i] / log.n_episodes == pytest.approx(left, rel=1e-8)


def test_features_in_parts_give_the_same(log, monkeypatch):
    basis = bases(log)["fourier"]
    policy = on_log(oracle.new_policy, log)
    whole = lstd_q.evaluate(Design(log, basis), policy).value
    monkeypatch.setattr(systems, "CHUNK", 1)
    monkeypatch.setattr(systems, "KEPT", 0)
    monkeypatch.setattr(systems, "LEAST", 20)
    design = Design(log, basis)
    assert len(list(design.parts())) > 3
    parts = lstd_q.evaluate(design, policy).value
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    assert np.allclose(parts.influence, whole.influence)


def test_per_decision_importance_sampling_is_its_formula(log):
    weight = importance.weights(log, importance.ratios(log, on_log(oracle.new_policy, log), log.probability))
    found = importance.per_decision(log, weight)
    expected = oracle.per_decision(log, oracle.new_policy)
    assert found.value == pytest.approx(expected.mean(), rel=1e-12)
    assert np.allclose(found.influence, expected - expected.mean())


def test_weighted_importance_sampling_is_its_formula_and_its_influence_the_derivative(log):
    weight = importance.weights(log, importance.ratios(log, on_log(oracle.new_policy, log), log.probability))
    found = importance.weighted(log, weight)
    assert found.value == pytest.approx(oracle.weighted(log, oracle.new_policy), rel=1e-12)
    for i in (0, 5, 19):
        more = np.ones(log.n_episodes)
        more[i] += STEP
        slope = log.n_episodes * (oracle.weighted(log, oracle.new_policy, more) - found.value) / STEP
        assert found.influence[i] == pytest.approx(slope, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("folds", [2, 5])
def test_doubly_robust_estimation_is_its_formula(log, folds):
    basis = bases(log)["fourier"]
    policy = on_log(oracle.new_policy, log)
    weight = importance.weights(log, importance.ratios(log, policy, log.probability))
    found = doubly_robust(Design(log, basis, folds), policy, weight)
    expected = oracle.doubly_robust(log, basis, oracle.new_policy, folds)
    assert found.value == pytest.approx(expected.mean(), rel=1e-9)
    assert np.allclose(found.influence, expected - expected.mean())


def test_doubly_robust_estimation_of_the_logged_policy_is_the_mean_return_of_terminated_episodes():
    table = oracle.small_table(30)
    log = read_log({**table, "truncated": np.zeros(len(table["t"]))}, gamma=oracle.GAMMA)
    basis = bases(log)["table"]
    found = doubly_robust(Design(log, basis, 5), logged_policy(log), np.ones(log.n_steps))
    assert found.value == pytest.approx(log.returns.mean(), rel=1e-9)


def test_the_error_of_a_difference_counts_what_both_share():
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=100), 0.1 * rng.normal(size=100)
    one, other = Estimate(2.0, common), Estimate(1.0, common + own)
    assert one.minus(other).error == pytest.approx(np.sqrt((own**2).sum() / (100 * 99)))
    assert one.minus(other).error < 0.2 * one.error


def test_a_value_is_unknown_if_the_log_never_shows_the_action():
    table = oracle.small_table(40)
    kept = ~((table["place"] == 3) & (table["action"] == 1))
    table = {name: column[kept] for name, column in table.items()}
    table["t"] = np.arange(len(table["t"]), dtype=float)
    log = read_log(table, gamma=oracle.GAMMA)
    found = lstd_q.evaluate(Design(log, bases(log)["table"]), on_log(lambda s: np.ones(len(s), int), log))
    assert not np.isfinite(found.value.error)


def test_a_basis_of_waves_is_the_package_coder():
    from ucls.features import fourier
    from ucls.kernels import active as la

    table = oracle.small_table(30)
    log = read_log({**table, "speed": np.random.default_rng(1).normal(size=len(table["t"]))}, gamma=0.9)
    low, high = log.states.min(axis=0), log.states.max(axis=0)
    basis = fourier_basis(3, 2, Scale(log))
    coder = fourier.make(fourier.Settings(3, 2), [0.0, 0.0], [1.0, 1.0], 1)
    xs = la.no_features(1, coder.n_active)
    grid = np.linspace(0, 1, 33)
    for s in log.states[:5]:
        place = [np.interp(s[k], np.quantile(log.states[:, k], grid), grid) for k in range(2)]
        fourier.encode(coder, ((s - low) / (high - low) + place) / 2, xs)
        assert np.allclose(basis.rows(s[None])[0] * coder.value, xs.value[0])


@pytest.mark.parametrize("name", ["tiles", "one_hot", "random_fourier"])
def test_features_by_name_have_one_row_per_state(log, name):
    basis = chosen_bases(log, name).main
    rows = basis.rows(log.states).toarray()
    assert rows.shape == (log.n_steps, basis.size)
    if name == "one_hot":
        assert (rows.sum(axis=1) == 1).all()
        assert (rows[log.states[:, 0] == 2].argmax(axis=1) == rows[log.states[:, 0] == 2].argmax(axis=1)[0]).all()


def test_a_table_knows_only_the_states_of_the_log(log):
    basis: Basis = bases(log)["table"]
    assert basis.rows(np.array([[1.0], [9.0]])).toarray().sum(axis=1).tolist() == [1.0, 0.0]


def test_sums_of_a_second_policy_and_of_coarser_features_are_those_of_a_design_of_their_own(log):
    fine, coarse = (fourier_basis(order, 1, Scale(log)) for order in (3, 2))
    policies = [logged_policy(log), on_log(oracle.new_policy, log), on_log(lambda s: np.full((len(s), 2), 0.5), log)]
    shared = Design(log, fine, 5)
    of_coarse = Design(log, coarse, 5, shared)
    for policy in policies:
        for design, basis in ((shared, fine), (of_coarse, coarse)):
            S, b, _ = design.sums(policy)
            alone = Design(log, basis, 5).sums(policy)
            assert np.allclose(S, alone.S, rtol=0, atol=1e-9)
            assert np.allclose(b, alone.b, rtol=0, atol=1e-9)
    assert fine.columns_in(coarse) is None


@pytest.mark.parametrize("kind", ["table", "fourier"])
def test_lstd_q_with_lambda_is_its_formula(log, kind):
    basis, policy = bases(log)[kind], on_log(oracle.new_policy, log)
    found = by_lambda(log, basis, policy)
    for lambda_, value in zip(LAMBDAS, found, strict=True):
        assert value.value == pytest.approx(oracle.lstd_q_lambda(log, basis, oracle.new_policy, lambda_), rel=1e-9)
    assert np.allclose(found[0].influence, lstd_q.evaluate(Design(log, basis), policy).value.influence)


def test_leaving_an_episode_out_with_lambda_is_what_a_refit_without_it_gives(log):
    basis, policy = bases(log)["fourier"], on_log(oracle.new_policy, log)
    found = by_lambda(log, basis, policy)[-1]
    starts = (policy.now[log.first[:-1]][:, :, None] * basis.rows(log.starts)[:, None]).reshape(log.n_episodes, -1)
    x, gap = lstd_q.pairs(
        log, policy, policy.known, slice(0, log.n_steps), basis.rows(log.states), basis.rows(log.next_states)
    )
    z = traces(log, x, LAMBDAS[-1] * policy.known * policy.now[np.arange(log.n_steps), log.action])
    theta = np.linalg.solve(z.T @ gap, z.T @ log.reward)
    for i in (1, 8, 30):
        left = oracle.lstd_q_lambda(log, basis, oracle.new_policy, LAMBDAS[-1], without=i)
        of_start = starts[i] @ theta - found.value
        assert found.value - (found.influence[i] - of_start) / log.n_episodes == pytest.approx(left, rel=1e-8)


def test_some_episodes_represent_a_large_log(log):
    assert len(sample(log, 8)) == log.n_episodes
    few = sample(log, 30_000)
    assert 2 <= len(few) < log.n_episodes
    part = some_of(on_log(oracle.new_policy, log), log, few)
    assert len(part.now) == log.some(few).n_steps
