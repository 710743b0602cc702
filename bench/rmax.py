"""R-max with a table, as small as it can be written: what planning costs without regression and bounds.

A pair of state and action that was tried `visits` times is known: its mean reward and the frequencies of its successors
are its model. All others are worth `return_max`. Whenever a pair becomes known, value iteration over all known pairs
runs until values stand still (Brafman and Tennenholtz 2002). The features must be one-hot.

Deviations: a pair has at most `SUCCESSORS` successors, the last of which stands for all further ones.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import COUNT, IntVector, Vector, argmax, jit
from ucls.kernels.arrays import IntScalar, Matrix
from ucls.settings import POSITIVE, Follows, Whole

SUCCESSORS, TOLERANCE, SWEEPS = 4, 1e-6, 10_000


class Settings(NamedTuple):
    """The settings of R-max."""

    return_max: Annotated[float, POSITIVE, Follows("return_max", otherwise=1.0), "the maximum possible return"] = 1.0
    visits: Annotated[int, Whole(1), "visits after which a pair is known"] = 1


class State(NamedTuple):
    """Visits and the sum of rewards of each pair; its successors with their sums of discounts; its value; the known
    pairs, in the order in which they became known, and their number."""

    n: Annotated[IntVector, COUNT]
    reward: Vector
    successor: Annotated[Any, COUNT]
    discount: Matrix
    q: Vector
    known: Annotated[IntVector, COUNT]
    n_known: Annotated[IntScalar, COUNT]
    n_actions: Annotated[IntScalar, COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return (4 + 2 * SUCCESSORS) * size + 2


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with the maximum possible return everywhere."""
    return State(
        n=np.zeros(size, np.int64),
        reward=np.zeros(size),
        successor=np.zeros((size, SUCCESSORS), np.int64),
        discount=np.zeros((size, SUCCESSORS)),
        q=np.full(size, hyper.return_max),
        known=np.zeros(size, np.int64),
        n_known=np.zeros(1, np.int64),
        n_actions=np.array([n_actions]),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: nothing to do."""


@jit
def value(state, hyper, x):
    """The value of a pair."""
    return state.q[x.index[0]]


@jit
def act(state, hyper, xs, rng):
    """The action with the largest value."""
    q = np.empty(len(xs.index))
    for a in range(len(q)):
        q[a] = state.q[xs.index[a, 0]]
    return argmax(q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition of a pair that is not known, and plan if it has become known."""
    pair = xs.index[a, 0]
    if state.n[pair] == hyper.visits:
        return
    state.n[pair] += 1
    state.reward[pair] += r
    if gamma > 0.0:
        cell, i = xs_next.index[0, 0] // state.n_actions[0], 0
        while i < SUCCESSORS - 1 and state.discount[pair, i] > 0.0 and state.successor[pair, i] != cell:
            i += 1
        state.successor[pair, i] = cell
        state.discount[pair, i] += gamma
    if state.n[pair] == hyper.visits:
        state.known[state.n_known[0]] = pair
        state.n_known[0] += 1
        _iterate(state, hyper)


@jit
def _iterate(state, hyper):
    """Back up the known pairs, the last first, until no value changes."""
    n_actions = state.n_actions[0]
    for _ in range(SWEEPS):
        change = 0.0
        for i in range(state.n_known[0] - 1, -1, -1):
            pair = state.known[i]
            total = state.reward[pair]
            for j in range(SUCCESSORS):
                if state.discount[pair, j] > 0.0:
                    first = state.successor[pair, j] * n_actions
                    total += state.discount[pair, j] * np.max(state.q[first : first + n_actions])
            total = min(hyper.return_max, total / state.n[pair])
            change = max(change, abs(total - state.q[pair]))
            state.q[pair] = total
        if change < TOLERANCE:
            return
