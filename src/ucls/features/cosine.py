"""Cosines of the state, which the features `fourier` and `random_fourier` consist of.

A feature is cos(f'u + p), where u is the state scaled so that its bounds become 0 and 1, f its frequencies and p its
phase. All are active everywhere, with the same values for every action. A state outside the bounds is taken to be at
the nearest bound: cosines repeat, so that a far state would look like another one.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Matrix, Vector
from ucls.kernels.compilation.jit import exact
from ucls.kernels.ranges import MADE


class Coder(NamedTuple):
    """Frequencies and phases, and the bounds of the state; nothing here fills."""

    size: int
    n_active: int
    n_actions: int
    value: float
    low: Annotated[Vector, MADE]
    span: Annotated[Vector, MADE]
    frequencies: Annotated[Matrix, MADE]
    phases: Annotated[Vector, MADE]


def cosines(
    frequencies: np.ndarray, phases: np.ndarray, low: Sequence[float], high: Sequence[float], n_actions: int
) -> Coder:
    """Make a coder of these cosines, scaled so that the squares of a state's features sum to about 1."""
    bottom, top = np.array(low, np.float64), np.array(high, np.float64)
    number = len(phases)
    return Coder(
        size=number * n_actions,
        n_active=number,
        n_actions=n_actions,
        value=(2.0 / number) ** 0.5,
        low=bottom,
        span=np.where(top > bottom, top - bottom, 1.0),
        frequencies=frequencies,
        phases=phases,
    )


@exact
def encode(coder, s, xs):
    """Write the cosines at state s into xs, once for every action."""
    for i in range(coder.n_active):
        angle = coder.phases[i]
        for k in range(len(s)):
            angle += coder.frequencies[i, k] * min(max((s[k] - coder.low[k]) / coder.span[k], 0.0), 1.0)
        value = coder.value * np.cos(angle)
        for a in range(coder.n_actions):
            xs.index[a, i] = i * coder.n_actions + a
            xs.value[a, i] = value


@exact
def lookup(coder, s, xs):
    """Write what `encode` would; there is no table."""
    encode(coder, s, xs)
