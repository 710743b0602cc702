"""The state itself, scaled so that its bounds become 0 and 1, for algorithms with their own kernel.

All features are active, with the same values for every action; a state outside the bounds lies outside [0, 1].
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.features import Allocation
from ucls.kernels.arrays import Vector
from ucls.kernels.compilation.jit import exact
from ucls.kernels.ranges import MADE


class Settings(NamedTuple):
    """Scaling has no settings."""


class Coder(NamedTuple):
    """The bounds of the state; nothing here fills."""

    size: int
    n_active: int
    n_actions: int
    low: Annotated[Vector, MADE]
    span: Annotated[Vector, MADE]


def allocation(settings: Settings, low: Any, high: Any, n_actions: int) -> Allocation:
    """The bounds are all there is."""
    return Allocation(len(low) * n_actions, len(low), 2 * len(low))


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a coder for states between low and high; a constant component is only shifted.

    >>> coder = make(Settings(), [-1.0, 0.0], [1.0, 4.0], n_actions=3)
    >>> coder.size, coder.n_active
    (6, 2)
    """
    low, high = np.array(low, np.float64), np.array(high, np.float64)
    span = np.where(high > low, high - low, 1.0)
    return Coder(len(low) * n_actions, len(low), n_actions, low, span)


@exact
def encode(coder, s, xs):
    """Write the scaled state into xs, once for every action."""
    for a in range(coder.n_actions):
        for i in range(coder.n_active):
            xs.index[a, i] = i * coder.n_actions + a
            xs.value[a, i] = (s[i] - coder.low[i]) / coder.span[i]


@exact
def lookup(coder, s, xs):
    """Write what `encode` would; there is no table."""
    encode(coder, s, xs)
