"""GV-UCB: the kernel equals the box, and which covariance is that of the estimate."""

import numpy as np
import pytest

from support import boxes
from support.shadow import along, assert_close, in_both_precisions, shadow
from support.transitions import random_stream
from support.uncompiled import check_uncompiled
from ucls.algorithms import gv_ucb
from ucls.kernels import active as la
from ucls.testing import small_run

LITERAL = {"trace_threshold": 0, "trace_discount": "current", "preconditioner": "printed"}


def symmetric(lower):
    return np.tril(lower) + np.tril(lower, -1).T


def learned(state):
    """The learner's arrays as the box has them."""
    system, noise = state.system, state.noise
    return {
        "A": system.At.T * system.scale[0],
        "B": system.Bt.T,
        "b": system.b,
        "w": system.w,
        "z": state.trace.z,
        "zbar": state.zbar,
        "C": symmetric(state.C),
        "rbar": noise.r[0],
        "r2bar": noise.r2[0],
        "dbar": noise.d,
        "drbar": noise.dr,
        "D": symmetric(noise.D.part) * noise.D.scale[0],
        "sigma": state.sigma[0],
    }


def assert_equal(state, oracle):
    """Every array equals the oracle's."""
    for name, mine in learned(state).items():
        assert_close(mine, getattr(oracle, name), name)


def sign_of(before, after, beta, z):
    """The random sign with which the kernel added its trace to z_bar."""
    i = np.argmax(np.abs(z))
    return np.sign((after[i] - (1 - beta) * before[i]) / z[i])


def check_against_oracle(env, steps, literal=False, corrected=False):
    settings = {**(LITERAL if literal else {}), "global_cov": "corrected" if corrected else "printed"}
    run = small_run(env, "gv-ucb", seed=7, **settings)
    state = run.learner.state
    oracle = boxes.GVUCB(run.learner.coder.size, literal=literal)
    signs = []

    def learn(box, t, rng):
        signs.append(sign_of(box.zbar, state.zbar, box.beta, state.trace.z))
        box.update(t.xs[t.a], t.r, t.gamma, t.xs_next[t.a_next], signs[-1])

    shadow(run, oracle, steps, lambda box, x, rng: box.upper(x), learn)
    assert_equal(state, oracle)
    if corrected:
        assert abs(np.mean(signs)) < 4 / np.sqrt(steps)
    else:
        assert np.all(np.array(signs) == 1)


@pytest.mark.parametrize("kind", ["default", "literal", "corrected"])
def test_kernel_equals_the_box_on_every_environment(unlike, kind):
    steps = 400 if unlike == "ucls/RiverSwim-v0" else 150
    check_against_oracle(unlike, steps, literal=kind == "literal", corrected=kind == "corrected")


def test_plain_python_equals_the_box():
    check_uncompiled("test_gv_ucb", 60)


def test_kernel_equals_the_box_when_the_scales_are_folded_in():
    d, n_actions, beta = 48, 3, 0.2
    hyper = gv_ucb.Settings(beta=beta, trace_threshold=beta)
    state = gv_ucb.init(hyper, d, n_actions, 4)
    oracle = boxes.GVUCB(d, beta=beta)
    folded, before = 0, 1.0
    for _ in along(gv_ucb, hyper, state, oracle, random_stream(np.random.default_rng(5), d, n_actions, 4, 800)):
        folded += state.noise.D.scale[0] > before
        before = state.noise.D.scale[0]
    assert_equal(state, oracle)
    assert folded > 10


@pytest.mark.slow
def test_float32_follows_float64_on_a_fixed_stream():
    states = in_both_precisions(gv_ucb, gv_ucb.Settings(), 1000)
    assert states[1].noise.D.part.dtype == states[1].C.dtype == np.float32
    exact, single = (learned(state) for state in states)
    for name in ("w", "C", "D", "sigma"):
        np.testing.assert_allclose(single[name], exact[name], atol=2e-4 * np.abs(exact[name]).max())


