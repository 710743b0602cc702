"""Environments in which the values of policies are known: solved exactly, or simulated many times.

Each is a set of functions on arrays with one row per episode: `reset`, `step`, the probabilities of the logged policy,
and those of a new one. Episodes are truncated after a random number of steps where `lengths` says so.
"""

import functools
from collections.abc import Callable
from math import exp, factorial
from typing import Any, NamedTuple

import numpy as np

from ucls.envs import module_of
from ucls.kernels.compilation.jit import jit

Array = np.ndarray
Policy = Callable[[Array], Array]


class Domain(NamedTuple):
    """An environment, the logged policy and a new one; `exact` has P[s, a, s'] (the last s' is the end) and R[s, a]."""

    name: str
    title: str
    gamma: float
    columns: tuple[str, ...]
    reset: Callable[[int, np.random.Generator], Array]
    step: Callable[[Array, Array, np.random.Generator], tuple[Array, Array, Array]]
    behavior: Policy
    new: Policy
    lengths: tuple[int, int]
    exact: tuple[Array, Array, Array] | None = None
    horizon: int = 0
    truth: tuple[float, float] | None = None  # of the logged policy and the new one, from `episodes` in `true_value`


def soft(best: Array, n_actions: int, epsilon: float) -> Array:
    """Return the probabilities of a policy that takes an action, or with probability epsilon a random one."""
    p = np.full((len(best), n_actions), epsilon / n_actions)
    p[np.arange(len(best)), best] += 1 - epsilon
    return p


def draw(p: Array, rng: np.random.Generator) -> Array:
    """An action for every row of probabilities."""
    return np.minimum((rng.random(len(p))[:, None] > np.cumsum(p, axis=1)).sum(axis=1), p.shape[1] - 1)


def simulate(domain: Domain, episodes: int, rng: np.random.Generator) -> dict[str, Array]:
    """A log of the logged policy."""
    lengths = rng.integers(domain.lengths[0], domain.lengths[1] + 1, episodes)
    s, alive, rows, t = domain.reset(episodes, rng), np.arange(episodes), [], 0
    while len(alive):
        p = domain.behavior(s)
        a = draw(p, rng)
        after, r, ended = domain.step(s, a, rng)
        cut = ~ended & (t + 1 >= lengths[alive])
        taken = p[np.arange(len(a)), a]
        rows.append(np.column_stack([alive, np.full(len(a), t), s, a, taken, r, cut, ended]))
        go = ~(ended | cut)
        s, alive, t = after[go], alive[go], t + 1
    cells = np.concatenate(rows)
    cells = cells[np.lexsort((cells[:, 1], cells[:, 0]))]
    names = ("episode", "t", *domain.columns, "action", "propensity", "reward", "truncated", "terminated")
    return dict(zip(names, cells.T, strict=True))


def true_value(domain: Domain, policy: Policy, episodes: int = 40_000) -> float:
    """The value of a policy over the start states."""
    if domain.exact is not None:
        P, R, start = domain.exact
        n = len(R)
        p = policy(np.arange(n, dtype=np.float64)[:, None])
        move = np.einsum("sa,sat->st", p, P)[:, :n]
        return float(start @ np.linalg.solve(np.eye(n) - domain.gamma * move, (p * R).sum(axis=1)))
    rng = np.random.default_rng(12345)
    total, discount = 0.0, 1.0
    s = domain.reset(episodes, rng)
    for _ in range(domain.horizon):
        s, r, ended = domain.step(s, draw(policy(s), rng), rng)
        total += discount * r.sum()
        discount *= domain.gamma
        s = s[~ended]
        if not len(s):
            break
    return total / episodes


