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


class Work(NamedTuple):
    """What stays the same in a solve: the features of all rows and their cells, the n-step returns, valid actions, and
    for each action its rows, their features and the inverse of M."""

    phi: np.ndarray
    cells: np.ndarray
    action: np.ndarray
    R: np.ndarray
    g: np.ndarray
    to: np.ndarray
    valid: np.ndarray
    rows: list[np.ndarray]
    X: list[np.ndarray]
    inverse: list[np.ndarray]


class Levels(NamedTuple):
    """The highest and the lowest value, and the weights of the two terms of the radius."""

    v0: float
    vmin: float
    prior_visits: float
    noise_scale: float


def prepare(phi: np.ndarray, cells: Any, action: Any, valid: Any, returns: tuple[Any, Any, Any], ridge: float) -> Work:
    """Sort the rows by action, and invert the matrices."""
    n_actions = valid.shape[1]
    rows = [np.flatnonzero(action == a) for a in range(n_actions)]
    X = [with_constant(phi[each]) for each in rows]
    inverse = [np.linalg.inv(each.T @ each + ridge * np.eye(each.shape[1])) for each in X]
    return Work(phi, cells, action, *returns, valid, rows, X, inverse)


def with_constant(phi: np.ndarray) -> np.ndarray:
    """x = (phi, 1) of each row."""
    x = np.empty((len(phi), phi.shape[1] + 1))
    x[:, :-1], x[:, -1] = phi, 1.0
    return x


def predict(work: Work, weights: np.ndarray) -> np.ndarray:
    """x't of every row, for the mean and the bound of each action."""
    out = work.phi @ weights[:, :-1].T.astype(np.float32)
    out += weights[:, -1].astype(np.float32)
    return out


def solve(
    work: Work, parts: pt.Partitions, weights: np.ndarray, targets: np.ndarray, levels: Levels, rounds: int, shrink: float
) -> None:
    """Alternate between targets and regressions, beginning with the weights as they are; all in place."""
    out = predict(work, weights)
    transitions = work.action, work.cells
    for _ in range(rounds):
        back_up(*transitions, work.valid, work.R, work.g, work.to, parts, out, targets, *levels)
        regress(work, weights, targets, levels)
        out = predict(work, weights)
        correct(*transitions, parts, out, targets, levels.v0, shrink)


def regress(work: Work, weights: np.ndarray, targets: np.ndarray, levels: Levels) -> None:
    """The two regressions of each action."""
    n_actions, base = len(work.rows), np.array([min(0.0, levels.v0), levels.v0])
    for a in range(n_actions):
        found = work.inverse[a] @ (work.X[a].T @ (targets[work.rows[a]] - base))
        weights[a], weights[n_actions + a] = found.T


@jit
def back_up(action, cells, valid, R, g, to, parts, out, targets, v0, vmin, m, scale):
    """The targets of every transition."""
    n_actions = valid.shape[1]
    for i in range(len(R)):
        if action[i] < 0:
            continue
        targets[i, 0] = targets[i, 1] = R[i]
        j = to[i]
        if j < 0:
            continue
        highest, best = vmin, vmin
        for a in range(n_actions):
            if valid[j, a]:
                best = max(best, min(0.0, v0) + out[j, a] + pt.correction(parts.mean, cells[j], a))
                highest = max(highest, upper(parts, cells[j], a, out[j, n_actions + a], v0, m, scale))
        targets[i, 0] += g[i] * min(best, v0)
        targets[i, 1] += g[i] * min(highest, v0)


@jit
def upper(parts, cells, a, out, v0, m, scale):
    """U of one action, not clipped, where x'tu is `out`."""
    u = v0 + out + pt.correction(parts.upper, cells, a)
    q = pt.prior(parts, cells, a, m)
    u += (v0 - u) * q / (1.0 + q)
    return u + (scale * pt.noise(parts, cells, a) if scale > 0.0 else 0.0)


@jit
def correct(action, cells, parts, out, targets, v0, shrink):
    """Corrections and squared residuals in each cell, from what the regressions leave over."""
    P, C, n_actions = parts.visits.shape
    parts.mean[:], parts.upper[:], parts.squares[:] = 0.0, 0.0, 0.0
    counts = np.zeros((P, C, n_actions), np.float32)
    for i in range(len(action)):
        a = action[i]
        if a < 0:
            continue
        left = targets[i, 0] - min(0.0, v0) - out[i, a]
        left_up = targets[i, 1] - v0 - out[i, n_actions + a]
        for p in range(P):
            parts.mean[p, cells[i, p], a] += left
            parts.upper[p, cells[i, p], a] += left_up
            counts[p, cells[i, p], a] += 1.0
    for p in range(P):
        for c in range(C):
            for a in range(n_actions):
                n = counts[p, c, a] + shrink
                parts.mean[p, c, a] /= n
                parts.upper[p, c, a] /= n
    total, free = 0.0, 0.0
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            delta = targets[i, 1] - v0 - out[i, n_actions + a] - pt.correction(parts.upper, cells[i], a)
            leverage = 0.0
            for p in range(P):
                leverage += 1.0 / counts[p, cells[i, p], a]
            total += delta * delta
            free += 1.0 - leverage / P
    variance = total / free if free > 0.0 else 0.0
    for i in range(len(action)):
        a = action[i]
        if a >= 0:
            delta = targets[i, 1] - v0 - out[i, n_actions + a] - pt.correction(parts.upper, cells[i], a)
            leverage = 0.0
            for p in range(P):
                leverage += 1.0 / counts[p, cells[i, p], a]
            for p in range(P):
                parts.squares[p, cells[i, p], a] += delta * delta + leverage / P * variance
