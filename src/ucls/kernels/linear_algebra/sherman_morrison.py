"""The inverse of the averaged matrix A of LSTD, updated by the Sherman-Morrison formula.

A <- (1 - beta) A + beta z (x - gamma x')', started from eta I. `Inverse` keeps A^-1 = scale * M. The scale takes the
division by 1 - beta, so that only the leading block of the features seen so far is touched: an unseen feature has
1/eta on the diagonal of M and nothing else. With beta = 1/(t+1) the scale is t + 1 and M is the inverse of eta I plus
the sum of all samples.

With a constant beta, A^-1 grows as (1 - beta)^-t in every direction that is not visited. When one is visited after all,
the new number is a difference of two that agree in most digits. `sherman_morrison` sees this and gives NaN as the gain,
so that the run stops and says that it diverged, rather than going on with noise.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Matrix, Scalar, diagonal
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import COUNT, MADE, POSITIVE, Count

LARGEST_SCALE = 1e3  # fold the scale into M when it rises above this
LOST = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}  # a difference this small has no digits to rely on


class Inverse(NamedTuple):
    """A^-1 = scale * M, the number t of samples in it, and the size of the leading block."""

    M: Matrix
    scale: Annotated[Scalar, POSITIVE]
    t: Annotated[IntScalar, COUNT]
    seen: Annotated[IntScalar, Count("features")]
    lost: Annotated[Scalar, MADE]


def inverse(size: int, eta: float, dtype: Any) -> Inverse:
    """Start from A = eta I."""
    kind = np.dtype(dtype).type
    return Inverse(
        M=diagonal(size, kind(1.0) / kind(eta), dtype),
        scale=np.ones(1),
        t=np.zeros(1, np.int64),
        seen=np.zeros(1, np.int64),
        lost=np.array([LOST[np.dtype(dtype)]]),
    )


@jit
def next_weight(inverse, beta):
    """Count a sample, and return its weight in the average: beta, or 1/(t+1) where beta is 0."""
    inverse.t[0] += 1
    return beta if beta > 0.0 else 1.0 / (inverse.t[0] + 1.0)


@jit
def sherman_morrison(inverse, n, beta, z, x, gamma, x_next):
    """Average z (x - gamma x')' into A and return the gain beta A^-1 z, with the new A.

    M is read and written once.
    """
    M, lost = inverse.M, inverse.lost[0]
    if inverse.scale[0] > LARGEST_SCALE:
        _renormalize(inverse, n)
    scale = inverse.scale[0]
    v = np.zeros(n, M.dtype)  # M'(x - gamma x')
    _add_rows(v, M, x, 1.0)
    _add_rows(v, M, x_next, -gamma)
    vz, size = 0.0, 0.0
    for i in range(n):
        vz += v[i] * z[i]
        size += abs(v[i] * z[i])
    denominator = (1.0 - beta) + beta * scale * vz
    gain = np.full(n, M.dtype.type(np.nan))
    if not abs(denominator) > lost * ((1.0 - beta) + beta * scale * size):
        return gain
    c = M.dtype.type(beta * scale / denominator)
    sound = True
    for i in range(n):
        row, Mz = M[i], M.dtype.type(0)
        for j in range(n):
            Mz += row[j] * z[j]
        gain[i] = c * Mz
        before, gi = row[i], gain[i]
        for j in range(n):
            row[j] -= gi * v[j]
        sound = sound and abs(row[i]) >= lost * abs(before)
    inverse.scale[0] = scale / (1.0 - beta)
    if not sound:
        gain[:] = M.dtype.type(np.nan)
    return gain


@jit
def correct(w, n, delta, gain):
    """w <- w + delta gain: if w solved A w = b before a sample with TD error delta, it does after.

    Where A is nearly singular it is more accurate than A^-1 b: large weights that cancel are not recomputed.
    """
    d = w.dtype.type(delta)
    for i in range(n):
        w[i] += d * gain[i]


@jit
def _add_rows(v, M, x, c):
    """v <- v + c M'x."""
    for k in range(len(x.index)):
        cx, row = M.dtype.type(c * x.value[k]), M[x.index[k]]
        for j in range(len(v)):
            v[j] += cx * row[j]


@jit
def _renormalize(inverse, n):
    """Fold the scale into M: into the leading block, and the diagonal beyond it."""
    M, scale = inverse.M, inverse.M.dtype.type(inverse.scale[0])
    for i in range(n):
        row = M[i]
        for j in range(n):
            row[j] *= scale
    for i in range(n, len(M)):
        M[i, i] *= scale
    inverse.scale[0] = 1.0
