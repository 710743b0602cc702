"""UCLS-L: the kernel equals the boxes, corrected and literal, and the bound is the box's."""

import numpy as np
import pytest

from support import boxes
from support.shadow import along, assert_close, check_looking, in_both_precisions, shadow
from support.transitions import random_stream
from support.uncompiled import run_uncompiled
from ucls.algorithms import ucls_l
from ucls.core.run import make_run
from ucls.kernels import active as la
from ucls.settings import resolve
from ucls.testing import small_run

LITERAL = {"trace_threshold": 0, "trace_discount": "current", "fade": "all", "normalize_step": False, "alpha": 0.01}
ARRAYS = ("w", "w_var", "w_init", "c", "v_init")


def assert_equal(state, oracle):
    for name in ARRAYS:
        assert_close(getattr(state, name), getattr(oracle, name), name)
    assert_close(state.trace.z, oracle.z, "z")


def check_against_oracle(env, steps, literal=False):
    run = small_run(env, "ucls-l", seed=7, **(LITERAL if literal else {}))
    oracle = boxes.UCLSL(run.learner.coder.size, literal=literal)
    shadow(run, oracle, steps, lambda box, x, rng: box.upper(x))
    assert_equal(run.learner.state, oracle)
    return run, oracle


@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
def test_kernel_equals_the_box_on_every_environment(unlike, literal):
    check_against_oracle(unlike, 500, literal)


def test_plain_python_equals_the_box():
    run_uncompiled(
        "from test_ucls_l import check_against_oracle\n"
        "for env in ENVIRONMENTS:\n"
        "    check_against_oracle(env, 80)\n"
        "    check_against_oracle(env, 40, literal=True)"
    )


@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
def test_kernel_equals_the_box_when_large_rewards_raise_v_init(literal):
    d, n_actions = 48, 3
    hyper = resolve(ucls_l.Settings, LITERAL if literal else {})
    state = ucls_l.init(hyper, d, n_actions, 4)
    oracle = boxes.UCLSL(d, literal=literal)
    raised, before = 0, 1.0
    stream = random_stream(np.random.default_rng(5), d, n_actions, 4, 1500, reward=130.0)
    for _ in along(ucls_l, hyper, state, oracle, stream):
        raised += state.v_init[0] > before
        before = state.v_init[0]
    assert_equal(state, oracle)
    assert raised > 5


def test_interval_is_the_box_and_looking_changes_nothing():
    run, oracle = check_against_oracle("ucls/PuddleWorld-v0", 300)
    check_looking(run, lambda xs: (xs @ oracle.w, oracle.upper(xs) - xs @ oracle.w))


@pytest.mark.parametrize(
    ("settings", "factor"), [({"p": 0.25}, np.sqrt(5)), ({"p_bar": 3}, 3.0), ({"p": 0.25, "p_bar": 3}, 3.0)]
)
def test_initial_radius_follows_from_p_or_p_bar_and_the_feature_value(settings, factor):
    run = make_run("ucls/PuddleWorld-v0", "ucls-l", settings={**settings, "v_init": 4})
    mean, radius = run.learner.interval(np.array([0.5, 0.5]))
    assert np.all(mean == 0)
    np.testing.assert_allclose(radius, factor * np.sqrt(4 / 5))


def test_one_step_by_hand():
    """Two features worth 1/2, reward 8, the end: delta = 8, w = 0.01 8/2, w_var = 0.1 8/2 and v_init stays 1.

    A reward of 80 makes w_var 4, so v_init 16: the initial variance of the third feature, too, is raised to 16.
    """
    xs = la.Active(np.array([[0, 1]]), np.array([[0.5, 0.5]]))
    rng = np.random.default_rng(0)
    hyper = ucls_l.Settings(normalize_step=0, alpha=0.01)
    for r, w, w_var, v_init in ((8.0, 0.04, 0.4, 1.0), (80.0, 0.4, 4.0, 16.0)):
        state = ucls_l.init(hyper, 3, 1, 2)
        ucls_l.update(state, hyper, xs, 0, r, 0.0, xs, 0, rng)
        np.testing.assert_allclose(state.w, [w, w, 0])
        np.testing.assert_allclose(state.w_var, [w_var, w_var, 0])
        np.testing.assert_allclose(state.w_init, [0.999 * v_init, 0.999 * v_init, v_init])
        mean, radius = ucls_l.interval(state, hyper, la.of_action(xs, 0), rng)
        np.testing.assert_allclose(mean, w)
        np.testing.assert_allclose(radius, np.sqrt(11 * (w_var**2 + 0.5 * 0.999 * v_init)))


def test_normalized_step_sizes_are_parts_of_the_error_whatever_the_features():
    """Whatever the size of the features, one step removes the part alpha of the error."""
    rng = np.random.default_rng(0)
    hyper = ucls_l.Settings(alpha=0.2)
    for scale in (0.5, 2.0):
        xs = la.Active(np.array([[0, 1]]), np.array([[scale, scale]]))
        state = ucls_l.init(hyper, 2, 1, 2)
        ucls_l.update(state, hyper, xs, 0, 8.0, 0.0, xs, 0, rng)
        assert ucls_l.value(state, hyper, la.of_action(xs, 0)) == pytest.approx(0.2 * 8.0)


def test_float32_follows_float64_on_a_fixed_stream():
    states = in_both_precisions(ucls_l, ucls_l.Settings(), 2000)
    for name in ARRAYS:
        exact, single = (getattr(state, name) for state in states)
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, exact, atol=2e-4 * np.abs(exact).max())
