"""Exact Gaussian processes, one for each action, that grow by a point at a time.

The kernel is k(s, s') = exp(-|s - s'|^2 / (2 bandwidth)) and data have a noise of their own. With L the Cholesky factor
of the covariance of the data, v = L^-1 k(s) and y = L^-1 (data - prior mean), the posterior at s has the mean v'y above
the prior and the variance 1 - v'v, which is of the function: the noise is not in it. A new point appends a row to L and
a number to y, so that nothing is ever fitted again: O(n^2) for n points.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Array, IntVector, Matrix
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import Count, Grows


class Processes(NamedTuple):
    """For each action: the points s, the factor L (row i of the triangle starts at i (i + 1) / 2), y, and how many."""

    s: Annotated[Array, Grows(1, like="y")]
    L: Annotated[Matrix, Grows(1)]
    y: Annotated[Matrix, Grows(1)]
    n: Annotated[IntVector, Count("y", axis=1)]

    def fault(self) -> str:
        """Return what is inconsistent: a factor needs capacity for all points, and an invertible diagonal."""
        capacity = self.y.shape[1]
        if self.L.shape[1] != capacity * (capacity + 1) // 2:
            return "the factor and the points differ in length"
        diagonal = np.cumsum(np.arange(1, capacity + 1)) - 1
        sound = all((self.L[a, diagonal[:n]] > 0).all() for a, n in enumerate(self.n))
        return "" if sound else "the factor of a covariance is none"


def processes(n_actions: int, dim: int, capacity: int, dtype: Any) -> Processes:
    """Make processes without data, with capacity for `capacity` points each."""
    return Processes(
        s=np.zeros((n_actions, capacity, dim), dtype),
        L=np.zeros((n_actions, capacity * (capacity + 1) // 2), dtype),
        y=np.zeros((n_actions, capacity), dtype),
        n=np.zeros(n_actions, np.int64),
    )


def with_room(gp: Processes, capacity: int) -> Processes:
    """Return the same processes with a larger capacity."""
    n_actions, _, dim = gp.s.shape
    empty = processes(n_actions, dim, capacity, gp.s.dtype)
    return Processes(*(la.enlarged(old, new.shape) for old, new in zip(gp, empty, strict=True)))


@jit
def clear(gp):
    """Forget all data."""
    for a in range(len(gp.n)):
        gp.n[a] = 0


@jit
def square_distance(s, s_i):
    """|s - s_i|^2."""
    total = 0.0
    for i in range(len(s)):
        total += (s[i] - s_i[i]) ** 2
    return total


@jit
def variance(gp, a, bandwidth, s, v, enough):
    """The posterior variance at s, writing v; if it is at most `enough`, an upper bound of it may be returned early.

    Each point takes its v_i^2 away, so what is left after some of them is such a bound.
    """
    left = 1.0
    first = 0
    for i in range(gp.n[a]):
        row = gp.L[a, first : first + i + 1]
        c = row.dtype.type(np.exp(-square_distance(s, gp.s[a, i]) / (2.0 * bandwidth)))
        for j in range(i):
            c -= row[j] * v[j]
        v[i] = c / row[i]
        left -= v[i] * v[i]
        if left <= enough:
            break
        first += i + 1
    return left


@jit
def mean(gp, a, v):
    """The posterior mean minus that of the prior, given the complete v that `variance` wrote."""
    total = 0.0
    for i in range(gp.n[a]):
        total += v[i] * gp.y[a, i]
    return total


@jit
def add(gp, a, noise, s, residual, v, left):
    """Add a point whose target lies `residual` above the prior mean; return the posterior mean there, minus that of the
    prior, and the variance.

    v and the variance `left` are those at s before; v has room for one number more.
    """
    n = gp.n[a]
    first = n * (n + 1) // 2
    diagonal = np.sqrt(left + noise)
    before = mean(gp, a, v)
    for j in range(n):
        gp.L[a, first + j] = v[j]
    gp.L[a, first + n] = diagonal
    gp.y[a, n] = (residual - before) / diagonal
    for i in range(len(s)):
        gp.s[a, n, i] = s[i]
    gp.n[a] = n + 1
    v[n] = left / diagonal
    return before + v[n] * gp.y[a, n], left - v[n] * v[n]
