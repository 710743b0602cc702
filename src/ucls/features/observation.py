"""The observation itself, for algorithms that learn their own features and scale it themselves.

All features are active, with the same values for every action. No bounds are needed, and none are estimated.
"""

from typing import Any, NamedTuple

import numpy as np

from ucls.features import Allocation
from ucls.kernels.compilation.jit import exact

UNBOUNDED = True


class Settings(NamedTuple):
    """Nothing can be set."""


class Coder(NamedTuple):
    """The sizes; nothing here fills."""

    size: int
    n_active: int
    n_actions: int


def allocation(settings: Settings, low: Any, high: Any, n_actions: int) -> Allocation:
    """Nothing is stored."""
    return Allocation(len(low) * n_actions, len(low), 0)


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for states with as many numbers as their bounds have.

    >>> make(Settings(), [-1.0, 0.0], [1.0, 4.0], n_actions=3)
    Coder(size=6, n_active=2, n_actions=3)
    """
    return Coder(len(np.asarray(low)) * n_actions, len(np.asarray(low)), n_actions)


@exact
def encode(coder, s, xs):
    """Write the state into xs, once for every action."""
    for a in range(coder.n_actions):
        for i in range(coder.n_active):
            xs.index[a, i] = i * coder.n_actions + a
            xs.value[a, i] = s[i]


@exact
def lookup(coder, s, xs):
    """Write what `encode` would: there is no table to leave alone."""
    encode(coder, s, xs)
