"""Pessimistic value iteration on logged transitions: lower bounds of the values of actions.

For every action a, with the rows t of the log that took it, their features x_t and discounts gamma_t,

    G_a = (ridge I + sum_t x_t x_t')^-1,
    w_a = G_a sum_t x_t (r_t + gamma_t v(s'_t) - floor),
    l(s, a) = floor + x'w_a - CAUTION sigma sqrt(x'G_a x),     v(s) = max_a l(s, a), within [floor, ceiling],

repeated until v changes no more. It is optimistic planning with the signs reversed: what the log does not show is worth
the least possible return, and lower bounds follow from lower bounds, so that uncertainty about later states counts too.
sigma^2 is the variance of the targets around their fit, of all actions together.

After Jin, Yang and Wang (2021), "Is pessimism provably efficient for offline RL?".
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.estimators.systems import dense

CAUTION = 1.0  # standard errors below the mean
SWEEPS, PRECISION = 2000, 1e-5  # at most, and the change of values, relative to their range, at which sweeps stop
NEIGHBORS = 25  # rows that decide about a state that the log does not show
PART = 1 << 14  # rows whose features are dense at a time


class Rows(NamedTuple):
    """The features of some rows, of those that the log shows with an action; and the sum of squares of all others."""

    known: Any
    others: np.ndarray

    def squares(self, G: np.ndarray, ridge: float) -> np.ndarray:
        """x'Gx of every row."""
        found = self.others / ridge
        for begin in range(0, len(found), PART):
            x = self.known[begin : begin + PART]
            found[begin : begin + PART] += ((x @ G) * dense(x)).sum(axis=1)
        return found


class Transitions(NamedTuple):
    """Logged transitions as a learner sees them; the discount is 0 where an episode terminated.

    `limits` are the least and the largest possible return, and `valid` says which actions are valid in every next
    state: all, if it is None.
    """

    states: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    next_states: np.ndarray
    limits: np.ndarray
    valid: np.ndarray | None = None


def iterate(
    here: Sequence[Any], after: Sequence[Rows], logged: Transitions, ridge: float
) -> tuple[list[np.ndarray], list[np.ndarray], float]:
    """Weights and G of every action, and CAUTION times sigma.

    `here` has the features of the states in which each action was taken, `after` those of all next states with it.
    """
    floor, ceiling = logged.limits
    taken = [np.flatnonzero(logged.action == a) for a in range(len(here))]
    squares = [dense(x.T @ x) for x in here]
    G = [np.linalg.inv(ridge * np.eye(len(each)) + each) for each in squares]
    radius = [np.sqrt(rows.squares(g, ridge)) for rows, g in zip(after, G, strict=True)]
    fitted = sum(float((g * each).sum()) for g, each in zip(G, squares, strict=True))
    free = max(1.0, len(logged.action) - fitted)
    w, wide = [np.zeros(len(g)) for g in G], 0.0
    v = np.full(len(logged.action), floor)
    for _ in range(SWEEPS):
        target = logged.reward + logged.discount * v - floor
        errors = 0.0
        for a, x in enumerate(here):
            y = target[taken[a]]
            w[a] = G[a] @ (x.T @ y)
            errors += float(((y - x @ w[a]) ** 2).sum())
        wide = CAUTION * np.sqrt(errors / free)
        lower = np.column_stack([rows.known @ w[a] - wide * radius[a] for a, rows in enumerate(after)])
        low = (lower if logged.valid is None else np.where(logged.valid, lower, -np.inf)).max(axis=1)
        before, v = v, np.clip(floor + low, floor, ceiling)
        if np.abs(v - before).max(initial=0.0) <= PRECISION * (ceiling - floor):
            break
    return w, G, float(wide)


def matched(index: np.ndarray, value: np.ndarray, known: np.ndarray) -> Rows:
    """Features as rows of a sparse matrix with a column for each known one."""
    from scipy import sparse

    place = np.searchsorted(known, index)
    there = np.append(known, -1)[place] == index
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    rows = sparse.csr_array((value[there], place[there], ends), shape=(len(index), len(known)))
    return Rows(rows, np.where(there, 0.0, value**2).sum(axis=1))


def stacked(parts: Sequence[Rows]) -> Rows:
    """Rows one below the other."""
    from scipy import sparse

    known = sparse.vstack([each.known for each in parts]).tocsr()
    return Rows(known, np.concatenate([each.others for each in parts]))


def taken_near(points: np.ndarray, states: np.ndarray, actions: np.ndarray, n_actions: int) -> np.ndarray:
    """How often the rows with the nearest states took every action, a row for each point.

    >>> taken_near(np.array([[0.0], [9.0]]), np.array([[1.0], [8.0]]), np.array([0, 1]), 2)
    array([[1, 1],
           [1, 1]])
    """
    from scipy.spatial import KDTree

    spread = np.ptp(states, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    near = KDTree(states / spread).query(points / spread, min(NEIGHBORS, len(states)))[1]
    taken = actions[near.reshape(len(points), -1)]
    return (taken[:, :, None] == np.arange(n_actions)).sum(axis=1)
