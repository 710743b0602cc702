"""UCLS-Deep: its last layer is that of dense NumPy, it remembers what it should, it resumes, and it learns."""

import os
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest

import ucls
from support import deep_oracle
from ucls.algorithms import ucls_deep as ud
from ucls.core.run import make_run
from ucls.errors import UserError
from ucls.kernels.linear_algebra import threads
from ucls.kernels.network import levels as lv
from ucls.kernels.network import partitions as pt
from ucls.kernels.network import replay as rp
from ucls.policy import Policy

SMALL = {"averaged": 1, "hidden": 8, "cells": 64, "width": 1.0, "partitions": 3}
CAR = "ucls/MountainCar-v0"


def remembered(memory):
    """The transitions, oldest first, while nothing was overwritten."""
    rows = [i for i in range(memory.used[0]) if memory.action[i] >= 0]
    ends = [None if memory.next[i] < 0 else int(memory.next[i]) for i in rows]
    parts = zip(rows, memory.action[rows], memory.reward[rows], memory.discount[rows], ends, strict=True)
    return [deep_oracle.Transition(*part) for part in parts]


def solve_from_nothing(state, hyper):
    """A solve that begins with weights and corrections of 0."""
    net = ud.layers(state, state.weights)
    for part in (net.heads, net.offsets, state.parts.mean, state.parts.upper, state.parts.squares):
        part[:] = 0.0
    ud.solve(state, hyper)


@pytest.mark.parametrize(
    "settings",
    [{}, {"noise_scale": 0.0, "n_steps": 1, "return_max": 3.0}, {"prior_visits": 0.0, "shrink": 5.0, "epsilon": 0.2}],
    ids=["default", "one-step", "no-prior"],
)
def test_solve_is_that_of_dense_numpy(settings):
    run = make_run(CAR, "ucls-deep", seed=3, settings={**SMALL, "time_limit": 60, "rounds": 4, **settings})
    run.advance(250)
    state, hyper = run.learner.state, run.learner.hyper
    for _ in range(2):  # in the second solve v0 does not change
        solve_from_nothing(state, hyper)
    memory, n = state.memory, int(state.memory.used[0])
    z = (memory.states[:n] - state.center) / state.spread
    inputs = np.where(np.abs(z) > 3, np.sign(z) * (3 + np.log(np.maximum(np.abs(z) - 2, 1))), z)
    net = {name: part.astype(np.float64) for name, part in ud.layers(state, state.recent.weights[0])._asdict().items()}
    phi, cells = deep_oracle.features(net, inputs), pt.cells_of(state.parts, z.astype(np.float32))
    transitions, v0 = remembered(memory), float(state.seen.v0[0])
    vmin = min(float(state.seen.worst[0]) * float(state.longest[0]), v0)  # rewards are not discounted
    rules = hyper.prior_visits, hyper.noise_scale, hyper.ridge, hyper.shrink, hyper.n_steps
    oracle = deep_oracle.LastLayer(phi, cells, transitions, 3, v0, vmin, *rules)
    np.testing.assert_array_equal(oracle.n, state.parts.visits[:, : oracle.n.shape[1]])
    for _ in range(hyper.rounds):
        oracle.round()
    size = v0 - vmin
    got = memory.targets[[t.s for t in transitions]]
    np.testing.assert_allclose(got, np.column_stack([oracle.yw, oracle.yu]), atol=1e-3 * size)
    for s in range(0, n, 10):
        mean, top = ud.value_at(state, memory.states[s]), ud.upper_at(state, hyper, memory.states[s], hyper.noise_scale)
        np.testing.assert_allclose(mean, [oracle.W(s, a) for a in range(3)], atol=1e-3 * size)
        np.testing.assert_allclose(top, [oracle.U(s, a) for a in range(3)], atol=1e-3 * size)


def test_the_value_estimate_is_the_mean_over_the_last_solutions():
    agent = ucls.Agent("CartPole-v1", "ucls-deep", seed=2, **SMALL | {"averaged": 3}).learn(450)
    state, observations = agent.learner.state, [[0.1, -0.5, 0.02, 1.0], [2.0, 3.0, -0.2, -9.0]]
    assert state.recent.used[0] == 3
    assert (state.recent.weights[:3].std(axis=0) > 0).any()
    single = []
    for k in range(3):  # each solution alone, as if it were the only one
        alone = type(state.recent)(*(part[k : k + 1] for part in state.recent[:-1]), np.ones(1, np.int64))
        single.append([ud.value_at(state._replace(recent=alone), np.array(s)) for s in observations])
    np.testing.assert_allclose(agent.value_estimates(observations)[0], np.mean(single, axis=0), rtol=1e-5)
    assert np.std(single, axis=0).min() > 1e-3


