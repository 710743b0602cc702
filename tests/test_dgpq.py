"""DGPQ: the kernel equals the box, room grows without a trace in what is learned, and the printed deletion fails."""

import gymnasium
import numpy as np
import pytest

from support import boxes
from support.shadow import nothing, shadow
from support.transitions import assert_same_learner, follow
from support.uncompiled import check_uncompiled
from ucls import Agent
from ucls.algorithms import algorithm_module, dgpq
from ucls.core.run import Run, make_run
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.kernels.linear_algebra import gaussian_process as gps
from ucls.kernels.ranges import Sizes
from ucls.testing import small_run

CAREFUL = {"bandwidth": 0.02, "sigma_tol": 0.03, "epsilon": 0.03, "lipschitz": 5.0}
QUICK = {"bandwidth": 0.5, "sigma_tol": 0.1, "epsilon": 0.01, "lipschitz": 5.0}  # well suited to River Swim


def states(xs, n_actions):
    """The scaled state out of dense features, where that of action a lies in its own block."""
    return xs[0][0::n_actions]


def check_against_oracle(env, steps, settings=CAREFUL, literal=False):
    run = small_run(env, "dgpq", seed=7, **settings, deletion="printed" if literal else "dominated")
    me, n_actions = run.learner, run.learner.plan.n_actions
    values = {name: settings[name] for name in ("bandwidth", "sigma_tol", "epsilon")}
    oracle = boxes.DGPQ(n_actions, me.hyper.r_max, literal, L_Q=settings["lipschitz"], **values)

    def learn(box, t, rng):
        box.update(states(t.xs, n_actions), t.a, t.r, t.gamma, states(t.xs_next, n_actions))

    shadow(run, oracle, steps, lambda box, x, rng: box.Q(states(x, n_actions)), learn, nothing)
    assert_equal(me.state, me.hyper, oracle, me.coder.n_active)
    return run, oracle


