"""Pessimistic value iteration on logged transitions in plain dense NumPy, for discrete states, one feature each."""

import numpy as np


def lower_bounds(states, action, reward, discount, next_states, n_states, n_actions, floor, ceiling, ridge, caution):
    """The lower bound of every action in every state; loops over rows, and no matrices."""
    n = np.zeros((n_states, n_actions))
    for s, a in zip(states, action, strict=True):
        n[s, a] += 1
    low = np.full((n_states, n_actions), float(floor))
    fitted = sum(n[s, a] / (n[s, a] + ridge) for s in range(n_states) for a in range(n_actions))
    for _ in range(2000):
        v = np.clip(low.max(axis=1), floor, ceiling)
        targets = [r + g * v[t] - floor for r, g, t in zip(reward, discount, next_states, strict=True)]
        total = np.zeros((n_states, n_actions))
        for s, a, y in zip(states, action, targets, strict=True):
            total[s, a] += y
        w = total / (n + ridge)
        errors = sum((y - w[s, a]) ** 2 for s, a, y in zip(states, action, targets, strict=True))
        sigma = np.sqrt(errors / max(1.0, len(action) - fitted))
        low = floor + w - caution * sigma / np.sqrt(n + ridge)
    return low
