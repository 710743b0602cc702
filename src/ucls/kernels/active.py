"""Small kernels on active features.

Features are sparse: `Active` holds the indices and values of the active ones. Vectors and matrices are dense, but only
their leading block of n features seen so far is touched: a feature that was never active has a zero row and column in
A, a unit row and column in B, and w = b = z = 0, so leaving it out is exact.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Array, IntArray
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import FEATURE


class Active(NamedTuple):
    """Active features: indices and values, of one action (1-D) or a row for each action (2-D)."""

    index: Annotated[IntArray, FEATURE]  # pyright: ignore[reportIncompatibleMethodOverride]
    value: Array


def no_features(n_actions: int, n_active: int) -> Active:
    """Allocate the features of every action."""
    return Active(np.zeros((n_actions, n_active), np.int64), np.zeros((n_actions, n_active)))


def enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a larger array with this one in its corner and zeros elsewhere; unused pages take no memory."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


@jit
def of_action(xs, a):
    """The features x of one action."""
    return Active(xs.index[a], xs.value[a])


@jit
def copy(xs, to):
    """Copy the features of every action."""
    for a in range(xs.index.shape[0]):
        for i in range(xs.index.shape[1]):
            to.index[a, i] = xs.index[a, i]
            to.value[a, i] = xs.value[a, i]


@jit
def dot(x, w):
    """x'w."""
    total = 0.0
    for i in range(len(x.index)):
        total += x.value[i] * w[x.index[i]]
    return total


@jit
def square(x):
    """|x|^2."""
    total = 0.0
    for i in range(len(x.index)):
        total += x.value[i] * x.value[i]
    return total


@jit
def part_of_error(alpha, x):
    """Return alpha / |x|^2: the step size with which a step without trace removes the fraction alpha of an error in
    x'w."""
    size = square(x)
    return alpha / size if size > 0.0 else 0.0


@jit
def quadratic(C, x):
    """x'Cx of a symmetric C, of which only the lower triangle is read."""
    total = 0.0
    for i in range(len(x.index)):
        row = x.index[i]
        inner = 0.5 * x.value[i] * C[row, row]
        for j in range(i):
            column = x.index[j]
            inner += x.value[j] * (C[row, column] if column < row else C[column, row])
        total += 2.0 * x.value[i] * inner
    return total


@jit
def argmax(values, rng):
    """The index of the largest value; ties are broken uniformly at random."""
    best, ties = 0, 1
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
    if ties > 1:
        skip = int(rng.random() * ties)
        for i in range(best, len(values)):
            if values[i] == values[best]:
                if skip == 0:
                    return i
                skip -= 1
    return best


@jit
def epsilon_greedy(values, epsilon, rng):
    """The index of the largest value, or with probability epsilon any index."""
    if rng.random() < epsilon:
        return int(rng.random() * len(values))
    return argmax(values, rng)


@jit
def see(seen, x):
    """Enlarge the leading block to contain the features x, and return its size."""
    n = seen[0]
    for i in range(len(x.index)):
        n = max(n, x.index[i] + 1)
    seen[0] = n
    return n


@jit
def average(y, n, beta, c, z):
    """y <- (1 - beta) y + beta c z, on the first n features."""
    keep, add = y.dtype.type(1.0 - beta), y.dtype.type(beta * c)
    for i in range(n):
        y[i] = keep * y[i] + add * z[i]


@jit
def add(y, n, c, z):
    """y <- y + c z, on the first n features."""
    step = y.dtype.type(c)
    for i in range(n):
        y[i] += step * z[i]
