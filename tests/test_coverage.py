"""Chains have the answers they claim, and intervals cover what Theorem 1 promises on them."""

import json

import numpy as np
import pytest

from support.commands import ucls
from ucls.evaluation import LSTD, chains, one_state
from ucls.evaluation.coverage import SETTINGS, Case, as_data, measure, rows
from ucls.evaluation.lstd import factor_of
from ucls.stats import proportion

DOMAINS = chains.domains()


@pytest.mark.parametrize("name", DOMAINS)
def test_chains_are_chains_and_exact_features_hold_their_values(name):
    domain = DOMAINS[name]
    chain = domain.chain
    np.testing.assert_allclose(chain.P.sum(axis=1), 1)
    assert (chain.P >= 0).all()
    np.testing.assert_allclose(chain.stationary() @ chain.P, chain.stationary(), atol=1e-12)
    assert chain.stationary().min() > 1e-3  # every state is met
    for lambda_ in (0.0, 0.8, 1.0):
        found = domain.exact @ chain.fixed_point(domain.exact, lambda_)
        np.testing.assert_allclose(found, chain.values(), rtol=1e-9, atol=1e-9)
    assert np.abs(domain.poor @ chain.fixed_point(domain.poor, 0.8) - chain.values()).max() > 0.1


def test_values_are_the_textbook_ones():
    np.testing.assert_allclose(chains.boyan().values(), -2 * np.arange(12, 0, -1))
    np.testing.assert_allclose(chains.random_walk().values(), np.arange(1, 10) / 10)
    assert chains.river_swim(up=1.0).stationary() @ chains.river_swim(up=1.0).mean_reward() == pytest.approx(
        0.22, abs=0.05
    )


@pytest.mark.parametrize("features", ["exact", "poor"])
@pytest.mark.parametrize("name", DOMAINS)
def test_lstd_converges_to_the_fixed_point(name, features):
    domain = DOMAINS[name]
    X = getattr(domain, features)
    states, r, gamma = chains.simulate(chains.noise_of(domain, "state"), 100_000, np.random.default_rng(1))
    lstd = LSTD(X.shape[1], 0.7)
    lstd.observe_batch(X[states[:-1]], r, gamma, X[states[1:]])
    error = (lstd.value(X) - X @ domain.chain.fixed_point(X, 0.7)) / lstd.standard_error(X, "robust")
    assert np.abs(error).max() < 4


def check_theorem_1(case, runs, n):
    """The bound with the plug-in estimator holds as often as it promises, in every state, within a binomial margin."""
    found = measure(case, runs, (n,), ("sandwich",))
    for p in (0.05, 0.1, 0.3):
        hits = (np.abs(found.errors[:, 0]) <= factor_of(p, "chebyshev") * found.standard[:, 0, 0]).sum(axis=0)
        assert proportion(int(hits.min()), runs, confidence=0.998).high >= 1 - p, (case, p, hits.min())


@pytest.mark.parametrize("name", DOMAINS)
def test_theorem_1_holds_with_the_plug_in_from_1000_transitions(name):
    check_theorem_1(Case(name, "exact", "state", 0.8), 60, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 5000])
