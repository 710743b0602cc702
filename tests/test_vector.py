"""Learning in vectors of environments: one learner, a trace per environment, the same result in any processes.

The checks run in a process without the compiler.
"""

import tempfile
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from support.masked import Corridor
from support.uncompiled import run_uncompiled
from ucls import Agent, evaluate_policy
from ucls.agent.trajectory import TrajectoryRecorder
from ucls.algorithms import ALGORITHMS
from ucls.errors import UserError
from ucls.gym.action_masks import MaskReader

RETURN_MAX = {"dgpq": {"r_max": 1.0}, "lspi-rmax": {"return_max": 1.0}}


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=True, max_episode_steps=20)


def vector(n=3, mode=AutoresetMode.NEXT_STEP, kind=SyncVectorEnv, make=lake):
    return kind([make] * n, autoreset_mode=mode)


def check_a_vector_of_one_is_the_run_of_its_environment():
    warnings.simplefilter("ignore")
    for algorithm in ALGORITHMS:
        settings = RETURN_MAX.get(algorithm, {})
        single = Agent(lake(), algorithm, seed=5, **settings).learn(60)
        for mode in AutoresetMode:
            one = Agent(vector(1, mode), algorithm, seed=5, **settings).learn(60)
            done = len(one.history.rewards)
            assert one.steps == 60
            assert one.history.rewards.tolist() == single.history.rewards[:done].tolist(), (algorithm, mode)
            mine, other = single.learner.checkpoint(), one.learner.checkpoint()
            assert all(np.array_equal(mine[name], other[name]) for name in mine), (algorithm, mode)


def check_modes_and_processes_do_not_matter():
    runs = []
    for mode, kind in [*((mode, SyncVectorEnv) for mode in AutoresetMode), (AutoresetMode.NEXT_STEP, AsyncVectorEnv)]:
        envs = vector(3, mode, kind)
        agent = Agent(envs, "sarsa", seed=2).learn(200)
        runs.append((mode, kind, agent.learner.state.w.copy()))
        envs.close()
    assert np.array_equal(runs[0][2], runs[3][2])  # sync and async
    assert all(np.isfinite(w).all() for _, _, w in runs)


def check_every_stream_has_its_own_trace():
    """Sarsa(lambda) in two environments, against plain NumPy with two traces."""
    n, alpha, decay, gamma = 2, 0.1, 0.9, 0.95
    settings = {"alpha": alpha, "epsilon": 0.3, "lambda": decay}
    agent = Agent(vector(n), "sarsa", seed=3, discount=gamma, settings=settings)
    w, z, last = np.zeros((16, 4)), np.zeros((n, 16, 4)), [None] * n
    taken = []
    learner, advance, begin = agent.learner, agent.learner.advance, agent.learner.begin

    def number():
        return agent.vector._streams._now

    def spy_begin(s, mask=None):
        begin(s, mask)
        last[number()] = (int(s[0]), learner.action)
        z[number()] = 0.0

    def spy_advance(r, discount, s_next, terminated, mask=None):
        i, (s, a) = number(), last[number()]
        healthy = advance(r, discount, s_next, terminated, mask)
        after = (int(s_next[0]), learner.action)
        z[i] *= discount * decay
        z[i][s, a] += 1.0
        target = r if terminated else r + discount * w[after]
        w[...] += alpha * (target - w[s, a]) * z[i]
        last[i] = after
        taken.append(i)
        return healthy

    learner.begin, learner.advance = spy_begin, spy_advance
    agent.learn(400)
    assert {*taken} == {0, 1}
    states = np.arange(16.0)[:, None]
    np.testing.assert_allclose(learner.intervals(states)[0], w, atol=1e-9)


def check_ucls_exact_carries_the_traces_of_other_streams():
    agent = Agent(vector(2), "ucls-exact", seed=1, settings={"lambda": 0.7, "return_max": 1.0}, discount=0.9)
    d = agent.learner.coder.size
    z, A = np.zeros((2, d)), None
    learner, advance, begin = agent.learner, agent.learner.advance, agent.learner.begin
    rows, before = [None, None], [0.0, 0.0]

    def feature():
        return int(learner.pending.xs.index[learner.pending.a[0], 0])

    def spy_begin(s, mask=None):
        begin(s, mask)
        i = agent.vector._streams._now
        z[i], before[i], rows[i] = 0.0, 0.0, feature()

    def spy_advance(r, discount, s_next, terminated, mask=None):
        nonlocal A
        i = agent.vector._streams._now
        healthy = advance(r, discount, s_next, terminated, mask)
        if A is None:
            A = learner.state.kappa[0] * np.eye(d)
        z[i] *= before[i] * 0.7
        z[i][rows[i]] += 1.0
        direction = np.eye(d)[rows[i]]
        before[i] = 0.0 if terminated else discount
        if not terminated:
            rows[i] = feature()
            direction = direction - discount * np.eye(d)[rows[i]]
        A += np.outer(z[i], direction)
        np.testing.assert_allclose(learner.state.Az, np.linalg.solve(A, z[i]), atol=1e-8)
        return healthy

    learner.begin, learner.advance = spy_begin, spy_advance
    agent.learn(150)
    assert learner.state.guarded[0] == 0


