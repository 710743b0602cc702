"""The kernels of planning: a uniform grid, interpolation on it, the model tabulated on it, and sweeps over it."""

from typing import NamedTuple

import numpy as np

from ucls.kernels.compilation.jit import jit

TOLERANCE = 1e-9
SAME = 1e-12
SWEEPS = 20_000
FOREVER = 1_000_000
GAIN_SWEEPS = 2_000


class Axes(NamedTuple):
    """A uniform grid: its origin, the width of its cells and the number of points, along every axis."""

    low: np.ndarray
    width: np.ndarray
    shape: np.ndarray


class Nodes(NamedTuple):
    """Noise as a few values: uniform `u`, normal `n`, and the weight of each pair."""

    u: np.ndarray
    n: np.ndarray
    weight: np.ndarray


class Model(NamedTuple):
    """An environment on a grid: for every point and action the expected reward `r`, and the probabilities of the next
    points.

    The chances of row i are `chance[first[i] : first[i + 1]]`, of the points `where[...]`; row = point * |A| + a.
    """

    r: np.ndarray
    first: np.ndarray
    where: np.ndarray
    chance: np.ndarray


@jit
def corner(axes, s, which):
    """The index and the weight of one of the 2^d grid points around `s`."""
    index, weight = 0, 1.0
    for j in range(len(axes.shape)):
        last = axes.shape[j] - 1
        place = min(max((s[j] - axes.low[j]) / axes.width[j], 0.0), float(last))
        cell = max(0, min(int(place), last - 1))
        upper = (which >> j) & 1
        weight *= place - cell if upper else 1.0 - (place - cell)
        index = index * axes.shape[j] + min(cell + upper, last)
    return index, weight


@jit
def interpolate(axes, values, s, out):
    """Fill `out` with the values at `s`; the rows of `values` are the points of the grid."""
    out[:] = 0.0
    for which in range(1 << len(axes.shape)):
        index, weight = corner(axes, s, which)
        if weight > 0.0:
            for a in range(len(out)):
                out[a] += weight * values[index, a]


@jit
def locate(axes, point, s):
    """Put the coordinates of a point of the grid into `s`."""
    for j in range(len(axes.shape) - 1, -1, -1):
        s[j] = axes.low[j] + axes.width[j] * (point % axes.shape[j])
        point //= axes.shape[j]


@jit
def never(env, s):
    """The end of a continuing task."""
    return False


@jit
def twins(over, env, axes):
    """For every point of the grid the nearest nonterminal one (by steps along the axes).

    States beside the goal would otherwise be interpolated with what could be done inside it, which can trap a policy.
    """
    points = int(np.prod(axes.shape))
    s = np.empty(len(axes.shape))
    twin = np.arange(points)
    for point in range(points):
        locate(axes, point, s)
        if over(env, s):
            twin[point] = -1
    while (twin < 0).any() and (twin >= 0).any():
        known = twin.copy()
        for point in np.flatnonzero(known < 0):
            stride = 1
            for j in range(len(axes.shape) - 1, -1, -1):
                place = point // stride % axes.shape[j]
                if place > 0 and known[point - stride] >= 0:
                    twin[point] = known[point - stride]
                elif place < axes.shape[j] - 1 and known[point + stride] >= 0:
                    twin[point] = known[point + stride]
                stride *= axes.shape[j]
    return twin


