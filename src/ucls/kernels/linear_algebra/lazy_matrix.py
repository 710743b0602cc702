"""A matrix with pending rank-one changes, applied sixteen at a time.

Changing a large matrix by u v' reads and writes all of it, and memory is slower than arithmetic. Where only a few rows
and columns are asked for between two changes, the changes can wait: the matrix is M - sum_k left_k right_k', and what
is asked for is read from M and corrected by what waits. When there is no room for more, M is read and written once for
all of them. It is algebra, not approximation.

Only the leading block of n features is touched: beyond it M is as it was made, and nothing waits.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Matrix, zeros
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import Count

WAITING = 16
COLUMNS = 128


class Lazy(NamedTuple):
    """The matrix M - sum_k left_k right_k', with `count` pending changes."""

    M: Matrix
    left: Matrix
    right: Matrix
    count: Annotated[IntScalar, Count("left")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Return what is inconsistent: there is always capacity for one more change."""
        return "" if self.count[0] < WAITING else "too many changes wait"


def room(size: int) -> int:
    """The number of array elements of `lazy`."""
    return size * (size + 2 * WAITING)


def lazy(size: int, dtype: Any) -> Lazy:
    """Start from the matrix 0."""
    waiting = [zeros((WAITING, size), dtype) for _ in range(2)]
    return Lazy(zeros((size, size), dtype), waiting[0], waiting[1], np.zeros(1, np.int64))


@jit
def times_rows(lazy, n, x, gamma, x_next):
    """The vector (x - gamma x')'M."""
    M = lazy.M
    y = np.zeros(n, M.dtype)
    _add_rows(y, M, x, 1.0)
    if gamma != 0.0:
        _add_rows(y, M, x_next, -gamma)
    for k in range(lazy.count[0]):
        _add(y, -_of_difference(lazy.left[k], x, gamma, x_next), lazy.right[k])
    return y


@jit
def times_columns(lazy, n, x):
    """The vector M x."""
    M = lazy.M
    y = np.zeros(n, M.dtype)
    c = x.value.astype(M.dtype)
    for i in range(n):
        row, total = M[i], M.dtype.type(0)
        for k in range(len(c)):
            total += c[k] * row[x.index[k]]
        y[i] = total
    for k in range(lazy.count[0]):
        _add(y, -_of_difference(lazy.right[k], x, 0.0, x), lazy.left[k])
    return y


@jit
def form(lazy, x):
    """x'M x of a symmetric M."""
    total = 0.0
    for i in range(len(x.index)):
        row = lazy.M[x.index[i]]
        inner = 0.5 * x.value[i] * row[x.index[i]]
        for j in range(i):
            inner += x.value[j] * row[x.index[j]]
        total += 2.0 * x.value[i] * inner
    for k in range(lazy.count[0]):
        total -= _of_difference(lazy.left[k], x, 0.0, x) * _of_difference(lazy.right[k], x, 0.0, x)
    return total


@jit
def subtract_outer(lazy, n, u, v):
    """M <- M - u v', at once or as a pending change."""
    k = lazy.count[0]
    for i in range(n):
        lazy.left[k, i] = u[i]
        lazy.right[k, i] = v[i]
    lazy.count[0] += 1
    if lazy.count[0] == WAITING:
        _settle(lazy, n)


@jit
def _settle(lazy, n):
    """Apply the pending changes, eight at a time, on a few columns at a time: their parts of `right` stay in cache."""
    M, u = lazy.M, lazy.left
    v = np.zeros((WAITING, COLUMNS), M.dtype)
    for low in range(0, n, COLUMNS):
        high = min(low + COLUMNS, n)
        for k in range(WAITING):
            for j in range(low, high):
                v[k, j - low] = lazy.right[k, j]
        for i in range(n):
            row = M[i, low:high]
            for k in range(0, WAITING, 8):
                u0, u1, u2, u3 = u[k, i], u[k + 1, i], u[k + 2, i], u[k + 3, i]
                u4, u5, u6, u7 = u[k + 4, i], u[k + 5, i], u[k + 6, i], u[k + 7, i]
                v0, v1, v2, v3 = v[k], v[k + 1], v[k + 2], v[k + 3]
                v4, v5, v6, v7 = v[k + 4], v[k + 5], v[k + 6], v[k + 7]
                for j in range(len(row)):
                    row[j] -= ((u0 * v0[j] + u1 * v1[j]) + (u2 * v2[j] + u3 * v3[j])) + (
                        (u4 * v4[j] + u5 * v5[j]) + (u6 * v6[j] + u7 * v7[j])
                    )
    lazy.count[0] = 0


@jit
def _add_rows(y, M, x, c):
    """y <- y + c M'x."""
    for k in range(len(x.index)):
        _add(y, c * x.value[k], M[x.index[k]])


@jit
def _add(y, c, v):
    """y <- y + c v."""
    step = y.dtype.type(c)
    for i in range(len(y)):
        y[i] += step * v[i]


@jit
def _of_difference(v, x, gamma, x_next):
    """(x - gamma x')'v."""
    total = 0.0
    for k in range(len(x.index)):
        total += x.value[k] * v[x.index[k]]
    if gamma != 0.0:
        for k in range(len(x_next.index)):
            total -= gamma * x_next.value[k] * v[x_next.index[k]]
    return total
