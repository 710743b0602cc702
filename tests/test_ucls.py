"""UCLS: the kernel equals the box, the bound is the box's, and a run that diverges says so."""

import numpy as np
import pytest

from support import boxes
from support.shadow import along, assert_close, check_looking, in_both_precisions, shadow
from support.transitions import dense, random_stream
from support.uncompiled import check_uncompiled
from ucls.algorithms import ucls
from ucls.core.run import make_run
from ucls.errors import UserError
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import traces as tr
from ucls.testing import small_run

LITERAL = {"trace_threshold": 0, "trace_discount": "current"}


def learned(state):
    """The learner's arrays as the box has them: dense, unscaled, C symmetric."""
    system = state.system
    return {
        "A": system.At.T * system.scale[0],
        "B": system.Bt.T,
        "b": system.b,
        "w": system.w,
        "z": state.trace.z,
        "nu": state.nu,
        "c": state.c,
        "C": np.tril(state.C) + np.tril(state.C, -1).T,
        "c_max": state.c_max[0],
    }


def assert_equal(state, oracle):
    """Every array equals the oracle's."""
    for name, mine in learned(state).items():
        assert_close(mine, getattr(oracle, name), name)
    assert_close(state.system.norm2[0], np.sum(oracle.A**2), "norm2")


def check(run, oracle, steps):
    """Follow a run with the oracle, and compare what they learned."""
    shadow(run, oracle, steps, lambda box, x, rng: box.upper(x))
    assert_equal(run.learner.state, oracle)
    return run, oracle


def check_against_oracle(env, steps, literal=False, settings={}):
    run = small_run(env, "ucls", seed=7, **settings, **(LITERAL if literal else {}))
    return check(run, boxes.UCLS(run.learner.coder.size, literal=literal, **settings), steps)


@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
def test_kernel_equals_the_box_on_every_environment(unlike, literal):
    check_against_oracle(unlike, 500 if unlike == "ucls/RiverSwim-v0" else 200, literal)


@pytest.mark.parametrize("solver", ["sherman_morrison", "fixed_step", "conjugate_gradient", "direct", "pseudo_inverse"])
@pytest.mark.parametrize(
    ("env", "steps"),
    [
        ("ucls/RiverSwim-v0", 400),
        ("ucls/PuddleWorld-v0", 100),
        pytest.param("ucls/MountainCar-v0", 400, marks=pytest.mark.slow),
    ],
)
def test_every_solver_equals_its_oracle(env, steps, solver):
    check_against_oracle(env, steps, settings={"solver": solver, "eta": 0.01})


@pytest.mark.parametrize("settings", [{"covariance": "visit_counts"}, {"averages": "sample"}], ids=str)
@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"])
def test_counts_only_and_sample_averages_equal_their_oracles(env, settings):
    check_against_oracle(env, 200, settings=settings)


@pytest.mark.parametrize("solver", ["sherman_morrison", "direct", "pseudo_inverse"])
def test_sample_averages_go_with_the_solvers(solver):
    check_against_oracle("ucls/RiverSwim-v0", 300, settings={"averages": "sample", "solver": solver, "eta": 0.01})


def test_counts_only_is_a_bonus_for_visits_on_a_fixed_step():
    """B stays I and C is what is left of the start: (1 - beta)^visits on the diagonal, nothing elsewhere."""
    run = small_run("ucls/RiverSwim-v0", "ucls", seed=3, covariance="visit_counts", feature_value="1", w_step=0.1)
    other = small_run("ucls/RiverSwim-v0", "ucls", seed=3, feature_value="1", w_step=0.1)
    for each in (run, other):
        each.advance(600)
    state, size = run.learner.state, run.learner.coder.size
    assert np.array_equal(state.system.Bt, np.eye(size))
    assert np.array_equal(np.tril(state.C), np.diag(state.c))
    visits = np.log(state.c) / np.log(1 - 0.001)
    np.testing.assert_allclose(visits, np.round(visits), atol=1e-6)
    assert visits.max() > 50
    assert state.c_max[0] == 1.0
    assert not np.array_equal(other.learner.state.system.Bt, np.eye(size))  # so it acts
    assert np.tril(other.learner.state.C, -1).any()


def test_where_c_stays_a_larger_c_max_is_added_whole():
    """It equals its oracle, and acts where c_max grows: what was visited then has as much added as what was not."""
    run, _ = check_against_oracle("ucls/PuddleWorld-v0", 150, settings={"c_max": 1e-6, "initial_variance": "constant"})
    state = run.learner.state
    assert state.c_max[0] > 1e-6
    assert (state.c == 1).all()
    before = np.diag(state.C).copy()
    ucls.raise_initial(state, 1, np.array([1.0]))
    np.testing.assert_allclose(np.diff(np.diag(state.C) - before), 0.0, atol=1e-12)
    assert np.diag(state.C)[0] > before[0] + 0.5


def test_sample_averages_weigh_all_samples_alike():
    """b is the mean of r z, with the start as one sample; with beta it has forgotten most of them."""
    hyper = ucls.Settings(averages=ucls.SAMPLE, lambda_=0.0, beta=0.2)
    state, forgetting = ucls.init(hyper, 1, 1, 1), ucls.init(ucls.Settings(lambda_=0.0, beta=0.2), 1, 1, 1)
    xs, rng = la.Active(np.zeros((1, 1), np.int64), np.ones((1, 1))), np.random.default_rng(0)
    for r in range(100):
        ucls.update(state, hyper, xs, 0, float(r), 0.0, xs, 0, rng)
        ucls.update(forgetting, hyper._replace(averages=ucls.EXPONENTIAL), xs, 0, float(r), 0.0, xs, 0, rng)
    assert state.system.b[0] == pytest.approx(sum(range(100)) / 101)
    assert forgetting.system.b[0] > 90
    assert state.c[0] == pytest.approx(1 / 101)  # the start counts as one sample too


