"""A walk on a ring whose values are known, logged under a random policy, and two policies to compare with it."""

import numpy as np

STATES, GAMMA = 5, 0.9


def walk(episodes, seed, right=0.5, gain=1.0, change=0.0, noise=0.3, steps=30):
    """A walk on a ring of 5 places: right earns the place, left nothing; all episodes are truncated."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, steps, episodes)
    rows = []
    for i, length in enumerate(lengths):
        s = int(rng.integers(STATES))
        drift = change if i >= episodes // 2 else 0.0
        for t in range(length):
            a = int(rng.random() < right)
            r = gain * a * s / 4 + drift + noise * rng.normal()
            rows.append((i, t, s, a, right if a else 1 - right, r, t == length - 1))
            s = (s + (1 if a else -1) * int(rng.random() < 0.8)) % STATES
    names = ("episode", "t", "place", "action", "propensity", "reward", "truncated")
    return dict(zip(names, np.array(rows, float).T, strict=True))


def true_value(right):
    """The mean value over the places of a policy that goes right with this probability."""
    return true_values(right).mean()


def true_values(right):
    P, r = np.zeros((STATES, STATES)), np.zeros(STATES)
    for s in range(STATES):
        for a, p in ((1, right), (0, 1 - right)):
            P[s, (s + (1 if a else -1)) % STATES] += 0.8 * p
            P[s, s] += 0.2 * p
            r[s] += p * a * s / 4
    return np.linalg.solve(np.eye(STATES) - GAMMA * P, r)


def often(states):
    return np.tile([0.2, 0.8], (len(states), 1))


def seldom(states):
    return np.tile([0.8, 0.2], (len(states), 1))
