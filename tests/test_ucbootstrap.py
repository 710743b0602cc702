"""UCBootstrap: the kernel equals the box over either base learner, and its quantile is Hyndman and Fan's eighth."""

import numpy as np
import pytest

from support import boxes
from support.shadow import assert_close, shadow
from support.uncompiled import run_uncompiled
from ucls.algorithms import ucbootstrap
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import traces as tr
from ucls.testing import small_run


def check_against_oracle(env, steps, settings={}):
    run = small_run(env, "ucbootstrap", seed=7, **settings)
    hyper, d = run.learner.hyper, run.learner.coder.size
    literal = hyper.trace_discount == tr.CURRENT
    base = (
        boxes.Sarsa(d, literal, alpha=hyper.step_size)
        if hyper.base == ucbootstrap.SARSA
        else boxes.LSTDShermanMorrison(d, literal, eta=hyper.eta)
    )
    oracle = boxes.UCBootstrap(base, l=hyper.block, B=hyper.resamples, window=hyper.window, alpha=hyper.alpha)
    shadow(run, oracle, steps, lambda box, x, rng: box.upper(x, rng))
    state, n = run.learner.state, min(steps, hyper.window)
    assert_close(state.w, base.w, "w")
    recent = np.roll(state.recent, -(state.stored[0] % hyper.window) if n == hyper.window else 0, axis=1)
    assert_close(recent[:, :n].T, np.array(oracle.recent), "recent")
    return run, oracle


@pytest.mark.parametrize(
    "settings",
    [{}, {"base": "lstd", "eta": 0.01}, {"window": 37, "block": 8, "resamples": 20, "alpha": 0.3}],
    ids=["sarsa", "lstd", "uneven"],
)
def test_kernel_equals_the_box_on_every_environment(unlike, settings):
    check_against_oracle(unlike, 200, settings)


def test_plain_python_equals_the_box():
    run_uncompiled(
        "from test_ucbootstrap import check_against_oracle\n"
        "for env in ENVIRONMENTS:\n"
        "    check_against_oracle(env, 60, {'resamples': 20, 'alpha': 0.2, 'window': 40})\n"
        "    check_against_oracle(env, 30, {'resamples': 20, 'alpha': 0.2, 'base': 'lstd', 'eta': 0.01})"
    )


@pytest.mark.parametrize("B", [1, 2, 3, 10, 50, 200])
def test_quantile_is_numpys_median_unbiased(B):
    rng = np.random.default_rng(B)
    T = np.sort(rng.normal(size=B))
    for p in (0.001, 0.025, 0.1, 0.25, 0.5, 0.9, 0.999):
        expected = np.quantile(T, p, method="median_unbiased")
        assert ucbootstrap.quantile(T, p) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_interval_is_the_box_on_a_window_that_is_empty_filling_or_full():
    x = la.Active(np.array([2, 0]), np.array([0.5, 2.0]))
    for stored in (0, 1, 7, 10, 99, 100, 101, 257):
        hyper = ucbootstrap.Settings()
        state = ucbootstrap.init(hyper, 3, 1, 2)
        oracle = boxes.UCBootstrap(boxes.Sarsa(3))
        weights = np.cumsum(np.random.default_rng(stored).normal(size=(stored, 3)), axis=0)
        for k, w in enumerate(weights):
            state.recent[:, k % 100] = w
        state.stored[0] = stored
        oracle.recent = list(weights[-100:])
        mean, radius = ucbootstrap.interval(state, hyper, x, np.random.default_rng(1))
        middle, upper = oracle.bound(np.array([2.0, 0.0, 0.5]), np.random.default_rng(1))
        assert mean == pytest.approx(middle, rel=1e-10)
        assert radius == pytest.approx(max(0.0, upper - middle), rel=1e-8, abs=1e-12)
        assert (radius > 0) == (stored > 10)


def test_bounds_keep_their_digits_far_from_zero():
    """Spread of 1e-3 around values of 1e9: differences of running sums of the values themselves would lose it."""
    hyper = ucbootstrap.Settings()
    state = ucbootstrap.init(hyper, 1, 1, 1)
    x = la.Active(np.array([0]), np.array([1.0]))
    noise = np.round(np.random.default_rng(0).normal(size=100) * 2**10) / 2**20
    radii = []
    for base in (0.0, 2.0**30):
        state.recent[0] = base + noise
        state.stored[0] = 100
        radii.append(ucbootstrap.interval(state, hyper, x, np.random.default_rng(1))[1])
    assert radii[1] == pytest.approx(radii[0], rel=1e-3)


def test_before_any_weight_is_kept_every_action_is_as_likely():
    hyper = ucbootstrap.Settings()
    state = ucbootstrap.init(hyper, 3, 3, 1)
    xs = la.Active(np.arange(3).reshape(3, 1), np.ones((3, 1)))
    rng = np.random.default_rng(0)
    taken = np.bincount([ucbootstrap.act(state, hyper, xs, rng) for _ in range(9000)], minlength=3)
    assert (np.abs(taken - 3000) < 200).all()