@jit
def tabulate(move, env, axes, twin, n_actions, nodes):
    """The model on the grid, from the physics at its points; a next state between points is shared among them."""
    points, corners = len(twin), 1 << len(axes.shape)
    rows = points * n_actions
    capacity = rows * min(points, len(nodes.weight) * corners)
    r, first = np.zeros(rows), np.zeros(rows + 1, np.int64)
    where, chance = np.empty(capacity, np.int32), np.empty(capacity)
    slot = np.full(points, -1, np.int64)
    s = np.empty(len(axes.shape))
    used = 0
    for row in range(rows):
        for k in range(len(nodes.weight)):
            locate(axes, row // n_actions, s)
            reward, _, terminated = move(env, s, row % n_actions, nodes.u[k], nodes.n[k])
            r[row] += nodes.weight[k] * reward
            if terminated:
                continue
            for which in range(corners):
                index, share = corner(axes, s, which)
                if share <= 0.0:
                    continue
                index = twin[index]
                if slot[index] < first[row]:
                    slot[index] = used
                    where[used], chance[used] = index, 0.0
                    used += 1
                chance[slot[index]] += nodes.weight[k] * share
        first[row + 1] = used
    return Model(r, first, where[:used].copy(), chance[:used].copy())


@jit
def backup(model, row, gamma, v):
    """The expected reward of a row plus the discounted value of the next point."""
    total = 0.0
    for i in range(model.first[row], model.first[row + 1]):
        total += model.chance[i] * v[model.where[i]]
    return model.r[row] + gamma * total


@jit
def iterate(model, gamma, q):
    """Value iteration in place, sweeping the grid forward and backward alternately."""
    points, n_actions = q.shape
    v = np.zeros(points)
    for sweep in range(SWEEPS):
        change = 0.0
        for i in range(points):
            point = i if sweep % 2 == 0 else points - 1 - i
            best = -np.inf
            for a in range(n_actions):
                q[point, a] = backup(model, point * n_actions + a, gamma, v)
                best = max(best, q[point, a])
            change = max(change, abs(best - v[point]))
            v[point] = best
        if change < TOLERANCE:
            break


@jit
def evaluate(model, policy, gamma, horizon, q):
    """Fill `q` with the values of every action if the policy is followed after it, for at most `horizon` steps.

    Every sweep is one step more of the horizon, so that a policy that never arrives has the value of that many steps.
    """
    points, n_actions = q.shape
    v, v_next = np.zeros(points), np.zeros(points)
    for _ in range(horizon - 1):
        change = 0.0
        for point in range(points):
            v_next[point] = backup(model, point * n_actions + policy[point], gamma, v)
            change = max(change, abs(v_next[point] - v[point]))
        v, v_next = v_next, v
        if change < TOLERANCE:
            break
    for row in range(points * n_actions):
        q[row // n_actions, row % n_actions] = backup(model, row, gamma, v)


@jit
def share(axes, twin, s, weight, weights):
    """Share a weight among the grid points around `s`."""
    for which in range(1 << len(axes.shape)):
        index, part = corner(axes, s, which)
        weights[twin[index]] += weight * part


@jit
def visits(model, policy, start):
    """How often a policy that begins in `start` visits every point: in an episode, or in the long run of a continuing
    task.

    The first steps of a continuing task are not counted, so that what is counted is where it settles.
    """
    points = len(policy)
    n_actions = len(model.r) // points
    now, then, count = start.copy(), np.zeros(points), np.zeros(points)
    for sweep in range(2 * GAIN_SWEEPS):
        count += now
        then[:] = 0.0
        for point in range(points):
            if now[point] > 0.0:
                row = point * n_actions + policy[point]
                for i in range(model.first[row], model.first[row + 1]):
                    then[model.where[i]] += now[point] * model.chance[i]
        now, then = then, now
        left = now.sum()
        if left < TOLERANCE:
            break
        if sweep == GAIN_SWEEPS - 1 and left > 1.0 - TOLERANCE:
            count[:] = 0.0
    return count


@jit
def gain(model, policy):
    """The average reward per step of a policy from every point, after as many steps to settle.

    What one step more adds to the values lies on both sides of every gain, and never farther apart than with a step
    less: where it is the same in all points, that is the gain.
    """
    points = len(policy)
    n_actions = len(model.r) // points
    v, v_next, settled = np.zeros(points), np.zeros(points), np.zeros(points)
    for sweep in range(2 * GAIN_SWEEPS):
        least, most = np.inf, -np.inf
        for point in range(points):
            v_next[point] = backup(model, point * n_actions + policy[point], 1.0, v)
            more = v_next[point] - v[point]
            least, most = min(least, more), max(most, more)
        v, v_next = v_next, v
        if most - least < SAME:
            return np.full((points, 1), 0.5 * (least + most))
        if sweep == GAIN_SWEEPS - 1:
            settled[:] = v
    return ((v - settled) / GAIN_SWEEPS).reshape(-1, 1)


@jit
def run(reset, step, env, axes, q, time_limit, count, rng):
    """Run the greedy policy in the environment itself; return its total reward, and the number and lengths of
    episodes."""
    s, values = np.empty(len(axes.shape)), np.empty(q.shape[1])
    total, ended, returns, lengths = 0.0, 0, 0.0, 0
    g, t = 0.0, 0
    reset(env, s, rng)
    for _ in range(count):
        interpolate(axes, q, s, values)
        r, _, terminated = step(env, s, np.argmax(values), rng)
        total, g, t = total + r, g + r, t + 1
        if terminated:
            ended, returns, lengths = ended + 1, returns + g, lengths + t
        if terminated or t >= time_limit:
            reset(env, s, rng)
            g, t = 0.0, 0
    return total, ended, returns, lengths