@pytest.mark.parametrize("lambda_", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("noise", ["iid", "state"])
@pytest.mark.parametrize("name", DOMAINS)
def test_theorem_1_holds_with_the_plug_in_on_every_chain(name, noise, lambda_, n):
    check_theorem_1(Case(name, "exact", noise, lambda_), 400, n)


def test_poor_features_need_an_estimator_that_counts_correlations():
    names = ("sandwich", "robust", "block_bootstrap")
    case = Case("garnet", "poor", "iid", 0.8)
    found = {row.estimator: row.ratio for row in rows(case, measure(case, 60, (3000,), names), (3000,), names)}
    assert found["sandwich"] < 0.8
    assert 0.85 < found["robust"] < 1.2
    assert 0.85 < found["block_bootstrap"] < 1.2


def test_running_average_and_printed_corollary_have_the_wrong_scale():
    names = ("sandwich", "running", "global_printed")
    case = Case("river_swim", "exact", "iid", 0.8)
    found = {row.estimator: row.ratio for row in rows(case, measure(case, 20, (2000,), names), (2000,), names)}
    assert 0.7 < found["sandwich"] < 1.4
    assert found["running"] < 0.6
    assert found["global_printed"] > 10


def test_rows_count_what_they_say():
    case = Case("random_walk", *SETTINGS[0], 0.0)
    found = measure(case, 4, (50, 100), ("sandwich",))
    found.standard[:] = np.abs(found.errors[..., None, :]) / 2.0  # covered by a factor of 2 and more
    found.standard[0, 0, 0, 0] = np.inf
    by = {(row.n, row.factor, row.p): row for row in rows(case, found, (50, 100), ("sandwich",))}
    assert by[50, "normal", 0.1].coverage == pytest.approx(found.weights[0] / 4)
    assert by[50, "normal", 0.01].coverage == pytest.approx(1.0)
    assert by[50, "normal", 0.1].unknown == pytest.approx(found.weights[0] / 4)
    assert by[100, "chebyshev", 0.1].worst == 1.0
    assert by[100, "normal", 0.1].worst == 0.0
    assert by[100, "normal", 0.1].ratio == pytest.approx(0.5)


def test_corollary_1_as_printed_gives_differences_between_states_no_width():
    """A constant discount makes x'A^-1 z_bar the same for every state: the printed variance of a difference is 0."""
    case, names = Case("garnet", "exact", "iid", 0.0), ("sandwich", "global_printed", "global_corrected")
    found = rows(case, measure(case, 30, (2000,), names, differences=True), (2000,), names)
    by = {row.estimator: row for row in found if (row.factor, row.p) == ("chebyshev", 0.1)}
    assert by["global_printed"].coverage == 0.0
    assert by["global_printed"].ratio < 1e-3
    assert min(by["sandwich"].worst, by["global_corrected"].worst) > 0.9


def test_where_an_estimator_comes_to_nothing_there_is_no_interval_to_hold_anything():
    case = Case("river_swim", "poor", "iid", 1.0)  # linear TD's steps are too long for it
    found = measure(case, 6, (5000,), ("linear_td",))
    lost = np.isnan(found.standard[:, 0, 0]).all(axis=1)
    assert 0 < lost.sum() < 6
    some = next(row for row in rows(case, found, (5000,), ("linear_td",)) if (row.factor, row.p) == ("chebyshev", 0.1))
    assert some.coverage == pytest.approx(1 - lost.mean())
    assert some.unknown == pytest.approx(lost.mean())
    found.standard[:] = np.nan
    none = list(rows(case, found, (5000,), ("linear_td",)))
    assert {row.coverage for row in none} == {0.0}
    assert {row["ratio"] for row in as_data(none)} == {row["width"] for row in as_data(none)} == {None}


def behavior(seed, n, target=0.8):
    """Two states, two actions: the first action stays, the second moves and pays in state 1. Acted uniformly."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(2, size=n)
    states = np.concatenate([[0], np.cumsum(actions) % 2])
    r = (actions * (states[:-1] == 1)) + 0.5 * rng.normal(size=n)
    return states, r, np.where(actions == 1, target, 1 - target) / 0.5


def off_policy_truth(X, lambda_, gamma=0.9, target=0.8):
    """The fixed point of the target policy's TD(lambda) under the distribution of the behavior, which is uniform."""
    P = np.array([[1 - target, target], [target, 1 - target]])
    D, I = 0.5 * np.eye(2), np.eye(2)
    M = X.T @ D @ np.linalg.inv(I - lambda_ * gamma * P)
    return X @ np.linalg.solve(M @ (I - gamma * P) @ X, M @ np.array([0.0, target]))


@pytest.mark.parametrize("lambda_", [0.0, 0.5])
@pytest.mark.parametrize("X", [np.eye(2), np.array([[1.0], [2.0]])])
def test_importance_ratios_evaluate_the_other_policy(X, lambda_):
    states, r, rho = behavior(0, 200_000)
    lstd = LSTD(X.shape[1], lambda_)
    lstd.observe_batch(X[states[:-1]], r, 0.9, X[states[1:]], rho)
    error = (lstd.value(X) - off_policy_truth(X, lambda_)) / lstd.standard_error(X, "robust")
    assert np.abs(error).max() < 4
    assert lstd.standard_error(X, "robust").max() < 0.2


def test_off_policy_intervals_cover_while_ratios_are_bounded():
    X, runs, hits = np.eye(2), 200, 0
    truth = off_policy_truth(X, 0.3)
    for run in range(runs):
        states, r, rho = behavior(run, 2000)
        lstd = LSTD(2, 0.3)
        lstd.observe_batch(states[:-1, None], r, 0.9, states[1:, None], rho)
        found = lstd.interval(X, confidence=0.9, factor="normal")
        hits += int(found.low[0] <= truth[0] <= found.high[0])
    band = proportion(hits, runs, confidence=0.998)
    assert band.low <= 0.9 <= band.high


def test_context_dependent_variance_spends_less_on_the_dull_lever():
    found = {kind: one_state.spend(kind, runs=40, steps=5000) for kind in one_state.KINDS}
    dull = {kind: np.median(spent.dull[:, -1]) for kind, spent in found.items()}
    best = {kind: spent.best.mean() for kind, spent in found.items()}
    assert dull["context-dependent"] == one_state.FIRST
    assert dull["global, corrected"] > 100
    assert best["context-dependent"] > 0.9 > best["global, corrected"] > best["global, as printed"]


def test_the_command_writes_page_figures_and_numbers(tmp_path):
    rows = json.loads(ucls("paper", "coverage", "--quick", "--runs", 2, "--out", tmp_path, "--json").stdout)
    assert len(rows) == 4 * 3 * 2 * 2 * 8 * 2 * 3  # chains, settings, lambdas, sizes, estimators, factors, p
    assert len((tmp_path / "coverage.csv").read_text().splitlines()) == len(rows) + 1
    assert json.loads((tmp_path / "coverage.json").read_text()) == rows
    page = (tmp_path / "coverage.md").read_text()
    assert "ucls paper coverage --runs 2 --quick" in page
    assert "| `leave_one_out` |" in page
    assert "{" not in page
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("coverage.svg", "one-state.svg"))