def test_corrections_and_visits_are_exact_where_every_state_has_its_cell():
    """With one-hot cells, the radius of n visits is that of tables, (v0 - mean of targets) m / (n + m)."""
    parts = pt.partitions(1, 4, 2, 1)
    parts.visits[0, :, 0] = [0, 1, 10, 100]
    q = np.empty((4, 1))
    pt.visits_of_prior(parts, np.arange(4)[:, None], 0.1, q)
    np.testing.assert_allclose(1 / (1 + q[:, 0]), [0.01 / 0.11, 1.01 / 1.11, 10.01 / 10.11, 100.01 / 100.11], rtol=1e-5)


def memory_of(episodes, limit=1000):
    """A memory of episodes of rewards, each with whether it terminated; the discount is 1/2."""
    memory = rp.replay(1, 2, limit)
    index, t = np.array([[0], [1]]), 0
    for rewards, terminated in episodes:
        row = rp.add(memory, np.array([float(t)]), index)
        for k, r in enumerate(rewards):
            t += 1
            over = terminated and k == len(rewards) - 1
            to = -1 if over else rp.add(memory, np.array([float(t)]), index)
            rp.connect(memory, row, k % 2, r, 0.0 if over else 0.5, to)
            row = to
    return memory


def returns_over(memory, n):
    size = int(memory.used[0])
    found = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    rp.returns_over(memory, n, *found)
    return found


def test_returns_over_several_steps_stop_at_ends_and_at_the_last_state():
    memory = memory_of([([1.0, 2.0, 4.0], True), ([8.0, 16.0], False)])
    R, g, to = returns_over(memory, 2)
    np.testing.assert_allclose(R, [2.0, 4.0, 4.0, 16.0, 16.0, 0.0])
    np.testing.assert_allclose(g, [0.25, 0.0, 0.0, 0.25, 0.5, 1.0])
    np.testing.assert_array_equal(to, [2, -1, -1, 5, 5, 5])


def test_a_full_memory_forgets_the_oldest_and_keeps_its_chains():
    rng, memory = np.random.default_rng(0), rp.replay(1, 2, 50)
    index, streams = np.array([[0], [1]]), [-1, -1, -1]
    for t in range(500):
        k = int(rng.integers(3))
        row = streams[k] if streams[k] >= 0 else rp.add(memory, np.array([float(t)]), index)
        to = rp.add(memory, np.array([t + 0.5]), index) if rng.random() < 0.9 else -1
        rp.connect(memory, row, t % 2, float(t), 0.9 if to >= 0 else 0.0, to)
        streams[k] = to
        assert memory.fault() == ""
    assert memory.used[0] == 50
    taken = memory.action >= 0
    assert memory.reward[taken].min() > 400
    assert (memory.states[memory.next[taken & (memory.next >= 0)], 0] % 1 == 0.5).all()


@pytest.mark.parametrize(
    ("episodes", "given", "expected"),
    [
        ([([0.0, 0.0], True)], np.nan, 1.0),  # nothing is known
        ([([0.0, 0.0], True)], 7.0, 7.0),
        ([([0.0, 9.0], True)], 7.0, 9.0),  # a return above what was given
        ([([0.0, 1.0], True)], np.nan, 1.0),  # the reward at the end, from the state before it
        ([([-1.0] * 3, False)], np.nan, 0.0),  # costs of which the end was not seen
        ([([1.0] * 3, True)], np.nan, 2.0),  # a reward for ever, and no more than 2 best - average
        ([([0.0], True), ([-4.0], True)], np.nan, 2.0),  # an episode had all that was guessed: 2 * 0 - (-2)
    ],
)
def test_v0_is_the_guess_cut_to_the_scale_of_returns(episodes, given, expected):
    memory, seen = memory_of(episodes), lv.seen()
    for row in np.flatnonzero(memory.action >= 0):
        lv.observe(seen, memory.reward[row], memory.discount[row])
    assert lv.look_back(seen, memory, given, 3)[0] == pytest.approx(expected)


def test_growing_and_overwriting_memory_stays_within_its_limit():
    run = make_run(CAR, "ucls-deep", settings={**SMALL, "limit": 1500, "train_every": 100, "spacing": 1.0})
    run.advance(4000)
    memory = run.learner.state.memory
    assert len(memory.states) == 1500 == memory.used[0]
    assert memory.fault() == ""


def test_results_do_not_depend_on_the_number_of_threads():
    program = """
import hashlib, ucls
agent = ucls.Agent("CartPole-v1", "ucls-deep", seed=3).learn(420)
print(hashlib.sha256(agent.learner.state.recent.weights.tobytes() + agent.learner.state.solution.tobytes()).hexdigest())
"""
    found = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            env={**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), number)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "2")
    }
    assert len(found) == 1


