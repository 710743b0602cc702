"""Averages of outer products: covariances and second moments, stored as lower triangles.

A covariance is averaged in small blocks, and is a plain array. A `SecondMoment` decays everywhere but is added to in
few places, so it has a lazy scale: D = scale * part.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import Matrix, Scalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra.system import SMALLEST_SCALE
from ucls.kernels.ranges import POSITIVE

CLOSE = 3  # features are close if at least one in so many is among them


@jit
def average_block(C, near, beta, a):
    """C_ij <- (1 - beta) C_ij + beta a_i a_j for i and j in `near`, which is in order."""
    keep, add = C.dtype.type(1.0 - beta), C.dtype.type(beta)
    if len(near) > 0 and near[-1] < CLOSE * len(near):
        _average_close(C, near, keep, add, a)
        return
    for i in range(len(near)):
        row, ai = C[near[i]], add * a[near[i]]
        for j in range(i + 1):
            row[near[j]] = keep * row[near[j]] + ai * a[near[j]]


@jit
def _average_close(C, near, keep, add, a):
    """The same, to the last bit: if the indices are close, going through all entries is faster than selecting some."""
    is_near = np.zeros(near[-1] + 1, np.uint8)
    for i in near:
        is_near[i] = 1
    for i in near:
        row, ai = C[i], add * a[i]
        for j in range(i + 1):
            if is_near[j]:
                row[j] = keep * row[j] + ai * a[j]


@jit
def spread(n, x, like):
    """The features x as a vector of the first n, of the type of `like`."""
    return difference(n, x, 0.0, x, like)


@jit
def difference(n, x, gamma, x_next, like):
    """x - gamma x' as a vector of the first n features, of the type of `like`."""
    d = np.zeros(n, like.dtype)
    for i in range(len(x.index)):
        d[x.index[i]] += d.dtype.type(x.value[i])
    if gamma != 0.0:
        for i in range(len(x_next.index)):
            d[x_next.index[i]] -= d.dtype.type(gamma * x_next.value[i])
    return d


class SecondMoment(NamedTuple):
    """An average D of outer products d d'."""

    part: Matrix
    scale: Annotated[Scalar, POSITIVE]


def second_moment(size: int, dtype: Any) -> SecondMoment:
    """Start from D = 0."""
    return SecondMoment(np.zeros((size, size), dtype), np.ones(1))


@jit
def average_second_moment(D, n, beta, d, x, x_next):
    """D <- (1 - beta) D + beta d d', where d is 0 except for the features of x and x'."""
    part = D.part
    D.scale[0] *= 1.0 - beta
    if D.scale[0] < SMALLEST_SCALE:
        scale = part.dtype.type(D.scale[0])
        for i in range(n):
            row = part[i]
            for j in range(i + 1):
                row[j] *= scale
        D.scale[0] = 1.0
    add = part.dtype.type(beta / D.scale[0])
    met = np.zeros(n, np.bool_)
    active = np.empty(len(x.index) + len(x_next.index), np.int64)
    count = 0
    for index in (x.index, x_next.index):
        for i in index:
            if d[i] != 0.0 and not met[i]:
                met[i] = True
                active[count] = i
                count += 1
                for j in active[:count]:
                    part[max(i, j), min(i, j)] += add * d[i] * d[j]


@jit
def second_moment_form(D, n, w):
    """w'Dw, reading half of D once."""
    total = 0.0
    for i in range(n):
        row = D.part[i]
        below = row.dtype.type(0)
        for j in range(i):
            below += row[j] * w[j]
        total += w[i] * (2.0 * below + row[i] * w[i])
    return D.scale[0] * total
