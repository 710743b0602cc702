"""Runs recorded step by step, and random streams, so that an oracle can follow them."""

from typing import NamedTuple

import numpy as np

from ucls.kernels import active as la


class Transition(NamedTuple):
    """One step as the learner sees it, with dense features: every action's, before and after."""

    xs: np.ndarray
    a: int
    r: float
    gamma: float
    xs_next: np.ndarray
    a_next: int
    starts: bool


def assert_same_learner(one, other):
    mine, theirs = one.checkpoint(), other.checkpoint()
    assert mine.keys() == theirs.keys()
    for name in mine:
        assert np.array_equal(mine[name], theirs[name]), name


def dense(xs, size):
    """Features as one dense row for each action."""
    rows = np.zeros((len(xs.index), size))
    for a, (index, value) in enumerate(zip(xs.index, xs.value, strict=True)):
        np.add.at(rows[a], index, value)
    return rows


def follow(run, steps):
    """Step a run with the same kernels as the loop, yielding each transition after it was learned from."""
    world, me, size = run.world, run.learner, run.learner.coder.size
    starts = False
    for _ in range(steps):
        if run.clock[0] == 0:
            world.reset(run.s, run.world_rng)
            me.begin(run.s)
            starts = True
        xs, a = dense(me.pending.xs, size), me.action
        r, gamma, terminated = world.step(run.s, a, run.world_rng)
        run.clock[0] += 1
        me.advance(r, gamma, run.s, terminated)
        truncated = run.clock[0] == world.time_limit
        xs_next = np.zeros_like(xs) if terminated else dense(me.pending.xs, size)
        yield Transition(xs, a, r, 0.0 if terminated else gamma, xs_next, me.action, starts)
        starts = False
        if terminated or truncated:
            run.clock[0] = 0


def random_stream(rng, size, n_actions, n_active, steps, reward=1.0, value=None):
    """Random transitions over a growing block of features: (xs, a, r, gamma, xs_next, a_next)."""
    states = size // n_actions

    def features(t):
        known = min(states, n_active + t // 2)
        tiles = rng.choice(known, n_active, replace=False)
        index = np.array([tiles * n_actions + a for a in range(n_actions)])
        return la.Active(index, np.full((n_actions, n_active), value or 1 / n_active))

    xs, a = features(0), 0
    for t in range(steps):
        xs_next, a_next = features(t + 1), int(rng.integers(n_actions))
        gamma = 0.0 if rng.random() < 0.02 else 0.99
        yield xs, a, float(reward * rng.normal()), gamma, xs_next, a_next
        xs, a = xs_next, a_next