def check_masks_are_honored_in_every_mode():
    for mode in AutoresetMode:
        for how in ("info", "method", "observation"):  # the environment refuses invalid actions itself
            envs = vector(3, mode, make=lambda how=how: Corridor(how))
            agent = Agent(envs, "sarsa", seed=1, epsilon=0.2).learn(300)
            agent.learner.hyper = agent.learner.hyper._replace(epsilon=1.0)
            assert evaluate_policy(agent, envs, n_eval_episodes=12, deterministic=False).lengths.max() <= 30


def check_the_last_mask_of_a_truncated_episode_is_its_own():
    def short(how):
        return gymnasium.wrappers.TimeLimit(Corridor(how), 1)  # from cell 0, where only 2 is valid, to cell 1

    def masks_learned(how):
        agent = Agent(vector(2, AutoresetMode.SAME_STEP, make=lambda: short(how)), "sarsa")
        seen, advance = [], agent.learner.advance
        agent.learner.advance = lambda *step: seen.append(step[-1].astype(int).tolist()) or advance(*step)
        agent.learn(6)
        return seen

    assert masks_learned("info") == masks_learned("observation") == [[0, 1, 1, 0]] * 6
    with pytest.raises(UserError, match="environment 0 is at fault: the last state of a truncated episode has no"):
        Agent(vector(2, AutoresetMode.SAME_STEP, make=lambda: short("method")), "sarsa").learn(1)


def check_masks_that_change_or_are_missing_are_refused():
    agent = Agent(envs := vector(2, make=lambda: Corridor("method")), "sarsa").learn(2)
    envs.envs[1].action_masks = lambda: np.array([0, 1, 0, 0])
    with pytest.raises(UserError, match="when the action was chosen and is"):
        agent.learn(2)
    with pytest.raises(UserError, match="environment 0 gives no action mask"):
        Agent(vector(2, make=lambda: Corridor("info", "missing")), "sarsa").learn(3)
    masks = MaskReader(None, 2)
    assert masks.read_many([0], {}, np.array([False])) is None
    with pytest.raises(UserError, match="but none after reset"):
        masks.read_many([0], {"action_mask": np.array([[1, 0]])}, np.array([False]))


def check_the_rest_works_with_a_vector():
    agent = Agent(vector(2, make=Corridor), "sarsa", seed=0).learn(300)
    assert agent.about()["action_masks"] is True
    assert agent.history.ends[-1]
    assert set(agent.history.episode_steps) >= {5}
    assert agent.episodes == len(agent.history.episode_returns) > 5
    assert evaluate_policy(agent, n_eval_episodes=2).lengths.min() >= 5
    steps = []
    agent.learn(7, callback=lambda agent: steps.append(agent.steps))
    assert steps == list(range(301, 308))
    with tempfile.TemporaryDirectory() as folder:
        path = agent.save(Path(folder) / "agent")
        for env in (Corridor(), vector(3, make=Corridor)):
            again = Agent.load(path, env).learn(20)
            assert again.steps == 327
    agent.env = Corridor()
    assert agent.learn(5).vector is None
    ready = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point")
    for bad in (ready, gymnasium.wrappers.vector.NormalizeReward(vector())):
        with pytest.raises(UserError, match="an agent cannot learn in"):
            Agent(bad)
    with pytest.raises(UserError, match="diagnosis needs a single environment"):
        TrajectoryRecorder(Agent(vector(2), "sarsa"))
    agent = Agent(vector(2), "sarsa")
    del agent.learner.algorithm.STREAM
    with pytest.raises(UserError, match="cannot learn in a vector of environments: declare STREAM"):
        agent.learn(1)


@pytest.mark.parametrize("check", [name for name in dir() if name.startswith("check_")])
def test_without_the_compiler(check):
    run_uncompiled(f"from test_vector import {check}\n{check}()")
