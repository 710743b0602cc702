"""UCLS with its complete bound: the kernel equals the batch formulas, each part acts, and hopes follow their rule."""

import warnings

import numpy as np
import pytest

from support.complete import UCLSExact
from support.params import always
from support.shadow import along, assert_close, matrix, shadow
from support.transitions import random_stream
from support.uncompiled import check_uncompiled
from ucls import Agent
from ucls.algorithms import ucls_exact
from ucls.core.run import make_run
from ucls.envs import ENVIRONMENTS, make_builtin
from ucls.errors import UclsWarning, UserError
from ucls.kernels import active as la
from ucls.testing import small_run


def batch(run):
    hyper = run.learner.hyper
    known = None if np.isnan(hyper.return_max) else hyper.return_max
    return UCLSExact(run.learner.coder.size, hyper.prior_visits, hyper.noise_scale, hyper.lambda_, known)


def check_against_oracle(env, steps, settings={}):
    run = small_run(env, "ucls-exact", seed=7, **settings)
    oracle, state = batch(run), run.learner.state
    shadow(run, oracle, steps, lambda box, x, rng: box.values(x))
    assert_close(state.w, oracle.w, "w")
    assert_close(state.h, oracle.h, "h")
    assert_close(matrix(state.inverse), np.linalg.inv(oracle.A), "inverse")
    if run.learner.hyper.noise_scale > 0:
        assert_close(matrix(state.C), oracle.C, "C")
    assert ucls_exact.optimistic_return(state, run.learner.hyper) == pytest.approx(oracle.v0, rel=1e-12)
    assert state.guarded[0] == oracle.guarded
    return run, oracle


def test_kernel_equals_the_batch_formulas_on_every_environment(env_id):
    check_against_oracle(env_id, 200)


@pytest.mark.parametrize(
    "settings", [{"lambda": 0.9}, {"return_max": "unknown"}, {"noise_scale": 0, "lambda": 0}], ids=str
)
@pytest.mark.parametrize("env", always(["ucls/DeepSea-v0", "ucls/RiverSwim-v0"], ENVIRONMENTS))
def test_kernel_equals_the_batch_formulas_with_other_settings(env, settings):
    check_against_oracle(env, 300, settings)


@pytest.mark.slow
def test_kernel_equals_the_batch_formulas_over_2000_steps(env_id):
    check_against_oracle(env_id, 2000)


def test_plain_python_equals_the_batch_formulas():
    check_uncompiled("test_ucls_exact", 20)


def learn(hyper, stream, d, n_actions, n_active, dtype=np.float64):
    """Let kernel and batch formulas learn from one stream of transitions."""
    state = ucls_exact.init(hyper, d, n_actions, n_active, dtype)
    oracle = UCLSExact(d, hyper.prior_visits, hyper.noise_scale, hyper.lambda_)
    for _ in along(ucls_exact, hyper, state, oracle, stream):
        pass
    return state, oracle


def dense_stream(rng, d, n_actions, steps):
    """Random dense features with signs, every one active, that are nearly collinear now and then."""
    state_size = d // n_actions
    index = np.array([np.arange(state_size) * n_actions + a for a in range(n_actions)])

    def features():
        return la.Active(index, np.tile(rng.normal(size=state_size), (n_actions, 1)))

    xs, a = features(), 0
    for _ in range(steps):
        xs_next, a_next = features(), int(rng.integers(n_actions))
        yield xs, a, float(rng.normal()), 0.0 if rng.random() < 0.05 else 0.95, xs_next, a_next
        xs, a = xs_next, a_next


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_streams_and_dense_features_equal_the_batch_formulas(dtype):
    rtol = 1e-8 if dtype == "float64" else 2e-3
    for stream, d in (
        (random_stream(np.random.default_rng(3), 60, 3, 4, 600), 60),
        (dense_stream(np.random.default_rng(4), 24, 2, 600), 24),
    ):
        state, oracle = learn(
            ucls_exact.Settings(lambda_=0.3), stream, d, 3 if d == 60 else 2, 4 if d == 60 else 12, np.dtype(dtype)
        )
        assert_close(state.w, oracle.w, "w", rtol)
        assert_close(state.h, oracle.h, "h", rtol)
        assert_close(matrix(state.C), oracle.C, "C", rtol)


