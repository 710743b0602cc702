"""LSTD by Sherman-Morrison: the kernel equals the box and the explicit inverse, and lost digits are noticed."""

import numpy as np
import pytest

import boxes
from conftest import dense, random_stream, run_uncompiled, small_run
from shadow import assert_close, epsilon_greedy, shadow
from ucls.algorithms import lstd_sm
from ucls.kernels import active as la
from ucls.kernels import sherman_morrison as inv
from ucls.kernels import traces as tr


def faded(hyper, t):
    return hyper.epsilon * hyper.epsilon_decay ** (t // hyper.epsilon_every)


def check_against_oracle(env, steps, settings={}):
    run = small_run(env, "lstd-sm", seed=7, **settings)
    hyper, state = run.learner.hyper, run.learner.state
    literal = hyper.trace_discount == tr.CURRENT
    oracle = boxes.LSTDShermanMorrison(run.learner.coder.size, literal=literal, eta=hyper.eta, beta=hyper.beta)
    shadow(run, oracle, steps, lambda box, x, rng: epsilon_greedy(faded(hyper, box.t), box.values(x), rng))
    assert_close(state.w, oracle.w, "w")
    assert_close(state.inverse.M * state.inverse.scale[0], oracle.A_inv, "A_inv")
    assert_close(state.trace.z, oracle.z, "z")
    return run, oracle


@pytest.mark.parametrize(
    "settings",
    [{}, {"trace_discount": "current"}, {"beta": 0.002}, {"epsilon_decay": 0.2, "eta": 0.01}],
    ids=["corrected", "literal", "constant", "fading"],
)
def test_kernel_equals_the_box_on_every_environment(env_id, settings):
    check_against_oracle(env_id, 400, settings)


def test_plain_python_equals_the_box():
    run_uncompiled(
        "from test_lstd_sm import check_against_oracle\nfor env in ENVIRONMENTS:\n    check_against_oracle(env, 80)"
    )


@pytest.mark.parametrize(("beta", "steps"), [(0.0, 3000), (0.003, 3000)], ids=["1/(t+1)", "constant"])
def test_w_and_the_inverse_are_those_of_the_explicit_system(beta, steps):
    """A and b are averaged in the open and solved by a direct solver; the scale is folded in on the way."""
    d, n_actions, eta = 60, 3, 1e-3
    hyper = lstd_sm.Hyper(beta=beta, eta=eta)
    state = lstd_sm.init(hyper, d, n_actions, 4)
    A, b, z, gamma_previous = eta * np.eye(d), np.zeros(d), np.zeros(d), 0.0
    rng = np.random.default_rng(8)
    folded = 0
    for t, (xs, a, r, gamma, xs_next, a_next) in enumerate(random_stream(rng, d, n_actions, 4, steps), 1):
        before = state.inverse.scale[0]
        lstd_sm.update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)
        folded += state.inverse.scale[0] < before
        x, x_next = dense(xs, d)[a], dense(xs_next, d)[a_next]
        weight = beta or 1 / (t + 1)
        z = gamma_previous * 0.9 * z + x
        A = (1 - weight) * A + weight * np.outer(z, x - gamma * x_next)
        b = (1 - weight) * b + weight * r * z
        gamma_previous = gamma
    assert folded
    assert_close(state.inverse.M * state.inverse.scale[0], np.linalg.inv(A), "inverse")
    assert_close(state.w, np.linalg.solve(A, b), "w")


def test_features_that_were_never_seen_are_not_touched():
    hyper = lstd_sm.Hyper(beta=0.5, eta=0.25)
    state = lstd_sm.init(hyper, 6, 1, 1)
    rng = np.random.default_rng(0)
    xs = la.Active(np.array([[0]]), np.array([[1.0]]))
    for _ in range(25):
        lstd_sm.update(state, hyper, xs, 0, 1.0, 0.0, xs, 0, rng)
        lstd_sm.start(state, hyper, rng)
    found = state.inverse.M * state.inverse.scale[0]
    np.testing.assert_allclose(np.diag(found)[1:], 2.0**25 / 0.25)
    np.testing.assert_allclose(found - np.diag(np.diag(found)), 0)
    np.testing.assert_allclose(found[0, 0], 1 / (0.25 * 2.0**-25 + (1 - 2.0**-25)))


def test_a_constant_beta_grows_the_inverse_until_the_run_says_so():
    """A feature first visited after (1 - beta)^-t has passed 1e12 cannot be told from noise."""
    hyper = lstd_sm.Hyper(beta=0.1, eta=1.0)
    rng = np.random.default_rng(0)
    one, two = (la.Active(np.array([[i]]), np.array([[1.0]])) for i in range(2))
    for steps, sound in ((200, True), (300, False)):
        state = lstd_sm.init(hyper, 2, 1, 1)
        for _ in range(steps):
            lstd_sm.update(state, hyper, one, 0, 1.0, 0.0, one, 0, rng)
        assert state.w[0] == pytest.approx(1.0)
        lstd_sm.update(state, hyper, two, 0, 1.0, 0.0, two, 0, rng)
        assert np.isfinite(state.w).all() == sound, steps


def test_a_singular_system_gives_no_gain():
    """z (x - gamma x')' = -1 cancels A = 1 exactly: there is no inverse."""
    inverse = inv.inverse(1, 1.0, np.float64)
    x = la.Active(np.array([0]), np.array([1.0]))
    nothing = la.Active(np.array([0]), np.array([0.0]))
    gain = inv.sherman_morrison(inverse, 1, 0.5, np.array([-1.0]), x, 0.0, nothing)
    assert np.isnan(gain).all()


def test_a_run_that_lost_its_digits_stops_and_says_so():
    run = small_run("ucls/PuddleWorld-v0", "lstd-sm", beta=0.3)
    happened = run.advance(20_000)
    assert happened.diverged
    assert 0 < len(happened.rewards) < 20_000


def test_epsilon_fades_by_its_factor():
    hyper = lstd_sm.Hyper(epsilon=1.0, epsilon_decay=0.2, epsilon_every=100)
    state = lstd_sm.init(hyper, 2, 2, 1)
    state.w[0] = 1.0
    xs = la.Active(np.array([[0], [1]]), np.ones((2, 1)))
    rng = np.random.default_rng(0)
    for t, expected in ((0, 0.5), (99, 0.5), (100, 0.1), (199, 0.1), (200, 0.02)):
        state.inverse.t[0] = t
        taken = np.mean([lstd_sm.act(state, hyper, xs, rng) for _ in range(20_000)])
        assert taken == pytest.approx(expected, abs=0.012)