def assert_equal(state, hyper, oracle, dim, rtol=1e-8):
    """The same basis vectors, and the same Q-hat and processes at random states."""
    for a, BV in enumerate(oracle.BV):
        assert state.basis.n[a] == len(BV)
        if BV:
            np.testing.assert_allclose(state.basis.s[a, : len(BV)], [s for s, _ in BV], rtol=rtol)
            np.testing.assert_allclose(state.basis.mu[a, : len(BV)], [mu for _, mu in BV], rtol=rtol)
        assert state.gp.n[a] == len(oracle.data[a][0])
    for s in np.random.default_rng(0).uniform(size=(10, dim)):
        Q = oracle.Q(s)
        for a in range(len(Q)):
            mine = dgpq.optimistic(state, hyper, a, s)
            np.testing.assert_allclose(mine, Q[a], rtol=rtol)
            v = np.empty(state.gp.n[a])
            variance = gps.variance(state.gp, a, hyper.bandwidth, s, v, -1.0)
            found = mine + gps.mean(state.gp, a, v), variance
            np.testing.assert_allclose(found, oracle.process(a, s), rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("settings", [CAREFUL, QUICK], ids=["careful", "quick"])
def test_kernel_equals_the_box_on_every_environment(unlike, settings):
    _, oracle = check_against_oracle(unlike, 400, settings)
    assert oracle.additions > 3


def test_plain_python_equals_the_box():
    """The same kernels, not compiled: 100 steps in a process with the compiler off."""
    check_uncompiled("test_dgpq", 100, "settings=QUICK")


def test_the_printed_deletion_leaves_no_basis_vector_and_learns_nothing(unlike):
    run, oracle = check_against_oracle(unlike, 300, QUICK, literal=True)
    assert oracle.additions > 3
    assert run.learner.state.basis.n.sum() == 0
    np.testing.assert_array_equal(run.learner.interval(run.s)[0], 0.0)


def test_a_basis_vector_pushes_down_around_it_and_deletes_what_it_makes_needless():
    hyper = dgpq.Settings(lipschitz=2.0)
    state = dgpq.init(hyper, 2, 2, 1)
    for s, mu in ((0.5, -1.0), (0.9, -1.5), (0.1, -0.1)):
        dgpq.add_basis(state.basis, hyper, 1, np.array([s]), mu)
    # at 0.9 the first allows -1 + 2 * 0.4, so the second adds to it; at 0.1 the first allows -0.2: the third is idle
    assert state.basis.mu[1, :3].tolist() == [-1.0, -1.5, -0.1]
    assert dgpq.optimistic(state, hyper, 1, np.array([0.6])) == pytest.approx(-0.9)
    assert dgpq.optimistic(state, hyper, 1, np.array([0.0])) == pytest.approx(0.0, abs=1e-15)
    assert dgpq.optimistic(state, hyper, 0, np.array([0.6])) == 0.0
    dgpq.add_basis(state.basis, hyper, 1, np.array([0.4]), -3.0)
    assert state.basis.n.tolist() == [0, 1]


def test_interval_is_the_box_and_looking_changes_nothing():
    fresh = small_run("ucls/SparseMountainCar-v0", "dgpq")
    np.testing.assert_array_equal(fresh.learner.interval(fresh.s), [[0.0] * 3, [1.0] * 3])
    run, oracle = check_against_oracle("ucls/SparseMountainCar-v0", 400)
    before = run.learner.checkpoint()
    low, high = np.array(run.learner.plan.low), np.array(run.learner.plan.high)
    narrowest = 1.0
    for s in np.random.default_rng(0).uniform([0.2, 0.3], [0.6, 0.7], size=(20, 2)):
        mean, radius = run.learner.interval(low + s * (high - low))
        np.testing.assert_allclose(mean, oracle.Q(s), rtol=1e-8)
        np.testing.assert_allclose(radius**2, [oracle.process(a, s)[1] for a in range(3)], rtol=1e-8)
        narrowest = min(narrowest, radius.min())
    assert narrowest < 0.5
    after = run.learner.checkpoint()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("env", ["ucls/RiverSwim-v0", "ucls/SparseMountainCar-v0"])
def test_room_that_grows_changes_nothing(env, monkeypatch):
    monkeypatch.setattr(dgpq, "CAPACITY", 1000)
    wide = small_run(env, "dgpq", seed=4, **CAREFUL)
    monkeypatch.setattr(dgpq, "CAPACITY", 1)
    tight, shell = small_run(env, "dgpq", seed=4, **CAREFUL), small_run(env, "dgpq", seed=4, **CAREFUL)
    happened = wide.advance(1500)
    assert np.array_equal(happened.rewards, tight.advance(1500).rewards)
    assert tight.steps == 1500
    assert wide.learner.state.basis.mu.shape[1] == wide.learner.state.gp.y.shape[1] == 1000
    assert 1 < tight.learner.state.basis.mu.shape[1] < 1000
    assert 1 < tight.learner.state.gp.y.shape[1] < 1000
    for a, n in enumerate(wide.learner.state.basis.n):
        mine, other = tight.learner.state.basis, wide.learner.state.basis
        assert mine.n[a] == n
        assert np.array_equal(mine.mu[a, :n], other.mu[a, :n])
        assert np.array_equal(mine.s[a, :n], other.s[a, :n])
    for _ in follow(shell, 1500):  # a step at a time, as the Gymnasium shell does
        pass
    assert_same_learner(tight.learner, shell.learner)


def test_a_learner_that_has_grown_is_saved_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(dgpq, "CAPACITY", 1)
    run = small_run("ucls/RiverSwim-v0", "dgpq", seed=4, **QUICK)
    run.advance(700)
    again = Run.load(run.save(tmp_path / "run.safetensors"))
    assert again.learner.state.gp.y.shape == run.learner.state.gp.y.shape > (2, 1)
    assert np.array_equal(run.advance(700).rewards, again.advance(700).rewards)
    assert_same_learner(run.learner, again.learner)


def test_only_an_array_that_may_grow_may_be_larger_than_expected():
    gp, sizes = gps.processes(2, 1, 4, np.float64), Sizes(features=2, actions=2)
    larger = checkpoint.flatten("gp", gps.with_room(gp, 6))
    assert checkpoint.rebuild("gp", gp, larger, sizes).y.shape == (2, 6)
    with pytest.raises(UserError, match="does not fit"):
        checkpoint.rebuild("gp", gps.with_room(gp, 6), checkpoint.flatten("gp", gp), sizes)
    more_actions = checkpoint.flatten("gp", gps.processes(3, 1, 4, np.float64))
    with pytest.raises(UserError, match="does not fit"):
        checkpoint.rebuild("gp", gp, more_actions, sizes)


def test_an_algorithm_that_says_full_but_cannot_grow_is_refused(monkeypatch):
    monkeypatch.delattr(dgpq, "grow")
    with pytest.raises(UserError, match="lacks grow"):
        algorithm_module("dgpq")


@pytest.mark.slow
def test_float32_learns_the_same_from_the_same():
    double, single = (small_run("ucls/OneState-v0", "dgpq", seed=2, dtype=dtype) for dtype in ("float64", "float32"))
    assert single.learner.state.gp.L.dtype == single.learner.state.basis.mu.dtype == np.float32
    assert np.array_equal(double.advance(300).rewards, single.advance(300).rewards)
    n = double.learner.state.basis.n
    assert np.array_equal(n, single.learner.state.basis.n)
    for a in range(2):
        exact, rounded = double.learner.state.basis.mu[a, : n[a]], single.learner.state.basis.mu[a, : n[a]]
        np.testing.assert_allclose(rounded, exact, rtol=1e-5)


def test_features_that_are_not_the_state_are_refused():
    with pytest.raises(UserError, match="'scaled'"):
        make_run("ucls/RiverSwim-v0", "dgpq", features="tiles")


def test_elsewhere_the_largest_reward_must_be_given():
    env = gymnasium.make("MountainCar-v0")
    with pytest.raises(UserError, match="'r_max' has no default here"):
        Agent(env, "dgpq")
    assert not Agent(env, "dgpq", r_max=0.0).learn(50).diverged


def test_river_swim_is_learned_faster_than_by_ucls_at_first():
    """The paper's sentence, at settings from its ranges; always-up earns about 2200 in 10,000 steps."""
    earned = {"dgpq": [], "ucls": []}
    for seed in range(100, 105):  # the settings were found on other seeds
        earned["dgpq"].append(make_run("ucls/RiverSwim-v0", "dgpq", seed=seed, settings=QUICK).advance(10_000))
        earned["ucls"].append(make_run("ucls/RiverSwim-v0", "ucls", seed=seed).advance(10_000))
    median = {name: np.median([h.rewards.sum() for h in histories]) for name, histories in earned.items()}
    assert median["dgpq"] > 1500
    assert median["dgpq"] > median["ucls"]