def test_a_solver_that_cannot_start_is_refused():
    with pytest.raises(UserError, match="give eta > 0"):
        make_run("ucls/RiverSwim-v0", "ucls", settings={"solver": "sherman_morrison", "eta": 0})


@pytest.mark.slow
@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
def test_kernel_equals_the_box_for_5000_steps(env_id, literal):
    check_against_oracle(env_id, 5000, literal)


@pytest.mark.slow
@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/SparseMountainCar-v0"])
def test_kernel_equals_the_box_at_full_size(env):
    run = make_run(env, "ucls", seed=7)
    check(run, boxes.UCLS(run.learner.coder.size), 500)


def test_plain_python_equals_the_box():
    """The same kernels, not compiled: 100 steps in a process with the compiler off."""
    check_uncompiled("test_ucls", 100)


@pytest.mark.parametrize("literal", [False, True], ids=["corrected", "literal"])
@pytest.mark.parametrize("beta", [0.001, 0.2], ids=["slow", "renormalizing"])
def test_kernel_equals_the_box_on_large_rewards_and_resets(literal, beta):
    """Rewards up to about 400 in size make c_max rise; a large beta forces the lazy scale to be folded in."""
    d, n_actions = 48, 3
    threshold, discount = (0.0, tr.CURRENT) if literal else (beta, tr.PREVIOUS)
    hyper = ucls.Settings(beta=beta, trace_threshold=threshold, trace_discount=discount, w_step=0.1)
    state = ucls.init(hyper, d, n_actions, 4)
    oracle = boxes.UCLS(d, literal=literal, beta=beta, w_step=0.1)
    folded, before = 0, 1.0
    stream = random_stream(np.random.default_rng(5), d, n_actions, 4, 1500, reward=130.0)
    for _ in along(ucls, hyper, state, oracle, stream):
        folded += state.system.scale[0] > before
        before = state.system.scale[0]
    assert_equal(state, oracle)
    assert oracle.c_max > 1.0
    assert (folded > 10) == (beta > 0.1)


def test_interval_is_the_box_and_looking_changes_nothing():
    run, oracle = check_against_oracle("ucls/PuddleWorld-v0", 300)
    check_looking(run, lambda xs: (xs @ oracle.w, oracle.upper(xs) - xs @ oracle.w))


def test_initial_radius_follows_from_p_and_the_feature_value():
    run = make_run("ucls/PuddleWorld-v0", "ucls", settings={"p": 0.25})
    mean, radius = run.learner.interval(np.array([0.5, 0.5]))
    assert np.all(mean == 0)
    np.testing.assert_allclose(radius, np.sqrt((1 + 1 / 0.25) / 5))


def test_radius_is_real_when_C_is_not_positive():
    hyper = ucls.Settings()
    state = ucls.init(hyper, 2, 1, 2)
    state.C[:] = [[1.0, 0.0], [-3.0, 1.0]]
    x = la.Active(np.array([0, 1]), np.array([1.0, 1.0]))
    assert ucls.interval(state, hyper, x, np.random.default_rng(0)) == (0.0, 0.0)


@pytest.mark.slow
def test_float32_follows_float64_on_a_fixed_stream():
    states = in_both_precisions(ucls, ucls.Settings(), 2000)
    assert states[1].C.dtype == states[1].system.At.dtype == np.float32
    exact, single = (learned(state) for state in states)
    np.testing.assert_allclose(single["w"], exact["w"], atol=2e-5 * np.abs(exact["w"]).max())
    np.testing.assert_allclose(single["C"], exact["C"], atol=2e-4 * np.abs(exact["C"]).max())


@pytest.mark.slow
def test_300k_steps_do_not_drift():
    """The lazily scaled A and its carried norm stay with a dense average of the same stream."""
    d, n_actions, beta = 64, 2, 0.001
    hyper = ucls.Settings()
    state = ucls.init(hyper, d, n_actions, 4)
    A, z, b, gamma_previous = np.zeros((d, d)), np.zeros(d), np.zeros(d), 0.0
    rng = np.random.default_rng(4)
    for xs, a, r, gamma, xs_next, a_next in random_stream(rng, d, n_actions, 4, 300_000):
        ucls.update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)
        x, x_next = dense(xs, d)[a], dense(xs_next, d)[a_next]
        z = gamma_previous * 0.9 * z + x
        A = (1 - beta) * A + beta * np.outer(z, x - gamma * x_next)
        b = (1 - beta) * b + beta * r * z
        gamma_previous = gamma
    found = learned(state)
    np.testing.assert_allclose(found["A"], A, rtol=0, atol=1e-10 * np.abs(A).max())
    np.testing.assert_allclose(found["b"], b, rtol=0, atol=1e-10 * np.abs(b).max())
    np.testing.assert_allclose(state.system.norm2[0], np.sum(A**2), rtol=1e-10)


def test_a_diverging_run_stops_and_says_so():
    run = small_run("ucls/MountainCar-v0", "ucls", w_step=5000.0)
    happened = run.advance(5000)
    assert happened.diverged
    assert 0 < len(happened.rewards) < 5000
    assert np.isfinite(happened.rewards).all()
    assert run.steps == len(happened.rewards)
    with pytest.raises(UserError, match="have diverged"):
        run.advance(1)
