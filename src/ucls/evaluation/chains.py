"""Markov chains whose answers are known: what an evaluator should find, to the last digit.

A chain is a fixed policy in a world of few states. An episode that ends is a transition with discount 0 to the next
start, so that every chain has a stationary distribution, and LSTD's limit w* can be computed from it.
"""

from typing import NamedTuple

import numpy as np

from ucls.envs import river_swim as river
from ucls.kernels.compilation.jit import jit
from ucls.kernels.dynamic_programming import normal_nodes, product_nodes, uniform_nodes


class Chain(NamedTuple):
    """Chances `P`, mean rewards and discounts of every transition, and the spread of the reward in every state."""

    P: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    noise: np.ndarray

    def stationary(self) -> np.ndarray:
        """The chance to be in every state in the long run."""
        n = len(self.P)
        equations = np.vstack([self.P.T - np.eye(n), np.ones(n)])
        return np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0))[0]

    def mean_reward(self) -> np.ndarray:
        """The mean reward of a step from every state."""
        return (self.P * self.reward).sum(axis=1)

    def values(self) -> np.ndarray:
        """The true value of every state."""
        return np.linalg.solve(np.eye(len(self.P)) - self.P * self.discount, self.mean_reward())

    def fixed_point(self, X: np.ndarray, lambda_: float) -> np.ndarray:
        """w*, the fixed point of TD(lambda) with features X (a row for each state): the limit of LSTD."""
        discounted, identity = self.P * self.discount, np.eye(len(self.P))
        Z = np.linalg.solve((identity - lambda_ * discounted).T, self.stationary()[:, None] * X)  # the mean traces
        return np.linalg.solve(Z.T @ (identity - discounted) @ X, Z.T @ self.mean_reward())

    def with_noise(self, noise: np.ndarray | float) -> "Chain":
        """The chain with rewards spread so around their means."""
        return self._replace(noise=np.broadcast_to(noise, len(self.P)).astype(np.float64))


def simulate(chain: Chain, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the chain from its stationary distribution: the states (one more than steps), rewards and discounts.

    >>> states, rewards, discounts = simulate(boyan(), 4, np.random.default_rng(0))
    >>> states.tolist(), rewards.tolist()
    ([7, 8, 9, 10, 11], [-3.0, -3.0, -3.0, -3.0])
    """
    ladders = np.cumsum(chain.P, axis=1)
    ladders[:, -1] = 1.0
    chances = np.maximum(chain.stationary(), 0.0)
    begin = rng.choice(len(chances), p=chances / chances.sum())
    states = _walk(ladders, begin, rng.random(steps))
    here, there = states[:-1], states[1:]
    return states, chain.reward[here, there] + chain.noise[here] * rng.normal(size=steps), chain.discount[here, there]


@jit
def _walk(ladders, begin, luck):
    states = np.empty(len(luck) + 1, np.int64)
    states[0] = begin
    for t in range(len(luck)):
        states[t + 1] = np.searchsorted(ladders[states[t]], luck[t], side="right")
    return states


def boyan() -> Chain:
    """Boyan's chain: 12 states, one or two down at a time for -3 each, the last one for -2; undiscounted episodes."""
    P, reward = np.zeros((12, 12)), np.full((12, 12), -3.0)
    for i in range(11):
        P[i, i + 1] += 0.5
        P[i, min(i + 2, 12) % 12] += 0.5
    P[11, 0], reward[11, 0] = 1.0, -2.0
    discount = np.ones((12, 12))
    discount[10:, 0] = 0.0
    return Chain(P, reward, discount, np.zeros(12))


def boyan_features() -> np.ndarray:
    """Boyan's four features, which hold the values exactly: they are linear in the place.

    >>> np.round(boyan().fixed_point(boyan_features(), 0.5), 6).tolist()
    [-24.0, -16.0, -8.0, 0.0]
    """
    place = np.arange(12) / 4
    return np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(4)))


