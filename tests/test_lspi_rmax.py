"""LSPI-Rmax: the kernel equals the box, and what is known is what the box says."""

import numpy as np
import pytest

from support import boxes
from support.shadow import assert_close, nothing, shadow
from support.uncompiled import check_uncompiled
from ucls.algorithms import lspi_rmax
from ucls.kernels import active as la
from ucls.testing import small_run

LITERAL = {"counting": "values", "preconditioner": "printed"}


def check_against_oracle(env, steps, literal=False, **settings):
    run = small_run(env, "lspi-rmax", seed=7, **settings, **(LITERAL if literal else {}))
    me, state = run.learner, run.learner.state
    oracle = boxes.LSPIRmax(me.coder.size, me.plan.n_actions, me.hyper.return_max, literal=literal, m=me.hyper.m)

    def learn(box, t, rng):
        box.update(t.xs, t.a, t.r, t.gamma, t.xs_next, t.a_next)

    shadow(run, oracle, steps, lambda box, x, rng: x @ box.w, learn, nothing)
    found = {"A": state.system.At.T * state.system.scale[0], "B": state.system.Bt.T, "counts": state.counts}
    for name, mine in {**found, "b": state.system.b, "w": state.system.w}.items():
        assert_close(mine, getattr(oracle, name), name)
    assert_close(state.system.norm2[0], np.sum(oracle.A**2), "norm2")
    return oracle


@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
def test_kernel_equals_the_box_on_every_environment(unlike, literal):
    oracle = check_against_oracle(unlike, 400, literal)
    assert (oracle.counts > oracle.m).any() or literal


def test_kernel_equals_the_box_at_the_literal_gmax():
    check_against_oracle("ucls/SparseMountainCar-v0", 150, return_max=500)
    check_against_oracle("ucls/PuddleWorld-v0", 150, return_max=-10000)


def test_plain_python_equals_the_box():
    check_uncompiled("test_lspi_rmax", 80)


def test_known_is_more_than_m_visits_of_every_active_feature():
    counts = np.array([6.0, 5.0, 9.0, 0.0])
    known = la.Active(np.array([0, 2]), np.array([0.5, 0.5]))
    assert lspi_rmax.is_known(counts, 5, known)
    assert not lspi_rmax.is_known(counts, 5, la.Active(np.array([0, 1]), np.array([0.5, 0.5])))
    # a feature of value 0 is not active
    assert lspi_rmax.is_known(counts, 5, la.Active(np.array([0, 3]), np.array([0.5, 0.0])))


def test_a_state_is_known_by_the_visits_of_all_its_actions_together():
    counts = np.array([3.0, 3.0, 6.0, 0.0])
    xs = la.Active(np.array([[0, 2], [1, 3]]), np.full((2, 2), 0.5))
    assert lspi_rmax.is_known_state(counts, 5, xs)
    assert not lspi_rmax.is_known_state(counts, 6, xs)


def test_what_is_not_known_is_worth_gmax_and_what_is_known_what_it_pays():
    """One state, two actions that pay 1 and are never tried less than the other: values fall from return_max to 1."""
    hyper = lspi_rmax.Settings(m=5, return_max=50.0, beta=0.05, b_step=5.0)
    state = lspi_rmax.init(hyper, 2, 2, 1)
    rng = np.random.default_rng(0)
    xs = la.Active(np.array([[0], [1]]), np.ones((2, 1)))
    first = lspi_rmax.act(state, hyper, xs, rng)
    lspi_rmax.update(state, hyper, xs, first, 1.0, 0.0, xs, first, rng)
    np.testing.assert_allclose(state.system.b, state.system.At.diagonal() * state.system.scale[0] * 50.0)
    for _ in range(500):
        a = lspi_rmax.act(state, hyper, xs, rng)
        lspi_rmax.update(state, hyper, xs, a, 1.0, 0.0, xs, a, rng)
    assert state.counts.min() > 5
    a = lspi_rmax.act(state, hyper, xs, rng)
    np.testing.assert_allclose(lspi_rmax.value(state, hyper, la.of_action(xs, a)), 1.0, atol=0.2)


def test_a_merged_feature_is_counted_once():
    hyper = lspi_rmax.Settings()
    state = lspi_rmax.init(hyper, 4, 1, 3)
    xs = la.Active(np.array([[1, 3, 1]]), np.array([[0.5, 0.5, 0.0]]))
    lspi_rmax.update(state, hyper, xs, 0, 0.0, 0.9, xs, 0, np.random.default_rng(0))
    assert state.counts.tolist() == [0.0, 1.0, 0.0, 1.0]
