"""UCLS-Plan with everything at once: action masks, several streams of experience, and greedy periods.

The checks run in a process without the compiler.
"""

import tempfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from support.uncompiled import run_uncompiled
from ucls import Agent
from ucls.algorithms import ucls_plan
from ucls.kernels import active as la
from ucls.kernels.planning import sweeping

TILES = {"features": "tiles", "tilings": 2, "tiles": 4}


class Toll(gymnasium.Env):
    """Seven cells in a row. Action 0 is invalid everywhere, 1 (left) at the left end, 2 (stay) in odd cells and 3
    (right) nowhere; taking an invalid one is an error. Rewards differ on the way, so that a guess of the maximum return
    is an extrapolation, and are noisy."""

    observation_space, action_space = gymnasium.spaces.Discrete(7), gymnasium.spaces.Discrete(4)

    def mask(self):
        return np.array([0, self.s > 0, self.s % 2 == 0, 1], np.int8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.t = 0, 0
        return self.s, {"action_mask": self.mask()}

    def step(self, action):
        assert self.mask()[action], f"action {action} is invalid in cell {self.s}"
        self.t += 1
        r = 0.1 * (self.s % 3) - 0.1 + 0.05 * float(self.np_random.integers(2))
        self.s += {1: -1, 2: 0, 3: 1}[int(action)]
        return self.s, r + (self.s == 6), self.s == 6, self.t == 8, {"action_mask": self.mask()}


def values_and_bounds(agent, s, mask):
    """What the algorithm thinks of the valid actions of a state, and of no others."""
    learner = agent.learner
    learner.features.lookup(learner.coder, np.array([float(s)]), xs := la.no_features(4, learner.coder.n_active))
    levels = ucls_plan.levels_of(learner.state, learner.hyper)
    solver, rows = learner.state.solver, [la.of_action(xs, a) for a in range(4)]
    scores = [[each(solver, levels, x) for x in rows] for each in (ucls_plan._value, ucls_plan._upper)]
    return (np.where(mask, score, -np.inf) for score in scores)


def followed(mode, steps, **settings):
    """An agent in three environments, its transitions (s, a, r, gamma, s'), and how many choices were greedy."""
    agent = Agent(SyncVectorEnv([Toll] * 3, autoreset_mode=mode), "ucls-plan", seed=4, discount=0.9, **settings)
    learner, advance, begin = agent.learner, agent.learner.advance, agent.learner.begin
    last, transitions, greedy = {}, [], []

    def score_of(s, mask):
        """What the next choice maximizes: values in a greedy period, otherwise bounds."""
        greedy.append(bool(learner.state.greedy[0]))
        mean, upper = values_and_bounds(agent, s[0], mask)
        return mean if greedy[-1] else upper

    def chosen(s, score):
        assert score[learner.action] == score.max() > -np.inf
        last[agent.vector._streams._now] = (int(s[0]), learner.action)

    def spy_begin(s, mask=None):
        begin(s, mask)
        chosen(s, score_of(s, mask))

    def spy_advance(r, gamma, s_next, terminated, mask=None):
        s, a = last[agent.vector._streams._now]
        score = None if terminated else score_of(s_next, mask)  # an action is chosen before the update
        healthy = advance(r, gamma, s_next, terminated, mask)
        transitions.append((s, a, r, 0.0 if terminated else gamma, int(s_next[0])))
        if score is not None:
            chosen(s_next, score)
        return healthy

    learner.begin, learner.advance = spy_begin, spy_advance
    agent.learn(steps)
    learner.begin, learner.advance = begin, advance
    return agent, transitions, np.array(greedy)


def fixed_point(transitions, levels):
    """U of every state and action in plain NumPy, with maxima over valid actions."""
    s, a, r, gamma, s_next = (np.array(each) for each in zip(*transitions, strict=True))
    cells, pair = np.arange(7), 4 * s + a
    valid = np.stack([cells < 0, cells > 0, cells % 2 == 0, cells >= 0], axis=1)
    n, m = np.bincount(pair, minlength=28), levels.prior_visits
    V = np.full(7, levels.v0)
    for _ in range(3000):
        y = r + gamma * V[s_next]
        total = np.bincount(pair, y, 28)
        apart = np.bincount(pair, (y - (total / np.maximum(n, 1))[pair]) ** 2, 28)
        variance = apart.sum() / max(1, (n - 1).clip(0).sum())
        U = (m * levels.v0 + total) / (m + n) + levels.noise_scale * np.sqrt(apart + variance) / (m + n)
        U = np.where(n > 0, U, levels.v0)
        V = np.where(valid, U.reshape(7, 4), -np.inf).max(axis=1).clip(levels.vmin, levels.v0)
    return U, n, valid.ravel()


def check_the_bounds_are_those_of_all_transitions():
    for mode in AutoresetMode:
        agent, transitions, greedy = followed(mode, 400)
        assert 0.1 < greedy.mean() < 0.9
        state = agent.learner.state
        levels = ucls_plan.levels_of(state, agent.learner.hyper)
        assert ucls_plan.extrapolates(state, agent.learner.hyper)
        U, n, valid = fixed_point(transitions, levels)
        assert len(transitions) == 400
        assert sweeping.solve(state.solver, levels)
        number = agent.learner.coder.number  # cells in the order of their first visit
        places = (4 * number[:, None] + np.arange(4)).ravel()
        known = np.repeat(number >= 0, 4) & valid & (np.arange(28) < 24)  # nothing follows on the last cell
        np.testing.assert_array_equal(state.solver.visits[places[known]], n[known])
        assert n[~valid].sum() == 0
        found = [sweeping.upper(state.solver, levels, pair) for pair in places[known]]
        np.testing.assert_allclose(found, U[known], atol=1e-6 * levels.v0)


def check_tiles_choose_valid_actions_by_bounds_or_in_greedy_periods_by_values():
    agent, transitions, greedy = followed(AutoresetMode.NEXT_STEP, 250, **TILES)
    assert 0.05 < greedy.mean() < 0.9
    visits = agent.learner.state.solver.visits
    assert visits[visits > 0].sum() == len(transitions) == 250
    assert (visits == -1).any()


def check_files_keep_masks_and_greedy_periods():
    for settings in ({}, TILES):
        agent, _, _ = followed(AutoresetMode.SAME_STEP, 120, **settings)
        state = agent.learner.state
        state.greedy[0] = 1
        expected = agent.checkpoint()
        runs = []
        with tempfile.TemporaryDirectory() as folder:
            path = agent.save(Path(folder) / "agent")
            for _ in range(2):
                again = Agent.load(path, SyncVectorEnv([Toll] * 3, autoreset_mode=AutoresetMode.SAME_STEP))
                found = again.checkpoint()
                assert all(np.array_equal(found[name], expected[name]) for name in expected if "world" not in name)
                for deterministic in (True, False):
                    for s in range(7):
                        assert again.predict(s, deterministic) == agent.predict(s, True)
                runs.append(again.learn(60).history.rewards.tolist())
        assert runs[0] == runs[1]
        assert len(runs[0]) > 120


@pytest.mark.parametrize("check", [name for name in dir() if name.startswith("check_")])
def test_without_the_compiler(check):
    run_uncompiled(f"from test_plan_streams import *\nimport warnings\nwarnings.simplefilter('ignore')\n{check}()")
