"""LSTD of a fixed policy equals its definition, in a stream and in batches, and so does every estimator."""

import numpy as np
import pytest

from support.evaluation_oracle import Transitions
from ucls.errors import UserError
from ucls.evaluation import ESTIMATORS, LSTD, BlockBootstrap, LinearTD, Robust, Running

D = 5
ON_POLICY = {"running", "linear_td"}


def trajectory(seed=0, n=120, d=D, dense=False):
    """Episodes of random features, some ended and some cut off: X, r, gamma, X_next, rho, start."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n + 1, d)) if dense else np.eye(d)[rng.integers(d, size=n + 1)]
    X, X_next = rows[:-1].copy(), rows[1:].copy()
    gamma = np.where(rng.random(n) < 0.1, 0.0, 0.9)
    X_next[gamma == 0] = 0
    start = np.concatenate([[True], rng.random(n - 1) < 0.05])
    r = X @ np.arange(d) + rng.normal(size=n)
    return X, r, gamma, X_next, rng.choice([0.5, 1.0, 1.5], n), start


def learned(data, lambda_, eta=0.0, on_policy=False):
    """An evaluator that has seen all, and its oracle."""
    X, r, gamma, X_next, rho, start = data
    rho = np.ones(len(r)) if on_policy else rho
    lstd = LSTD(X.shape[1], lambda_, eta)
    lstd.observe_batch(X, r, gamma, X_next, rho, start)
    return lstd, Transitions(X, r, gamma, X_next, lambda_, rho, start, eta)


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_weights_are_those_of_the_definition(lambda_, dense, eta):
    lstd, oracle = learned(trajectory(dense=dense), lambda_, eta)
    np.testing.assert_allclose(lstd.w, oracle.w, rtol=1e-9)


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("dense", [False, True])
def test_estimators_are_those_of_the_definition(lambda_, dense):
    lstd, oracle = learned(trajectory(dense=dense), lambda_)
    for name in ("sandwich", "leave_one_out", "global_printed", "global_corrected"):
        np.testing.assert_allclose(lstd.spread(name).covariance, getattr(oracle, name)(), rtol=1e-7, err_msg=name)
    np.testing.assert_allclose(lstd.spread("robust").covariance, oracle.robust(10), rtol=1e-7)
    np.testing.assert_allclose(lstd.spread(Robust(7)).covariance, oracle.robust(7), rtol=1e-7)
    found = lstd.spread(BlockBootstrap(20, 6, 3)).covariance
    np.testing.assert_allclose(found, oracle.block_bootstrap(20, 6, 3), rtol=1e-7)


@pytest.mark.slow  # it compiles UCLS in a kernel of its own
def test_running_average_is_that_of_the_box():
    lstd, oracle = learned(trajectory(), 0.8, on_policy=True)
    for beta in (0.001, 0.05):
        np.testing.assert_allclose(lstd.spread(Running(beta)).covariance, oracle.running(beta), rtol=1e-9, atol=1e-12)


def test_the_bound_of_linear_td_is_that_of_the_box():
    lstd, oracle = learned(trajectory(), 0.8, on_policy=True)
    for steps in ((0.01, 0.1), (0.2, 0.05)):
        found = lstd.spread(LinearTD(*steps)).covariance
        np.testing.assert_allclose(found, oracle.linear_td(*steps), rtol=1e-9, atol=1e-12)
    assert np.linalg.matrix_rank(found) == 1


def test_the_bound_of_linear_td_does_not_fall_with_the_data():
    """Rewards of +1 and -1 and a discount of 0: the true standard error is 1/sqrt(n), that of w_var stays."""
    r = np.random.default_rng(1).choice([-1.0, 1.0], size=40_000)
    lstd, found = LSTD(1, lambda_=0.0), []
    for part in np.split(r, 20):
        here = np.zeros((len(part), 1), np.int64)
        lstd.observe_batch(here, part, np.zeros(len(part)), here)
        found.append([lstd.standard_error([0], name) for name in ("sandwich", "linear_td")])
    sandwich, linear = np.array(found).T
    np.testing.assert_allclose(sandwich[-1], 1 / np.sqrt(40_000), rtol=0.02)
    assert np.median(linear[10:]) > 20 * sandwich[-1]


def test_the_bound_of_linear_td_says_when_it_diverges():
    lstd, _ = learned(trajectory(), 0.8, on_policy=True)
    with pytest.raises(UserError, match="give smaller steps"):
        lstd.spread(LinearTD(alpha_var=1e6))


@pytest.mark.parametrize("name", sorted(ON_POLICY))
def test_what_follows_the_policy_refuses_importance_ratios(name):
    lstd, _ = learned(trajectory(), 0.5)
    with pytest.raises(UserError, match="on-policy"):
        lstd.spread(name)


def test_stream_equals_batch_in_every_form_of_features():
    X, r, gamma, X_next, rho, start = trajectory(n=60)
    index, index_next = X.argmax(1)[:, None], X_next.argmax(1)[:, None]
    stream, sparse, valued = LSTD(D, 0.6), LSTD(D, 0.6), LSTD(D, 0.6)
    whole, _ = learned((X, r, gamma, X_next, rho, start), 0.6)
    for t in range(60):
        if start[t]:
            stream.start()
        x_next = None if gamma[t] == 0 else index_next[t]
        stream.observe(index[t], r[t], gamma[t], x_next, rho[t])
        if t == 30:
            stream.interval([0])  # looking on the way changes nothing
    sparse.observe_batch(index[:25], r[:25], gamma[:25], index_next[:25], rho[:25], start[:25])
    sparse.observe_batch(index[25:], r[25:], gamma[25:], index_next[25:], rho[25:], start[25:])
    ones = np.ones((60, 1))
    valued.observe_batch((index, ones), r, gamma, (index_next, ones), rho, start)
    for lstd in (stream, sparse, valued):
        np.testing.assert_allclose(lstd.w, whole.w, rtol=1e-10)
        assert lstd.report() == pytest.approx(whole.report())
        for name in set(ESTIMATORS) - ON_POLICY:
            np.testing.assert_allclose(lstd.spread(name).covariance, whole.spread(name).covariance, rtol=1e-8)
    assert stream.interval([2], confidence=0.8) == pytest.approx(
        tuple(part[0] for part in whole.interval(np.eye(D)[[2]], confidence=0.8))
    )


def test_a_stream_may_change_its_form_on_the_way():
    rng = np.random.default_rng(5)
    sets = [np.sort(rng.choice(D, rng.integers(1, 4), replace=False)) for _ in range(400)]
    mixed, whole = LSTD(D, 0.8), LSTD(D, 0.8)
    X = np.array([np.isin(np.arange(D), each) for each in sets], float)
    r = rng.normal(size=399)
    for t in range(399):
        x, x_next = sets[t], sets[t + 1]
        if t % 7 == 0:
            x, x_next = X[t], X[t + 1]
        elif t % 5 == 0:
            x, x_next = x.tolist(), (x_next, np.ones(len(x_next)))
        if t % 50 == 0:
            mixed.start()
        mixed.observe(x, r[t], 0.9, x_next)
        assert len(mixed) == t + 1
    whole.observe_batch(X[:-1], r, 0.9, X[1:], start=np.arange(399) % 50 == 0)
    np.testing.assert_allclose(mixed.w, whole.w, rtol=1e-9)
    assert mixed.report() == pytest.approx(whole.report())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (([7], 1.0, 0.5, [0]), "from 0 to 2"),
        ((np.array([7]), 1.0, 0.5, np.array([0])), "from 0 to 2"),
        ((np.array([0]), np.nan, 0.5, np.array([0])), "reward holds NaN"),
        ((np.array([0]), "much", 0.5, np.array([0])), "reward must be numbers"),
        ((np.array([0]), 1.0, 1.5, np.array([0])), "discounts must be in"),
        ((np.array([0]), 1.0, 0.5, None), "x_next must be integers"),
    ],
)
def test_a_bad_transition_is_refused_at_once(words, message):
    lstd = LSTD(3)
    with pytest.raises(UserError, match=message):
        lstd.observe(*words)
    assert len(lstd) == 0


def test_a_trajectory_shares_its_rows_in_the_log():
    lstd = LSTD(3)
    lstd.observe_batch([[0], [1], [2]], [1, 1, 1], 0.9, [[1], [2], [0]])
    assert lstd._log.used[0] == 4
    assert lstd.report().breaks == 0
    lstd.observe([2], 1.0, 0.9, [1])  # not where the last one ended
    assert lstd.report().breaks == 1


def test_what_was_not_seen_is_unknown_and_not_a_confident_zero():
    lstd = LSTD(4, lambda_=0.0)
    for reward in (1.0, 3.0, 2.0):
        lstd.observe([0], reward, 0.5, [1])
        lstd.observe([1], reward, 0.0)
    lstd.observe([3], 1.0, 0.0)
    assert lstd.seen(np.eye(4)).tolist() == [True, True, False, True]
    for name in ESTIMATORS:
        found = lstd.interval(np.eye(4), estimator=name)
        assert np.isinf(found.high[2]), name
        assert np.isfinite(found.high[:2]).all(), name
    for name in ESTIMATORS:  # seen once: the fit is exact, its error unknown
        assert np.isinf(lstd.interval([3], estimator=name).high), name
    assert lstd.standard_error([3], "sandwich") == pytest.approx(0.0)
    report = lstd.report()
    assert (report.rank, report.features) == (3, 4)


def test_a_successor_never_left_makes_its_predecessor_unknown():
    lstd = LSTD(2, lambda_=0.0)
    for _ in range(5):
        lstd.start()
        lstd.observe([0], 1.0, 0.9, [1])
    assert not lstd.seen([0])
    assert np.isinf(lstd.interval([0]).high)
    assert lstd.seen((np.array([0, 1]), np.array([1.0, -0.9])))  # but the difference is known
    assert lstd.value((np.array([0, 1]), np.array([1.0, -0.9]))) == pytest.approx(1.0)


def test_duplicated_features_are_reported_and_do_no_harm():
    X, r, gamma, X_next, _, start = trajectory(n=200)
    twice, once = LSTD(2 * D, 0.5), LSTD(D, 0.5)
    twice.observe_batch(np.hstack([X, X]), r, gamma, np.hstack([X_next, X_next]), 1.0, start)
    once.observe_batch(X, r, gamma, X_next, 1.0, start)
    assert (twice.report().rank, twice.report().features) == (D, 2 * D)
    both = np.hstack([np.eye(D), np.eye(D)])
    for name in set(ESTIMATORS) - ON_POLICY:
        mine, theirs = twice.interval(both, estimator=name), once.interval(np.eye(D), estimator=name)
        np.testing.assert_allclose(mine.high, theirs.high, rtol=1e-6, err_msg=name)
    assert np.isinf(twice.interval(np.eye(2 * D)).high).all()


def test_corollary_1_printed_never_learns_and_corrected_falls_as_1_over_T():
    """Two tabular states in turn, discount 0: A = I / 2, z_bar = (1/2, 1/2)."""
    radii = {}
    for T in (100, 10_000):
        lstd = LSTD(2, lambda_=0.0)
        r = np.tile([1.0, 1.0, -1.0, -1.0], T // 4)
        lstd.observe_batch(np.tile([[0], [1]], (T // 2, 1)), r, 0.0, np.zeros((T, 1), int))
        printed, corrected = lstd.spread("global_printed").covariance, lstd.spread("global_corrected").covariance
        along, across = np.array([1, 1]) / np.sqrt(2), np.array([1, -1]) / np.sqrt(2)
        assert printed[0, 0] == pytest.approx(1.0)
        assert along @ printed @ along == pytest.approx(2.0)
        assert across @ printed @ across == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(corrected, 2 / T * np.eye(2), rtol=1e-9, atol=1e-15)
        radii[T] = corrected[0, 0]
    assert radii[100] / radii[10_000] == pytest.approx(100)


def test_eta_widens_by_the_bias_it_makes():
    rewards = np.ones(50)
    lstd = LSTD(1, lambda_=0.0, eta=0.25)
    lstd.observe_batch(np.zeros((50, 1), int), rewards, 0.0, np.zeros((50, 1), int))
    value, low, high = lstd.interval([0], estimator="sandwich")
    assert value == pytest.approx(1 / 1.25)
    bias, error = 0.25 / 1.25 * value, (1 - value) / 1.25 / np.sqrt(50)
    assert (high - value, value - low) == pytest.approx((bias + np.sqrt(11) * error,) * 2)
    assert high > 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": [1.0, np.nan]}, "reward holds NaN or infinity, first in transition 1"),
        ({"reward": ["a", "b"]}, "reward must be numbers"),
        ({"discount": [0.5, 1.5]}, "discounts must be in [0, 1]: found 0.5 to 1.5"),
        ({"discount": [0.5, -0.1]}, "discounts must be in [0, 1]"),
        ({"discount": [0.5]}, "there are 2 rewards but 1 numbers of discount"),
        ({"rho": [1.0, -1.0]}, "rho must be at least 0"),
        ({"x": [[0], [7]]}, "they must be from 0 to 2"),
        ({"x": [[0.0, np.inf, 0.0]] * 2}, "x holds NaN or infinity, first in transition 0"),
        ({"x": [[0.5, 0.5]] * 2}, "there are 3 features"),
        ({"x": [[0]]}, "it needs a row for each transition (2)"),
        ({"x_next": [["a"], ["b"]]}, "x_next must be integers (indices) or floats"),
    ],
)
def test_bad_data_is_refused_in_one_line(change, message):
    lstd = LSTD(3)
    good = {"x": [[0], [1]], "reward": [1.0, 2.0], "discount": [0.9, 0.9], "x_next": [[1], [2]]}
    with pytest.raises(UserError) as error:
        lstd.observe_batch(**{**good, **change})
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(lstd) == 0


def test_nothing_is_claimed_without_data_or_with_bad_settings():
    with pytest.raises(UserError, match="no transitions yet"):
        LSTD(3).value([0])
    for settings in ({"size": 0}, {"size": 3, "lambda_": 1.1}, {"size": 3, "eta": -1}):
        with pytest.raises(UserError):
            LSTD(**settings)
    lstd = LSTD(1)
    lstd.observe([0], 1.0, 0.0)
    for words in ({"confidence": 0.0}, {"confidence": 90}, {"estimator": "sandwhich"}, {"factor": "student"}):
        with pytest.raises(UserError):
            lstd.interval([0], **words)
