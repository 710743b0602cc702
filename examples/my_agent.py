"""An algorithm of your own: Sarsa with a bonus for what was seldom tried.

A module with the contract of `ucls.algorithms`, anywhere that Python finds it:

    PYTHONPATH=examples ucls train ucls/RiverSwim-v0 --algo my_agent --set kappa=2

or `ucls.Agent(env, "my_agent", kappa=2)`. The agent learns two values
by Sarsa: x'w of the rewards, and x'u of a bonus that falls as features are visited, and takes the action with the
largest sum. So a bonus draws the agent from afar: u says how much there is left to find on the way that starts with x.

Deviations: none, it is not in the paper.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import COUNT, IntVector, Vector, argmax, dot, jit, of_action, square
from ucls.settings import NOT_NEGATIVE, UNIT

STREAM = ()  # no trace: it can learn in several environments at once


class Settings(NamedTuple):
    """Settings: a type, the values allowed and a sentence for each. `--set` and `ucls.Agent` know them by name."""

    alpha: Annotated[float, UNIT, "step size, as the part of the error that one step removes"] = 0.1
    kappa: Annotated[float, NOT_NEGATIVE, "bonus of what was never tried; larger explores more"] = 1.0


class State(NamedTuple):
    """What is learned: arrays only, so that a checkpoint is these. Whole numbers say their range."""

    w: Vector
    u: Vector
    visits: Annotated[IntVector, COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """How many numbers `init` makes room for: asked first, so that nobody asks for memory that is not there."""
    return 3 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with rewards of 0, and with the whole bonus everywhere."""
    return State(np.zeros(size, dtype), np.full(size, hyper.kappa, dtype), np.zeros(size, np.int64))


@jit
def start(state, hyper, rng):
    """Begin an episode: there is no trace to clear."""


@jit
def value(state, hyper, x):
    """The estimated action value x'w."""
    return dot(x, state.w)


@jit
def interval(state, hyper, x, rng):
    """The estimated action value, and what there is to find."""
    return dot(x, state.w), max(0.0, dot(x, state.u))


@jit
def act(state, hyper, xs, rng):
    """The action with the largest sum of value and bonus."""
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        mean, bonus = interval(state, hyper, of_action(xs, a), rng)
        upper[a] = mean + bonus
    return argmax(upper, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Move both values of what was done toward what came of it; gamma is 0 where the episode ended."""
    x, x_next = of_action(xs, a), of_action(xs_next, a_next)
    fewest = state.visits[x.index[0]]
    for i in range(len(x.index)):
        fewest = min(fewest, state.visits[x.index[i]])
    bonus = (1.0 - gamma) * hyper.kappa / np.sqrt(1.0 + fewest)  # over all time at most kappa
    delta = r + gamma * dot(x_next, state.w) - dot(x, state.w)
    delta_u = bonus + gamma * dot(x_next, state.u) - dot(x, state.u)
    step = hyper.alpha / square(x)
    for i in range(len(x.index)):
        state.w[x.index[i]] += step * delta * x.value[i]
        state.u[x.index[i]] += step * delta_u * x.value[i]
        state.visits[x.index[i]] += 1
