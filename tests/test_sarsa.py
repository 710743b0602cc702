"""Sarsa(lambda): the kernel equals the dense update, a tabular example by hand, and what optimism means."""

import numpy as np
import pytest

from support import boxes
from support.shadow import assert_close, epsilon_greedy, shadow
from support.transitions import dense
from support.uncompiled import check_uncompiled
from ucls.algorithms import sarsa
from ucls.core.run import make_run
from ucls.envs import make_builtin
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import traces as tr
from ucls.testing import small_run


def check_against_oracle(env, steps, settings={}):
    run = small_run(env, "sarsa", seed=7, **settings)
    hyper = run.learner.hyper
    oracle = boxes.Sarsa(
        run.learner.coder.size,
        literal=hyper.trace_discount == tr.CURRENT,
        alpha=hyper.alpha,
        q0=hyper.initial_value,
        normalized=bool(hyper.normalize_step),
    )
    shadow(run, oracle, steps, lambda box, x, rng: epsilon_greedy(hyper.epsilon, box.values(x), rng))
    assert_close(run.learner.state.w, oracle.w, "w")
    assert_close(run.learner.state.trace.z, oracle.z, "z")
    return run, oracle


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"initial_value": "return_max", "epsilon": 0},
        {"trace_discount": "current"},
        {"normalize_step": False, "alpha": 0.5},
    ],
    ids=["epsilon", "optimistic", "current", "plain"],
)
def test_kernel_equals_the_dense_update_on_every_environment(unlike, settings):
    check_against_oracle(unlike, 500, settings)


def test_plain_python_equals_the_dense_update():
    check_uncompiled("test_sarsa", 100)


def test_four_steps_of_a_table_by_hand():
    """One-hot states 0, 1, 2 and one action: rewards 1, 0, 2, then a second episode. alpha = lambda = gamma = 1/2.

    delta = 1 + Q1/2 - Q0 = 1, z = (1, 0, 0), so Q = (1/2, 0, 0).
    delta = 0 + Q2/2 - Q1 = 0: nothing moves, z = (1/4, 1, 0).
    delta = 2 - Q2 = 2, at the end, z = (1/16, 1/4, 1): Q = (9/16, 1/4, 1).
    Second episode, 0 to 1, reward 0: delta = 1/8 - 9/16 = -7/16, and z = (1, 0, 0) again: Q0 = 9/16 - 7/32 = 11/32.
    """
    hyper = sarsa.Settings(alpha=0.5, lambda_=0.5)
    state = sarsa.init(hyper, 3, 1, 1)
    rng = np.random.default_rng(0)
    at = [la.Active(np.array([[s]]), np.array([[1.0]])) for s in range(3)]
    sarsa.start(state, hyper, rng)
    for s, r, gamma, s_next, expected in (
        (0, 1.0, 0.5, 1, [0.5, 0.0, 0.0]),
        (1, 0.0, 0.5, 2, [0.5, 0.0, 0.0]),
        (2, 2.0, 0.0, 2, [9 / 16, 1 / 4, 1.0]),
        (0, 0.0, 0.5, 1, [11 / 32, 1 / 4, 1.0]),
    ):
        sarsa.update(state, hyper, at[s], 0, r, gamma, at[s_next], 0, rng)
        assert state.w.tolist() == expected
        if gamma == 0.0:
            sarsa.start(state, hyper, rng)


def test_optimism_is_the_best_return_of_the_environment_everywhere(env_id):
    best = make_builtin(env_id).facts()["return_max"]
    for settings, start in (({"initial_value": "return_max"}, best), ({"initial_value": 3}, 3.0), ({}, 0.0)):
        run = make_run(env_id, "sarsa", settings=settings)
        mean, radius = run.learner.interval(run.s)
        assert (mean == start).all()
        assert run.plan.settings["initial_value"] == start
        assert (radius == 0).all()


def test_optimism_is_what_initial_weights_would_give():
    """Features worth 1/n that never share an index sum to 1, so w = 100 at the start gives Q = 100."""
    settings = {"tilings": 4, "tiles": 4, "table_size": 100, "initial_value": "return_max", "epsilon": 0.0}
    run = make_run("ucls/RiverSwim-v0", "sarsa", seed=3, settings=settings)
    oracle = boxes.Sarsa(run.learner.coder.size)
    oracle.w += 100.0
    shadow(run, oracle, 500, lambda box, x, rng: epsilon_greedy(0.0, box.values(x), rng))
    assert_close(run.learner.state.w + 100.0, oracle.w, "w")


def test_one_step_removes_alpha_of_the_error_whatever_the_features_are_worth():
    for value in (1 / 8, 1.0):
        xs = la.Active(np.arange(8).reshape(1, 8), np.full((1, 8), value))
        hyper = sarsa.Settings(alpha=0.25)
        state = sarsa.init(hyper, 8, 1, 8)
        sarsa.update(state, hyper, xs, 0, 1.0, 0.0, xs, 0, np.random.default_rng(0))
        assert dense(xs, 8)[0] @ state.w == 0.25