def _tabular(P: Array, R: Array, start: Array, noise: float) -> tuple[Any, Any]:
    """Functions that reset and step a table; the last state is the end."""
    ladders = np.cumsum(P, axis=2)

    def reset(n: int, rng: np.random.Generator) -> Array:
        return rng.choice(len(start), n, p=start).astype(np.float64)[:, None]

    def step(s: Array, a: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        state = s[:, 0].astype(int)
        after = (rng.random(len(s))[:, None] > ladders[state, a]).sum(axis=1)
        r = R[state, a] + noise * rng.normal(size=len(s))
        return after.astype(np.float64)[:, None], r, after >= len(R)

    return reset, step


def garnet() -> Domain:
    """A random MDP of 12 states in no order, with 3 actions; an episode ends with probability 0.05 after each step."""
    rng = np.random.default_rng(7)
    P = np.zeros((12, 3, 13))
    for s in range(12):
        for a in range(3):
            P[s, a, rng.choice(12, 3, replace=False)] = 0.95 * rng.dirichlet(np.ones(3))
    P[:, :, 12] = 0.05
    R, start = rng.normal(size=(12, 3)), np.full(12, 1 / 12)
    reset, step = _tabular(P, R, start, 0.5)
    good = R.argmax(axis=1)
    return Domain("garnet", "random MDP, 12 states", 0.95, ("place",), reset, step,
                  lambda s: soft(good[s[:, 0].astype(int)], 3, 0.8), lambda s: soft(good[s[:, 0].astype(int)], 3, 0.4),
                  (1000, 1000), (P, R, start))  # fmt: skip


def ring() -> Domain:
    """Return five places on a ring; moving right yields the number of the place."""
    P, R = np.zeros((5, 2, 6)), np.zeros((5, 2))
    for s in range(5):
        for a in range(2):
            P[s, a, (s + (1 if a else -1)) % 5] += 0.8
            P[s, a, s] += 0.2
            R[s, a] = a * s / 4
    start = np.full(5, 0.2)
    reset, step = _tabular(P, R, start, 0.3)
    return Domain("ring", "ring of 5 places", 0.9, ("place",), reset, step, lambda s: np.full((len(s), 2), 0.5),
                  lambda s: np.tile([0.2, 0.8], (len(s), 1)), (2, 30), (P, R, start))  # fmt: skip


ORDERS, SHELF = np.array([0, 5, 10]), 20


def _stock(q: Array, s: Array, a: Array, demand: Array) -> tuple[Array, Array]:
    sold = np.minimum(q, demand)
    return q - sold, 4 * sold - 0.2 * (q - sold) - 1.0 * (q - s) - 2.0 * (a > 0)


def inventory(mean: float = 4.0) -> Domain:
    """Stock of 0 to 20 units, orders of 0, 5 or 10, and Poisson demand."""
    P, R, start = np.zeros((21, 3, 22)), np.zeros((21, 3)), np.full(21, 1 / 21)
    chance = np.array([exp(-mean) * mean**k / factorial(k) for k in range(60)])
    for s in range(21):
        for a in range(3):
            q = min(s + ORDERS[a], SHELF)
            for demand, p in enumerate(chance):
                left, r = _stock(np.array(q), np.array(s), np.array(a), np.array(demand))
                P[s, a, int(left)] += p
                R[s, a] += p * float(r)

    def step(s: Array, a: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        stock = s[:, 0]
        left, r = _stock(np.minimum(stock + ORDERS[a], SHELF), stock, a, rng.poisson(mean, len(s)))
        return left[:, None], r, np.zeros(len(s), bool)

    def behavior(s: Array) -> Array:
        return soft(np.where(s[:, 0] < 6, 1, 0), 3, 0.6)

    def new(s: Array) -> Array:
        return soft(np.where(s[:, 0] <= 4, 2, np.where(s[:, 0] <= 9, 1, 0)), 3, 0.0)

    return Domain("inventory", "inventory", 0.95, ("stock",), lambda n, rng: rng.integers(0, 21, (n, 1)).astype(float),
                  step, behavior, new, (5, 40), (P, R, start))  # fmt: skip


def queue() -> Domain:
    """A queue of up to 30 customers; a fast server costs more per step. Waiting customers cost 0.2 each."""
    arrive = np.array([0.5, 0.3, 0.2])
    serve = (np.array([0.4, 0.6]), np.array([0.1, 0.9]))  # probabilities of serving 0 or 1
    P, R, start = np.zeros((31, 2, 32)), np.zeros((31, 2)), np.zeros(31)
    start[:11] = 1 / 11
    for s in range(31):
        for a in range(2):
            for k, p in enumerate(arrive):
                for served, chance in enumerate(serve[a]):
                    P[s, a, min(30, max(0, s - served) + k)] += p * chance
            R[s, a] = -0.2 * s - 0.5 * a
    reset, step = _tabular(P, R, start, 0.2)
    return Domain("queue", "queue", 0.95, ("waiting",), reset, step, lambda s: soft((s[:, 0] > 8).astype(int), 2, 0.5),
                  lambda s: soft((s[:, 0] > 3).astype(int), 2, 0.1), (10, 60), (P, R, start))  # fmt: skip


def contexts() -> Domain:
    """One step per episode: two-dimensional contexts, three actions, rewards that are not linear."""

    def step(s: Array, a: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        mean = np.choose(a, [np.sin(3 * s[:, 0]), s[:, 0] * s[:, 1], 0.3 - s[:, 1] ** 2])
        return s, mean + 0.5 * rng.normal(size=len(s)), np.ones(len(s), bool)

    def best(s: Array) -> Array:
        means = np.column_stack([np.sin(3 * s[:, 0]), s[:, 0] * s[:, 1], 0.3 - s[:, 1] ** 2])
        return means.argmax(axis=1)

    return Domain("contexts", "single steps, 2 numbers", 0.9, ("s_0", "s_1"),
                  lambda n, rng: rng.uniform(-1, 1, (n, 2)), step, lambda s: soft(np.zeros(len(s), int), 3, 0.8),
                  lambda s: soft(best(s), 3, 0.7), (1, 1), horizon=1, truth=(-0.8 / 90, 0.1188))  # fmt: skip


@functools.cache
def _each(one: Any) -> Any:
    @jit
    def run(env, states, actions, rng, rewards, ended):
        for i in range(len(states)):
            rewards[i], _, ended[i] = one(env, states[i], actions[i], rng)

    return run


def _builtin(name: str, **settings: Any) -> tuple[Any, Any]:
    """Functions that reset and step a built-in environment."""
    module: Any = module_of(name)
    env, each = module.Settings(**settings), _each(module.step)

    def reset(n: int, rng: np.random.Generator) -> Array:
        states = np.empty((n, len(module.LOW)))
        for s in states:
            module.reset(env, s, rng)
        return states

    def step(s: Array, a: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        after, r, ended = s.copy(), np.empty(len(s)), np.zeros(len(s), bool)
        each(env, after, a.astype(np.int64), rng, r, ended)
        return after, r, ended

    return reset, step


def river_swim() -> Domain:
    """Return River Swim with Osband's probabilities: episodes start downstream, and the large reward is upstream."""
    reset, step = _builtin("ucls/RiverSwim-v0", probabilities=1)
    return Domain("river_swim", "River Swim", 0.99, ("position",), reset, step,
                  lambda s: np.tile([0.2, 0.8], (len(s), 1)),
                  lambda s: np.tile([0.05, 0.95], (len(s), 1)), (60, 150),
                  horizon=800, truth=(6.129, 26.302))  # fmt: skip


def puddle_world() -> Domain:
    """Return Puddle World: the new policy takes a more direct way to the goal, below the puddles."""
    reset, step = _builtin("ucls/PuddleWorld-v0")

    def heading(s: Array) -> Array:
        return np.where((s[:, 0] < 0.6) | (s[:, 1] > 0.95), 3, 0)

    return Domain("puddle_world", "Puddle World", 0.95, ("x", "y"), reset, step,
                  lambda s: soft(heading(s), 4, 0.7), lambda s: soft(heading(s), 4, 0.3), (400, 400),
                  horizon=400, truth=(-118.54, -92.74))  # fmt: skip


def cart_pole() -> Domain:
    """CartPole with noisy pushes; episodes end when the pole falls, or after 200 steps."""

    def step(s: Array, a: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        x, v, angle, w = s.T
        force = np.where(a == 1, 10.0, -10.0) + 3.0 * rng.normal(size=len(s))
        push = (force + 0.05 * w**2 * np.sin(angle)) / 1.1
        turn = (9.8 * np.sin(angle) - np.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
        speed = push - 0.05 * turn * np.cos(angle) / 1.1
        after = np.column_stack([x + 0.02 * v, v + 0.02 * speed, angle + 0.02 * w, w + 0.02 * turn])
        return after, np.ones(len(s)), (np.abs(after[:, 0]) > 2.4) | (np.abs(after[:, 2]) > 0.2095)

    def control(s: Array) -> Array:
        return (s[:, 2] + 0.5 * s[:, 3] > 0).astype(int)

    return Domain("cart_pole", "CartPole", 0.95, ("x", "v", "angle", "w"),
                  lambda n, rng: rng.uniform(-0.05, 0.05, (n, 4)), step, lambda s: soft(control(s), 2, 0.8),
                  lambda s: soft(control(s), 2, 0.5), (200, 200), horizon=200, truth=(15.025, 18.831))  # fmt: skip


def changing(episodes: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return an inventory log during which mean demand rises from 4 to 6: it has no single value, and must be
    flagged."""
    early, late = (simulate(inventory(mean), episodes // 2, rng) for mean in (4.0, 6.0))
    late["episode"] += episodes // 2
    return {name: np.concatenate([early[name], late[name]]) for name in early}


@functools.cache
def domains() -> dict[str, Domain]:
    """Return all domains, by name."""
    made = (ring(), garnet(), inventory(), queue(), contexts(), river_swim(), puddle_world(), cart_pole())
    return {domain.name: domain for domain in made}