def test_a_transition_that_would_make_A_singular_is_weighed_less_and_counted():
    """With lambda = 1, a trace that points against d drives the denominator down to its floor."""
    stream = dense_stream(np.random.default_rng(5), 8, 2, 400)
    state, oracle = learn(ucls_exact.Settings(lambda_=1.0, prior_visits=0.01), stream, 8, 2, 4)
    assert state.guarded[0] == oracle.guarded > 0
    assert_close(matrix(state.inverse), np.linalg.inv(oracle.A), "inverse", 1e-6)
    assert np.isfinite(state.w).all()


@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"])
def test_what_is_not_known_is_all_at_first_and_less_where_the_agent_has_been(env):
    """1 - x'h is exactly 1 before anything is learned, within [0, 1] always, and small along the agent's way."""
    run = make_run(env, "ucls-exact", seed=1)
    me = run.learner
    xs = la.no_features(me.plan.n_actions, me.coder.n_active)
    run.advance(10_000)
    seen = []
    for _ in range(50):
        run.advance(1)
        x = la.of_action(me.pending.xs, me.action)
        seen.append(ucls_exact.prior_fraction(me.state, x))
    assert 0 <= min(seen) <= max(seen) <= 1
    assert np.mean(seen) < 0.2
    xs.value[:] = 0.0
    assert ucls_exact.prior_fraction(me.state, la.of_action(xs, 0)) == 1.0


def test_mean_and_both_parts_make_the_upper_bound():
    run = small_run("ucls/RiverSwim-v0", "ucls-exact", seed=3)
    run.advance(500)
    me = run.learner
    x = la.of_action(me.pending.xs, 1)
    mean, radius = ucls_exact.interval(me.state, me.hyper, x, me.rng)
    belief, noise = ucls_exact.radius_terms(me.state, me.hyper, x)
    assert belief > 0
    assert noise > 0
    assert radius == belief + noise
    expected = x.value @ me.state.w[x.index] + 100.0 * ucls_exact.prior_fraction(me.state, x) + noise
    assert mean + radius == pytest.approx(expected)


def test_noise_is_the_standard_error_of_a_mean_where_rewards_are_noisy():
    """One-hot, no future: sqrt(x'Cx) is near sd / sqrt(visits), and the part of belief near m / (m + visits)."""
    hyper = ucls_exact.Settings(return_max=100.0, prior_visits=0.5, noise_scale=1.0)
    state = ucls_exact.init(hyper, 2, 2, 1)
    rng = np.random.default_rng(6)
    xs = la.Active(np.array([[0], [1]]), np.ones((2, 1)))
    for _ in range(4000):
        ucls_exact.update(state, hyper, xs, 0, 3.0 * rng.normal(), 0.0, xs, 0, rng)
    belief, noise = ucls_exact.radius_terms(state, hyper, la.of_action(xs, 0))
    assert noise == pytest.approx(3.0 / np.sqrt(4000), rel=0.1)
    assert belief == pytest.approx(100.0 * 0.5 / 4000.5)
    assert ucls_exact.radius_terms(state, hyper, la.of_action(xs, 1)) == (100.0, 0.0)


@pytest.mark.parametrize("power", [-10, 10])
@pytest.mark.parametrize("known", [True, False], ids=["scaled", "unknown"])
def test_the_size_of_rewards_changes_no_action(power, known):
    """Rewards times a power of two: every action, and everything learned but for its scale, stays to the last bit."""

    def run(scale):
        hyper = ucls_exact.Settings(return_max=5.0 * scale if known else np.nan)
        state = ucls_exact.init(hyper, 60, 3, 4)
        rng = np.random.default_rng(1)
        actions = []
        for xs, a, r, gamma, xs_next, _ in random_stream(np.random.default_rng(2), 60, 3, 4, 500):
            a_next = ucls_exact.act(state, hyper, xs_next, rng)
            ucls_exact.update(state, hyper, xs, a, r * scale, gamma, xs_next, a_next, rng)
            actions.append(a_next)
        return actions, state

    (plain, one), (scaled, other) = run(1.0), run(2.0**power)
    assert plain == scaled
    assert np.array_equal(one.w * 2.0**power, other.w)
    assert np.array_equal(one.h, other.h)


