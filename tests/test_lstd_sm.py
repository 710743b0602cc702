"""LSTD by Sherman-Morrison: the kernel equals the box, epsilon fades, and a run that lost its digits says so."""

import numpy as np
import pytest

from support import boxes
from support.shadow import assert_close, epsilon_greedy, shadow
from support.uncompiled import check_uncompiled
from ucls.algorithms import lstd_sm
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import traces as tr
from ucls.testing import small_run


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
def test_kernel_equals_the_box_on_every_environment(unlike, settings):
    check_against_oracle(unlike, 400, settings)


def test_plain_python_equals_the_box():
    check_uncompiled("test_lstd_sm", 80)


def test_a_run_that_lost_its_digits_stops_and_says_so():
    run = small_run("ucls/RiverSwim-v0", "lstd-sm", beta=0.3)
    happened = run.advance(20_000)
    assert happened.diverged
    assert 0 < len(happened.rewards) < 20_000


def test_epsilon_fades_by_its_factor():
    hyper = lstd_sm.Settings(epsilon=1.0, epsilon_decay=0.2, epsilon_every=100)
    state = lstd_sm.init(hyper, 2, 2, 1)
    state.w[0] = 1.0
    xs = la.Active(np.array([[0], [1]]), np.ones((2, 1)))
    rng = np.random.default_rng(0)
    for t, expected in ((0, 0.5), (99, 0.5), (100, 0.1), (199, 0.1), (200, 0.02)):
        state.inverse.t[0] = t
        taken = np.mean([lstd_sm.act(state, hyper, xs, rng) for _ in range(20_000)])
        assert taken == pytest.approx(expected, abs=0.012)
