"""RLSVI: the kernel equals regression on the list of all transitions, and what it samples is the posterior."""

import numpy as np
import pytest
from scipy.stats import chi2

from support import boxes
from support.shadow import assert_close, check_looking, shadow
from support.transitions import dense, follow, random_stream
from support.uncompiled import check_uncompiled
from ucls.algorithms import rlsvi
from ucls.core.run import Run, make_run
from ucls.kernels import active as la
from ucls.testing import small_run


def assert_equal(state, oracle):
    """Theta and its posterior equal the oracle's."""
    for name, mine in (("theta", state.theta), ("mean", state.mean), ("Lambda", state.L @ state.L.T)):
        assert_close(mine, getattr(oracle, name), name)


def check(run, oracle, steps):
    """Follow a run with the oracle, which draws the same numbers."""

    def learn(box, t, rng):
        box.update(t.xs[t.a], t.r, t.gamma, t.xs_next, rng)
        assert rng.bit_generator.state == run.learner.rng.bit_generator.state, "other numbers were drawn"

    shadow(run, oracle, steps, lambda box, x, rng: x @ box.theta, learn, lambda box, rng: box.start(rng))
    assert_equal(run.learner.state, oracle)
    return run, oracle


def check_against_oracle(env, steps, **settings):
    run = small_run(env, "rlsvi", seed=7, **{"resample_every": 40, "prior_precision": 0.5, "sigma": 0.7, **settings})
    return check(run, boxes.RLSVI(run.learner.coder.size, **run.learner.hyper._asdict()), steps)


def test_kernel_equals_regression_on_all_transitions(unlike):
    run, _ = check_against_oracle(unlike, 200)
    assert run.learner.state.stride[0] == run.learner.plan.n_actions


@pytest.mark.parametrize(
    "settings",
    [{"n_backups": 3}, {"resample_every": 0}, {"correlation": 0.9, "resample_every": 20, "n_backups": 2}],
    ids=["backups", "episodes", "correlated"],
)
def test_kernel_equals_regression_with_other_settings(settings):
    check_against_oracle("ucls/RiverSwim-v0", 300, **settings)


@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/MountainCar-v0"])
def test_features_that_actions_share_are_one_system(env):
    run, _ = check_against_oracle(env, 300, hashing="joint")
    assert run.learner.state.stride[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/SparseMountainCar-v0"])
def test_kernel_equals_regression_at_full_size(env):
    run = make_run(env, "rlsvi", seed=7, settings={"resample_every": 500})
    check(run, boxes.RLSVI(run.learner.coder.size, resample_every=500), 1500)


def test_plain_python_equals_regression():
    """The same kernels, not compiled, in a process with the compiler off."""
    check_uncompiled("test_rlsvi", 60)


def after_data(hyper, d=24, n_actions=3, steps=200, dtype=np.float64):
    """A state that has learned from random transitions, and the raw transitions."""
    rng = np.random.default_rng(2)
    state, data = rlsvi.init(hyper, d, n_actions, 4, dtype), []
    for xs, a, r, gamma, xs_next, a_next in random_stream(rng, d, n_actions, 4, steps, value=0.5):
        rlsvi.update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)
        data.append((dense(xs, d)[a], r, gamma, dense(xs_next, d)))
    return state, data


def test_samples_have_the_mean_and_covariance_of_the_posterior():
    """4000 draws, each whitened by the exact posterior: their mean is 0 and their covariance I, at 4.5 sigma."""
    hyper, draws = rlsvi.Settings(prior_precision=0.3, sigma=0.8), 4000
    state, data = after_data(hyper)
    theta = np.random.default_rng(3).normal(size=24)
    X, r, gamma = np.array([t[0] for t in data]), np.array([t[1] for t in data]), np.array([t[2] for t in data])
    y = r + gamma * np.array([(t[3] @ theta).max() for t in data])
    # the posterior by the covariance form of the normal equations, which the kernel never writes down
    K = X @ X.T / hyper.prior_precision + hyper.sigma**2 * np.eye(len(X))
    mean = X.T @ np.linalg.solve(K, y) / hyper.prior_precision
    covariance = np.eye(24) / hyper.prior_precision - X.T @ np.linalg.solve(K, X) / hyper.prior_precision**2

    rng, samples = np.random.default_rng(4), np.empty((draws, 24))
    for i in range(draws):
        state.theta[:] = theta
        rlsvi.sample(state, hyper, rng)
        samples[i] = state.theta
    np.testing.assert_allclose(state.mean, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.linalg.inv(state.L @ state.L.T), covariance, rtol=1e-8, atol=1e-10)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (samples - mean).T)
    assert np.abs(white.mean(1)).max() < 4.5 / np.sqrt(draws)
    assert np.abs(white @ white.T / draws - np.eye(24)).max() < 4.5 * np.sqrt(2 / draws)
    assert 1e-4 < chi2.sf((white**2).sum(), 24 * draws) < 1 - 1e-4


