"""A plain algorithm of discrete states that counts the steps of an episode: its action is their parity."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import COUNT, IntScalar
from ucls.settings import Follows, Whole

COMPILED, DISCRETE, UPDATES_FIRST = False, True, True


class Settings(NamedTuple):
    """Its only setting."""

    horizon: Annotated[int, Whole(0), Follows("time_limit", otherwise=0), "steps per episode; 0: unknown"] = 0


class State(NamedTuple):
    """The steps of this episode."""

    step: Annotated[IntScalar, COUNT]


def init(hyper, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """At the start."""
    return State(np.zeros(1, np.int64))


def start(state, hyper, rng):
    """Begin an episode."""
    state.step[0] = 0


def act(state, hyper, xs, rng):
    """The parity of the step, or the last valid action."""
    return min(state.step[0] % 2, len(xs.index) - 1)


def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a step."""
    state.step[0] += 1


def value(state, hyper, x):
    """Nothing is learned."""
    return 0.0
