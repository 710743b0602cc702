"""The paper's one-state argument: how often an optimist takes the worse action depends on which variance it uses.

Left always earns 1, right earns -5 to 10, 2 on average. With one feature for each action and discount 0, LSTD is the
mean reward of each action, and the bound of Theorem 1 is mean + sqrt((1 + 1/p) variance of that mean).
"""

from typing import NamedTuple

import numpy as np

from ucls.envs import one_state as world
from ucls.kernels.compilation.jit import jit

CONTEXT, GLOBAL, PRINTED = range(3)
KINDS = {
    "context-dependent": CONTEXT,
    "global, corrected": GLOBAL,
    "global, as printed": PRINTED,
}
FIRST = 5  # times that each action is taken before the bounds are used


class Spent(NamedTuple):
    """Counts of the worse action up to each of `at` steps in every run, and the fraction of the best one in the end."""

    at: np.ndarray
    dull: np.ndarray
    best: np.ndarray


@jit
def _pull(env, kind, p, first, rng, dull):
    """Take the action with the largest upper bound; `dull[t]` becomes the count of the left one so far."""
    count, total, square = np.zeros(2), np.zeros(2), np.zeros(2)
    s = np.zeros(1)
    for t in range(len(dull)):
        a = t % 2
        if t >= 2 * first:
            mean = total / count
            variance = np.maximum(0.0, square / count - mean * mean)
            pooled = (count[0] * variance[0] + count[1] * variance[1]) / t
            upper = np.empty(2)
            for b in range(2):
                if kind == CONTEXT:
                    v = variance[b] / count[b]
                elif kind == GLOBAL:
                    v = pooled / count[b]
                else:
                    v = pooled  # x'A^-1 z_bar = 1 for both
                upper[b] = mean[b] + np.sqrt((1 + 1 / p) * v)
            a = 1 if upper[1] > upper[0] else 0
        r, _, _ = world.step(env, s, a, rng)
        count[a] += 1
        total[a] += r
        square[a] += r * r
        dull[t] = count[0]


def spend(kind: str, runs: int = 200, steps: int = 20_000, p: float = 0.1) -> Spent:
    """Let an optimist choose actions, with the variance of this kind.

    >>> found = spend("context-dependent", runs=20, steps=2000)
    >>> int(np.median(found.dull[:, -1])) < 10
    True
    """
    at = np.unique(np.geomspace(2 * FIRST, steps, 60).astype(int))
    dull = np.empty((runs, steps))
    for run in range(runs):
        _pull(world.Settings(), KINDS[kind], p, FIRST, np.random.default_rng([run]), dull[run])
    late = steps // 5
    return Spent(at, dull[:, at - 1], 1 - (dull[:, -1] - dull[:, -late - 1]) / late)
