"""Precomputed features: the state is the dense feature vector, the same for every action.

An agent uses them if its features are a user's function or array: the result of the function is used as it is.
"""

from typing import Any, NamedTuple

from ucls.features import Allocation
from ucls.kernels.compilation.jit import exact


class Settings(NamedTuple):
    """Precomputed features have no settings."""


class Coder(NamedTuple):
    """The sizes; there is no table."""

    size: int
    n_active: int
    n_actions: int


def allocation(settings: Settings, low: Any, high: Any, n_actions: int) -> Allocation:
    """No arrays are needed."""
    return Allocation(len(low) * n_actions, len(low), 0)


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for as many features as there are bounds; their values are ignored."""
    return Coder(len(low) * n_actions, len(low), n_actions)


@exact
def encode(coder, s, xs):
    """Write the features into xs, once for every action."""
    for a in range(coder.n_actions):
        for i in range(coder.n_active):
            xs.index[a, i] = i * coder.n_actions + a
            xs.value[a, i] = s[i]


@exact
def lookup(coder, s, xs):
    """Write what `encode` would; there is no table."""
    encode(coder, s, xs)