def random_walk() -> Chain:
    """A random walk on 9 states from the middle; leaving at the right earns 1. Undiscounted episodes."""
    P, reward, discount = np.zeros((9, 9)), np.zeros((9, 9)), np.ones((9, 9))
    for i in range(9):
        for j in (i - 1, i + 1):
            P[i, j if 0 <= j < 9 else 4] += 0.5
    discount[0, 4] = discount[8, 4] = 0.0
    reward[8, 4] = 1.0
    return Chain(P, reward, discount, np.zeros(9))


def garnet(states: int = 12, branches: int = 3, seed: int = 0) -> Chain:
    """A garnet: from every state to a few at random, with chances and rewards at random; discount 0.9.

    One of the few is the next state in a circle, so that every state is met for ever.
    """
    rng = np.random.default_rng(seed)
    P = np.zeros((states, states))
    for i in range(states):
        others = rng.choice(states - 1, branches - 1, replace=False)
        P[i, (i + 1 + np.append(0, 1 + others)) % states] = rng.dirichlet(np.ones(branches))
    return Chain(P, rng.normal(size=(states, states)), np.full((states, states), 0.9), np.zeros(states))


def river_swim(up: float = 0.9, places: int = 21) -> Chain:
    """River Swim on a grid of places for a fish that swims up with this chance, else down; discount 0.99.

    The chances are those of the world's own physics; where it comes to is shared between the two nearest places.
    """
    env, grid = river.Settings(), np.linspace(0.0, 1.0, places)
    breaks = np.cumsum(river.CHANCES[env.probabilities], axis=1)
    nodes = product_nodes(uniform_nodes(breaks), normal_nodes(16))
    P, s = np.zeros((places, places)), np.empty(1)
    for i, place in enumerate(grid):
        for a, chance in ((river.DOWN, 1 - up), (river.UP, up)):
            for u, n, weight in zip(nodes.u, nodes.n, nodes.weight, strict=True):
                s[0] = place
                river.move(env, s, a, u, n)
                at = s[0] * (places - 1)
                low = min(int(at), places - 2)
                P[i, low] += chance * weight * (low + 1 - at)
                P[i, low + 1] += chance * weight * (at - low)
    reward = np.where(grid > 0.9, 1.0, np.where(grid <= 0.1, 0.005, 0.0))
    shape = (places, places)
    return Chain(P, np.broadcast_to(reward, shape), np.full(shape, env.discount), np.zeros(places))


def groups(states: int, count: int) -> np.ndarray:
    """Features that cannot tell neighbors apart: one for each of some groups of states."""
    return np.eye(count)[np.arange(states) * count // states]


TITLES = {"boyan": "Boyan chain", "random_walk": "random walk", "garnet": "garnet", "river_swim": "River Swim"}


class Domain(NamedTuple):
    """A chain with features that hold its values exactly, poor ones, and the scale of the noise added to rewards."""

    chain: Chain
    exact: np.ndarray
    poor: np.ndarray
    scale: float


def domains() -> dict[str, Domain]:
    """The chains that coverage is measured on."""
    wild = np.random.default_rng(1).normal(size=(12, 4))
    return {
        "boyan": Domain(boyan(), boyan_features(), groups(12, 3), 1.0),
        "random_walk": Domain(random_walk(), np.eye(9), groups(9, 3), 0.5),
        "garnet": Domain(garnet(), np.eye(12), wild, 1.0),
        "river_swim": Domain(river_swim(), np.eye(21), groups(21, 4), 0.3),
    }


def noise_of(domain: Domain, kind: str) -> Chain:
    """The chain with noise of one size ("iid"), or ten times as large in every third state as in the others."""
    sizes = np.where(np.arange(len(domain.chain.P)) % 3 == 1, 2.0, 0.2) if kind == "state" else 1.0
    return domain.chain.with_noise(domain.scale * sizes)
