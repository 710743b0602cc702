"""The exact last layer: regressions of n-step targets on the features, repeated as the targets change.

    x  = (phi, 1),  M_a = kappa I + sum x x' over the transitions with action a
    W  = w0 + x'tw_a + cw        w0 = min(0, v0): values without optimism
    U  = v0 + x'tu_a + cu,  U <- U + (v0 - U) q / (1 + q) + noise_scale * noise
    yw = R + g clip(max_a W(s', a), vmin, v0),  yu = R + g clip(max_a U(s', a), vmin, v0)
    tw_a = M_a^-1 sum x (yw - w0),  tu_a = M_a^-1 sum x (yu - v0)

with R the reward of up to n steps, g their discount and s' the state after them. q, noise and the corrections c, which
are averages of what the regressions leave over, come from `partitions`.
"""

from typing import Any, NamedTuple

import numpy as np

from ucls.kernels.compilation.jit import jit
from ucls.kernels.network import partitions as pt

PASSES = 3  # of the corrections


class Work(NamedTuple):
    """What stays the same in a solve: the features of all rows and their cells, the actions taken and the valid ones,
    the n-step returns, q of every action; and for each action its rows, their features and the inverse of M."""

    phi: np.ndarray
    cells: np.ndarray
    action: np.ndarray
    valid: np.ndarray
    returns: tuple[np.ndarray, np.ndarray, np.ndarray]
    q: np.ndarray
    rows: list[np.ndarray]
    X: list[np.ndarray]
    inverse: list[np.ndarray]


class Levels(NamedTuple):
    """The highest and the lowest value, and the weight of the noise."""

    v0: float
    vmin: float
    noise_scale: float


def prepare(phi: Any, cells: Any, action: Any, valid: Any, returns: Any, q: Any, ridge: float) -> Work:
    """Sort the rows by action, and invert the matrices."""
    rows = [np.flatnonzero(action == a) for a in range(valid.shape[1])]
    X = [with_constant(phi[each]) for each in rows]
    inverse = [np.linalg.inv(each.T @ each + ridge * np.eye(each.shape[1])) for each in X]
    return Work(phi, cells, action, valid, returns, q, rows, X, inverse)


def with_constant(phi: np.ndarray) -> np.ndarray:
    """x = (phi, 1) of each row."""
    x = np.empty((len(phi), phi.shape[1] + 1))
    x[:, :-1], x[:, -1] = phi, 1.0
    return x


def times(phi: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """x't of every row, for the mean and the bound of each action."""
    out = phi @ weights[:, :-1].T.astype(np.float32)
    out += weights[:, -1].astype(np.float32)
    return out


def solve(
    work: Work,
    parts: pt.Partitions,
    weights: np.ndarray,
    targets: np.ndarray,
    levels: Levels,
    rounds: int,
    shrink: float,
) -> None:
    """Alternate between targets and regressions, beginning with the weights as they are; all in place.

    With no rounds there are only the targets that follow from the weights.
    """
    out, transitions, ends = times(work.phi, weights), (work.action, work.cells), (levels.v0, levels.vmin)
    for k in range(max(rounds, 1)):
        bounded(out, work.cells, work.q, parts, levels.v0, levels.noise_scale)
        back_up(work.action, work.valid, *work.returns, out, targets, *ends)
        if k < rounds:
            regress(work, weights, targets, levels)
            out = times(work.phi, weights)
            correct(*transitions, parts, out, targets, levels.v0, shrink)


def regress(work: Work, weights: np.ndarray, targets: np.ndarray, levels: Levels) -> None:
    """The two regressions of each action."""
    n_actions, base = len(work.rows), np.array([min(0.0, levels.v0), levels.v0])
    for a, (rows, X, inverse) in enumerate(zip(work.rows, work.X, work.inverse, strict=True)):
        found = inverse @ (X.T @ (targets[rows] - base))
        weights[a], weights[n_actions + a] = found.T


@jit
def bounded(out, cells, q, parts, v0, scale):
    """From x't of every row and action to W and U, in place."""
    P, n_actions = len(parts.visits), q.shape[1]
    mean, top, square = np.empty(n_actions), np.empty(n_actions), np.empty(n_actions)
    base, part = min(0.0, v0), 1.0 / P
    for i in range(len(cells)):
        mean[:], top[:], square[:] = 0.0, 0.0, 0.0
        for p in range(P):
            c = cells[i, p]
            for a in range(n_actions):
                n = parts.visits[p, c, a] + pt.LEAST
                mean[a] += parts.mean[p, c, a]
                top[a] += parts.upper[p, c, a]
                square[a] += parts.squares[p, c, a] / (n * n)
        for a in range(n_actions):
            out[i, a] += base + mean[a] * part
            ahead = out[i, n_actions + a] + top[a] * part
            out[i, n_actions + a] = v0 + ahead / (1.0 + q[i, a]) + scale * np.sqrt(square[a] * part)


@jit
def back_up(action, valid, R, g, to, bounds, targets, v0, vmin):
    """The targets of every transition, from W and U of every row."""
    n_actions = valid.shape[1]
    for i in range(len(R)):
        if action[i] < 0:
            continue
        targets[i, 0] = targets[i, 1] = R[i]
        j = to[i]
        if j < 0:
            continue
        best, highest = vmin, vmin
        for a in range(n_actions):
            if valid[j, a]:
                best = max(best, bounds[j, a])
                highest = max(highest, bounds[j, n_actions + a])
        targets[i, 0] += g[i] * min(best, v0)
        targets[i, 1] += g[i] * min(highest, v0)


@jit
def correct(action, cells, parts, out, targets, v0, shrink):
    """Corrections and squared residuals in each cell, from what the regressions leave over."""
    P, C, n_actions = parts.visits.shape
    counts = np.zeros((P, C, n_actions), np.float32)
    left, left_up = np.zeros(len(action)), np.zeros(len(action))
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            left[i] = targets[i, 0] - min(0.0, v0) - out[i, a]
            left_up[i] = targets[i, 1] - v0 - out[i, n_actions + a]
            for p in range(P):
                counts[p, cells[i, p], a] += 1.0
    parts.mean[:], parts.upper[:], parts.squares[:] = 0.0, 0.0, 0.0
    for _ in range(PASSES):
        smooth(action, cells, parts.mean, counts, left, shrink)
        smooth(action, cells, parts.upper, counts, left_up, shrink)
    square_residuals(action, cells, parts, counts, left_up)


@jit
def smooth(action, cells, table, counts, left, shrink):
    """Add the mean of what is left over to each cell, and take the mean over partitions from what is left over."""
    P = len(table)
    more = np.zeros(table.shape, np.float32)
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            for p in range(P):
                more[p, cells[i, p], a] += left[i] / (counts[p, cells[i, p], a] + shrink)
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            for p in range(P):
                left[i] -= more[p, cells[i, p], a] / P
    table += more


@jit
def square_residuals(action, cells, parts, counts, left):
    """Sum delta^2 + l sigma^2 in each cell; `left` is delta."""
    P = len(counts)
    leverage, total, free = np.zeros(len(action)), 0.0, 0.0
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            for p in range(P):
                leverage[i] += 1.0 / (P * counts[p, cells[i, p], a])
            total += left[i] * left[i]
            free += 1.0 - leverage[i]
    variance = total / free if free > 0.0 else 0.0
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            for p in range(P):
                parts.squares[p, cells[i, p], a] += left[i] * left[i] + leverage[i] * variance
