"""Exact solutions of environments with a moderate number of discrete states, by dense NumPy."""

from typing import Any, NamedTuple

import numpy as np

from ucls.kernels.dynamic_programming import Optimal, Problem

TOLERANCE = 1e-12
SWEEPS = 200_000
DOUBLINGS = 40  # of the steps after which chances have converged


class Table(NamedTuple):
    """For every state and action the expected reward, and the probability of every next state (none after
    termination)."""

    r: np.ndarray
    chance: np.ndarray


def build_table(env: Any, problem: Problem) -> Table:
    """The table of a built-in environment whose state is one integer, from its physics."""
    n = problem.shape[0]
    r, chance = np.zeros((n, problem.n_actions)), np.zeros((n, problem.n_actions, n))
    nodes = list(zip(problem.nodes.u, problem.nodes.n, problem.nodes.weight, strict=True))
    s = np.zeros(1)
    for state, a in np.ndindex(r.shape):
        for u, noise, weight in nodes:
            s[0] = state
            reward, _, terminated = problem.move(env, s, a, u, noise)
            r[state, a] += weight * reward
            chance[state, a, int(s[0])] += 0.0 if terminated else weight
    return Table(r, chance)


def values(table: Table, discount: float) -> np.ndarray:
    """The optimal value of every action in every state, by value iteration."""
    q = np.zeros(table.r.shape)
    for _ in range(SWEEPS):
        q, before = table.r + discount * table.chance @ q.max(axis=1), q
        if np.abs(q - before).max() < TOLERANCE:
            break
    return q


def episode(table: Table, policy: np.ndarray, start: np.ndarray, limit: int) -> tuple[float, float]:
    """The expected return and length of an episode of at most `limit` steps, by the chances of every action."""
    r, step = (policy * table.r).sum(axis=1), np.einsum("sa,sat->st", policy, table.chance)
    now, earned, length = start.astype(np.float64), 0.0, 0.0
    for _ in range(limit):
        earned, length = earned + float(now @ r), length + float(now.sum())
        now = now @ step
        if now.sum() < TOLERANCE:
            break
    return earned, length


def greedy(q: np.ndarray) -> np.ndarray:
    """The probabilities of every action if the best one is always taken."""
    return np.eye(q.shape[1])[q.argmax(axis=1)]


def solve(env: Any, problem: Problem, start: np.ndarray, limit: int) -> Optimal:
    """Return the performance of the policy that is optimal for the discounted return, in episodes of at most `limit`
    steps."""
    table = build_table(env, problem)
    q = values(table, env.discount)
    earned, length = episode(table, greedy(q), start, limit)
    return Optimal(earned / length, earned, length, (np.arange(len(q), dtype=np.float64),), q)


def solve_without_end(env: Any, problem: Problem, start: np.ndarray) -> Optimal:
    """Return the performance without termination: in the long run that of the policy that is optimal for the discounted
    return; or, with a time limit, that of the policy with the largest sum of rewards, which depends on the step."""
    table = build_table(env, problem)
    q = values(table, env.discount)
    points = (np.arange(len(q), dtype=np.float64),)
    if not env.time_limit:
        return Optimal(gain(table, greedy(q), start), None, None, points, q)
    earned = float(start @ horizon_values(table, env.time_limit)[0])
    return Optimal(earned / env.time_limit, earned, float(env.time_limit), points, q)


def gain(table: Table, policy: np.ndarray, start: np.ndarray) -> float:
    """The average reward of a policy in the long run, from the chances of every state at the start.

    Staying where one is half of the time changes no average, and lets the chances of states converge.
    """
    r, step = (policy * table.r).sum(axis=1), np.einsum("sa,sat->st", policy, table.chance)
    ahead = (np.eye(len(r)) + step) / 2
    for _ in range(DOUBLINGS):
        ahead = ahead @ ahead
        ahead /= ahead.sum(axis=1, keepdims=True)
    return float(start @ ahead @ r)


def horizon_values(table: Table, horizon: int) -> np.ndarray:
    """The largest expected sum of rewards from every state, by the step of an episode of so many."""
    v = np.zeros((horizon + 1, len(table.r)))
    for h in reversed(range(horizon)):
        v[h] = (table.r + table.chance @ v[h + 1]).max(axis=1)
    return v