def two_states(T, rng):
    """One-hot visits of two states, and A^-1 of their average."""
    z = np.eye(2)[(rng.random(T) < 0.3).astype(int)]
    return z, np.linalg.inv(z.T @ z / T)


@pytest.mark.parametrize("T", [100, 1000])
def test_corollary_1_as_printed_is_not_the_variance_of_the_estimate(T):
    """Two tabular states, independent noise of variance 4, the averages of the theorem."""
    rng = np.random.default_rng(T)
    sigma2 = 4.0
    estimates, printed, corrected = [], [], []
    for _ in range(3000):
        z, inverse = two_states(T, rng)
        estimates.append(inverse @ (z.T @ rng.normal(0, np.sqrt(sigma2), T)) / T)
        printed.append(sigma2 * np.outer(inverse @ z.mean(0), inverse @ z.mean(0)))
        corrected.append(sigma2 / T * inverse @ (z.T @ z / T) @ inverse.T)
    variance = np.cov(np.array(estimates).T)
    # printed: sigma^2 for each value whatever T is, and 0 for their difference
    np.testing.assert_allclose(np.mean(printed, axis=0), sigma2 * np.ones((2, 2)), rtol=1e-10)
    tolerance = 0.12 * sigma2 / (0.3 * T)
    np.testing.assert_allclose(np.mean(corrected, axis=0), variance, atol=tolerance)
    np.testing.assert_allclose(variance, sigma2 / T * np.diag([1 / 0.7, 1 / 0.3]), atol=tolerance)


@pytest.mark.parametrize("beta", [0.04, 0.02])
def test_the_learned_bound_is_the_variance_only_if_corrected(beta):
    """As above in the algorithm: an exponential average has beta / (2 - beta) in the place of 1/T."""
    sigma2, steps = 4.0, int(800 / beta)
    xs = [la.Active(np.array([[state]]), np.ones((1, 1))) for state in range(2)]
    found = {}
    for global_cov in (gv_ucb.AS_PRINTED, gv_ucb.CORRECTED):
        hyper = gv_ucb.Settings(
            lambda_=0.0, beta=beta, eta=0.0, b_step=5.0, trace_threshold=beta, r2_init=0.0, global_cov=global_cov
        )
        state = gv_ucb.init(hyper, 2, 1, 1)
        rng = np.random.default_rng(1)
        states, noises = (rng.random(steps) < 0.3).astype(int), rng.normal(0, np.sqrt(sigma2), steps)
        w, covariance = [], []
        for s, noise in zip(states, noises, strict=True):
            gv_ucb.update(state, hyper, xs[s], 0, noise, 0.0, xs[s], 0, rng)
            w.append(state.system.w.copy())
            covariance.append(state.sigma[0] ** 2 * symmetric(state.C))
        settled = slice(steps // 20, None)
        found[global_cov] = np.cov(np.array(w[settled]).T), np.mean(covariance[settled], axis=0)
    variance, printed = found[gv_ucb.AS_PRINTED]
    expected = sigma2 * beta / (2 - beta) * np.diag([1 / 0.7, 1 / 0.3])
    np.testing.assert_allclose(variance, expected, atol=0.2 * expected.max())
    np.testing.assert_allclose(printed.diagonal(), sigma2, rtol=0.1)
    variance, corrected = found[gv_ucb.CORRECTED]
    np.testing.assert_allclose(variance, expected, atol=0.2 * expected.max())
    np.testing.assert_allclose(corrected, expected, atol=0.25 * expected.max())


def test_radius_is_sigma_times_the_root():
    hyper = gv_ucb.Settings(p=0.25)
    state = gv_ucb.init(hyper, 2, 1, 2)
    state.C[:] = [[1.0, 0.0], [0.5, 1.0]]
    state.sigma[0] = 3.0
    x = la.Active(np.array([0, 1]), np.array([1.0, 1.0]))
    mean, radius = gv_ucb.interval(state, hyper, x, np.random.default_rng(0))
    assert mean == 0.0
    np.testing.assert_allclose(radius, 3.0 * np.sqrt(5.0 * 3.0))