def test_a_return_above_the_largest_raises_it_and_is_said_once():
    run = small_run("ucls/SparseMountainCar-v0", "ucls-exact", seed=2, return_max=0.25, time_limit=10_000)
    with warnings.catch_warnings(record=True, action="always") as told:
        for _ in range(6):
            run.advance(2000)
    told = [notice for notice in told if "tiles" not in str(notice.message)]  # its table is small on purpose
    assert [str(notice.message)[:26] for notice in told] == ["return_max=0.25 is too low"]
    assert told[0].category is UclsWarning
    assert ucls_exact.optimistic_return(run.learner.state, run.learner.hyper) == 1.0


@pytest.mark.parametrize("nonsense", ["nan", "inf", "-inf", "most"])
def test_a_largest_return_is_a_number_or_unknown(nonsense):
    with pytest.raises(UserError, match=r"'return_max' cannot be .*: give a number, or unknown"):
        small_run("ucls/RiverSwim-v0", "ucls-exact", return_max=nonsense)


def test_settings_that_make_no_sense_are_refused():
    for setting in ({"prior_visits": 0}, {"prior_visits": -1}, {"noise_scale": -0.5}, {"lambda": 1.1}):
        with pytest.raises(UserError, match="cannot be"):
            small_run("ucls/RiverSwim-v0", "ucls-exact", **setting)


def test_defaults_follow_whether_states_share_features():
    """A trace makes up for features that states share; belief lasts longer where each state learns for itself."""

    def hyper(env, agent="ucls-exact", **settings):
        return small_run(env, agent, **settings).learner.hyper

    assert (hyper("ucls/DeepSea-v0").lambda_, hyper("ucls/DeepSea-v0").prior_visits) == (0.0, 1.75)
    assert (hyper("ucls/RiverSwim-v0").lambda_, hyper("ucls/RiverSwim-v0").prior_visits) == (0.4, 1.0)
    given = hyper("ucls/DeepSea-v0", prior_visits=1, **{"lambda": 0.3})
    assert (given.lambda_, given.prior_visits) == (0.3, 1.0), "what a person says counts"
    assert hyper("ucls/DeepSea-v0", "ucls").lambda_ == 0.9, "other algorithms have their own"


def test_an_agent_tells_what_is_not_known_from_what_is_noisy():
    agent = Agent("ucls/RiverSwim-v0", "ucls-exact", seed=1).learn(300)
    mean, radius = agent.value_estimates([0.05])
    unknown, noisy = agent.uncertainty([0.05])
    assert np.array_equal(unknown + noisy, radius)
    assert mean.shape == unknown.shape == noisy.shape == (2,)
    far = agent.uncertainty([0.95])
    assert (far.prior > unknown).all(), "where it has not been, more is not known"
    with pytest.raises(UserError, match="does not separate prior and noise uncertainty: use ucls-plan or ucls-exact"):
        Agent("ucls/RiverSwim-v0", "sarsa").uncertainty([0.05])


@pytest.mark.parametrize(
    ("settings", "acts"),
    [
        ({"prior_scale": 0, "noise_scale": 0}, False),
        ({"noise_scale": 0}, True),
        ({"prior_scale": 0, "noise_scale": 2}, True),
    ],
    ids=["neither", "belief", "noise"],
)
def test_each_part_of_the_bound_acts(settings, acts):
    """Without either the agent is greedy on x'w; each part alone changes what it does."""
    same = []
    for seed in range(5):
        run, greedy = (
            small_run("ucls/OneState-v0", "ucls-exact", seed=seed, **chosen)
            for chosen in (settings, {"prior_scale": 0, "noise_scale": 0})
        )
        same.append(np.array_equal(run.advance(500).rewards, greedy.advance(500).rewards))
        assert (run.learner.interval(np.array([0.0]))[1] > 0).any() == acts
    assert all(same) != acts


def test_a_larger_reward_is_found_behind_a_small_one_that_nobody_told_it_of():
    """River Swim's bank pays 0.005 and its top 1. When the bank's return is had, the agent hopes for more."""
    run = make_run("ucls/RiverSwim-v0", "ucls-exact", seed=0, settings={"return_max": "unknown"})
    optimum = make_builtin("ucls/RiverSwim-v0").optimal()
    assert run.advance(20_000).rewards[-5_000:].mean() >= 0.9 * optimum.reward_rate