def test_matrix_products_have_one_thread_for_the_time_of_a_call():
    get, set_to = threads._get, threads._set
    if get is None or set_to is None:
        pytest.skip("NumPy has another library than OpenBLAS")
    before = get()
    set_to(2)
    assert threads.one_thread(get)() == 1
    with pytest.raises(ZeroDivisionError):
        threads.one_thread(lambda: 1 / 0)()
    assert get() == 2
    set_to(before)


@pytest.mark.parametrize("size", [1e100, 1e200])
def test_rewards_that_explode_end_in_one_line(size, tmp_path):
    class Exploding(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
        action_space = gymnasium.spaces.Discrete(2)
        t = 0

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.zeros(2, np.float32), {}

        def step(self, action):
            self.t += 1
            s = self.np_random.uniform(-1, 1, 2).astype(np.float32)
            return s, 1.0 if self.t < 400 else size, False, self.t % 50 == 0, {}

    agent = ucls.Agent(Exploding(), "ucls-deep", seed=0, **SMALL).learn(390)
    path = agent.save(tmp_path / "good")
    with pytest.warns(RuntimeWarning, match="the values diverged at step"):
        agent.learn(1000)
    with pytest.raises(UserError, match="the values have diverged"):
        agent.save(tmp_path / "bad")
    assert ucls.Agent.load(path, Exploding()).steps == 390


def test_observations_of_any_scale_are_learned_from():
    class Scaled(gymnasium.ObservationWrapper):
        def __init__(self, env, scale):
            super().__init__(env)
            self.scale, self.observation_space = scale, gymnasium.spaces.Box(-np.inf, np.inf, (4,))

        def observation(self, observation):
            return np.asarray(observation, np.float64) * self.scale

    returns = []
    for scale in (1e-3, 1e5):
        agent = ucls.Agent(Scaled(gymnasium.make("CartPole-v1"), scale), "ucls-deep", seed=1, hidden=32).learn(1500)
        returns.append(np.mean(agent.history.episode_returns[-5:]))
    assert min(returns) > 35  # a random policy has 22


def test_no_bounds_are_estimated():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = ucls.Agent("CartPole-v1", "ucls-deep", seed=0)
    assert agent.plan.high[1] == 3.0
    assert agent.plan.high[0] == pytest.approx(4.8)


def test_deep_sea_is_solved_from_coordinates():
    """Its actions are unrelated from cell to cell: learned features do not separate the cells, partitions do."""

    class Coordinates(gymnasium.ObservationWrapper):
        observation_space = gymnasium.spaces.Box(0.0, 10.0, (2,))

        def observation(self, observation):
            cell = int(np.asarray(observation).item())
            row = int((np.sqrt(8 * cell + 1) - 1) // 2)
            return np.array([row, cell - row * (row + 1) // 2], np.float32)

    env = Coordinates(gymnasium.make("ucls/DeepSea-v0", size=8))
    agent = ucls.Agent(env, "ucls-deep", seed=0, return_max=1.0, hidden=32).learn(1600)
    assert np.mean(agent.history.episode_returns[-20:]) > 0.9


@pytest.mark.parametrize("intervals", [True, False])
def test_an_exported_policy_acts_as_its_agent_with_numpy_alone(tmp_path, intervals):
    agent = ucls.Agent("CartPole-v1", "ucls-deep", seed=1, **SMALL | {"averaged": 3}).learn(600)
    states = agent.learner.state.memory.states[:600:7]
    observations = np.concatenate([states, [[3.0, -9.0, 1.0, 5.0], [-0.1, 0.0, 0.2, 0.1]]])
    policy = Policy(agent.export(tmp_path / "policy", intervals=intervals))
    mean, radius = agent.value_estimates(observations)
    got = policy.value_estimates(observations)
    np.testing.assert_allclose(got[0], mean, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(policy.predict(observations, deterministic=True)[0], mean.argmax(axis=1))
    if intervals:
        np.testing.assert_allclose(got[1], radius, rtol=1e-4, atol=1e-3)
    else:
        assert np.isnan(got[1]).all()


class Numbers(gymnasium.Env):
    """Observations of some shape."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, shape, dtype):
        self.observation_space = gymnasium.spaces.Box(0, 9, shape, dtype)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (Numbers((7,), np.float32), "the observations have 7 components: fixed features often fail beyond 6"),
        (Numbers((3, 3), np.uint8), r"images of shape \(3, 3\): .* use the algorithm ucls-deep"),
    ],
)
def test_learned_features_are_suggested_where_fixed_ones_fail(env, words):
    with pytest.warns(ucls.errors.UclsWarning, match=words):
        ucls.Agent(env, "sarsa", seed=0)


@pytest.mark.parametrize(
    ("env", "algorithm"), [(Numbers((7,), np.float32), "ucls-deep"), (Numbers((6,), np.float32), "sarsa")]
)
def test_learned_features_are_not_suggested_elsewhere(env, algorithm):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ucls.Agent(env, algorithm, seed=0)