def test_correlated_samples_last_and_have_the_covariance_of_the_posterior():
    """xi = L'(theta - mean) is an autoregression: variance 1, and 0.95 of it is in the next."""
    hyper = rlsvi.Settings(prior_precision=0.3, sigma=0.8, correlation=0.95)
    state, _ = after_data(hyper)
    rng, xi = np.random.default_rng(4), np.empty((3000, 24))
    for i in range(len(xi)):
        rlsvi.sample(state, hyper, rng)
        xi[i] = np.tril(state.L).T @ (state.theta - state.mean)
    assert np.mean(xi[1:] * xi[:-1]) == pytest.approx(0.95, abs=0.05)
    assert np.mean(xi**2) == pytest.approx(1.0, abs=0.05)
    afresh = hyper._replace(correlation=0.0)
    for i in range(len(xi)):
        rlsvi.sample(state, afresh, rng)
        xi[i] = np.tril(state.L).T @ (state.theta - state.mean)
    assert abs(np.mean(xi[1:] * xi[:-1])) < 0.02


def test_interval_is_the_posterior_and_looking_changes_nothing():
    run, oracle = check_against_oracle("ucls/PuddleWorld-v0", 160)
    covariance = np.linalg.inv(oracle.Lambda)
    check_looking(run, lambda xs: (xs @ oracle.mean, np.sqrt(np.einsum("ai,ij,aj->a", xs, covariance, xs))))


def test_interval_before_any_data_is_the_prior():
    for hashing in ("blocks", "joint"):
        run = make_run("ucls/PuddleWorld-v0", "rlsvi", settings={"prior_precision": 0.25, "hashing": hashing})
        mean, radius = run.learner.interval(np.array([0.5, 0.5]))
        assert np.all(mean == 0)
        np.testing.assert_allclose(radius, np.sqrt(1 / 5 / 0.25))


def test_theta_is_sampled_at_episode_starts_and_every_so_many_steps():
    run = small_run("ucls/PuddleWorld-v0", "rlsvi", resample_every=30, time_limit=70)
    last, when = run.learner.state.theta.copy(), []
    for t, step in enumerate(follow(run, 210)):
        changed = not np.array_equal(last, run.learner.state.theta)
        last = run.learner.state.theta.copy()
        when += [t] * changed
        assert changed or not step.starts
    assert when == [0, 29, 59, 70, 99, 129, 140, 169, 199]


def test_data_that_outgrow_their_room_are_kept(monkeypatch, tmp_path):
    """With almost no room to begin with, the run is the same, and it can be saved and resumed after growing."""
    roomy = small_run("ucls/PuddleWorld-v0", "rlsvi", seed=1, resample_every=20)
    expected = roomy.advance(1500)
    monkeypatch.setattr(rlsvi, "CELLS", 2)
    monkeypatch.setattr(rlsvi, "MOVES", 1)
    tight = small_run("ucls/PuddleWorld-v0", "rlsvi", seed=1, resample_every=20)
    assert np.array_equal(expected.rewards[:700], tight.advance(700).rewards)
    again = Run.load(tight.save(tmp_path / "run.safetensors"))
    for run in (tight, again):
        assert np.array_equal(expected.rewards[700:], run.advance(800).rewards)
        assert np.array_equal(roomy.learner.state.theta, run.learner.state.theta)
        assert run.learner.state.moves.count[0] > 300
        assert len(run.learner.state.moves.rows) == len(run.learner.state.gammas) >= run.learner.state.moves.count[0]


def test_dense_features_are_kept_exactly():
    """Every feature active, every state new, values of any sign and size."""
    d, n_actions, rng = 12, 2, np.random.default_rng(8)
    hyper = rlsvi.Settings(prior_precision=0.1)
    state, oracle = rlsvi.init(hyper, d, n_actions, d // n_actions), boxes.RLSVI(d, prior_precision=0.1)

    def features():
        index = np.arange(d).reshape(-1, n_actions).T.copy()
        return la.Active(index, np.tile(rng.normal(size=d // n_actions), (n_actions, 1)))

    xs = features()
    for t in range(300):
        xs_next, a, r = features(), t % 2, float(rng.normal())
        rlsvi.update(state, hyper, xs, a, r, 0.9, xs_next, 0, rng)
        oracle.update(dense(xs, d)[a], r, 0.9, dense(xs_next, d), rng)
        xs = xs_next
        if t % 50 == 0:
            seed = int(rng.integers(1000))
            rlsvi.start(state, hyper, np.random.default_rng(seed))
            oracle.start(np.random.default_rng(seed))
            assert_equal(state, oracle)
    assert state.cells.count[0] == 301


@pytest.mark.slow
def test_float32_follows_float64():
    hyper = rlsvi.Settings()
    states = [after_data(hyper, dtype=dtype)[0] for dtype in (np.float64, np.float32)]
    for state in states:
        rlsvi.sample(state, hyper, np.random.default_rng(0))
        rlsvi.sample(state, hyper, np.random.default_rng(1))
    assert states[1].theta.dtype == np.float32
    np.testing.assert_allclose(states[1].theta, states[0].theta, atol=1e-5 * np.abs(states[0].theta).max())
