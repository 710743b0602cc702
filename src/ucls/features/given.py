"""Features as somebody gives them: the state is the features, dense, the same for every action.

An agent with a function or an array of its user's for features has these: what the function makes of an observation is
taken as it is.
"""

from typing import Any, NamedTuple

from ucls.features import Room
from ucls.kernels._jit import exact


class Settings(NamedTuple):
    """Features that are given have no settings."""


class Coder(NamedTuple):
    """How many there are; nothing here fills."""

    size: int
    n_active: int
    n_actions: int


def room(settings: Settings, low: Any, high: Any, n_actions: int) -> Room:
    """The sizes are all there is."""
    return Room(len(low) * n_actions, len(low), 0)


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for as many features as there are bounds, which say nothing else."""
    return Coder(len(low) * n_actions, len(low), n_actions)


@exact
def encode(coder, s, xs):
    """Write the features into xs, once for every action."""
    for a in range(coder.n_actions):
        for i in range(coder.n_active):
            xs.index[a, i] = i * coder.n_actions + a
            xs.value[a, i] = s[i]


@exact
def look(coder, s, xs):
    """Write what `encode` would: there is no table to leave alone."""
    encode(coder, s, xs)
