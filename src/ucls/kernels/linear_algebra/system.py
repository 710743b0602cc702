"""The linear system A w = b that the least-squares algorithms share.

`System` keeps A by columns with a lazy scale, A[:, j] = scale * At[j], and B, the running estimate of A^-T, by columns,
B[:, c] = Bt[c]. Then every sparse update is an operation on contiguous rows, averaging A costs a few rows instead of
all of them, and each step reads A once (`gradient_and_residual`) and B once (`transposed_times_both` of `products`).
Only the leading block of n features seen so far is touched, see `active`.

`Equations` are a System without B. Neither is a part of the other, because fields name the arrays of checkpoints.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Matrix, Scalar, Vector, diagonal, zeros
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import POSITIVE, Count

SMALLEST_SCALE = 1e-3  # fold the scale into A when it falls below this


class Equations(NamedTuple):
    """A w = b under averaging.

    `scale` and `norm2` (the squared Frobenius norm of A) are carried along; `seen` is the size of the leading block.
    """

    At: Matrix
    b: Vector
    w: Vector
    scale: Annotated[Scalar, POSITIVE]
    norm2: Scalar
    seen: Annotated[IntScalar, Count("features")]


class System(NamedTuple):
    """The same, and B, the running estimate of A^-T."""

    At: Matrix
    Bt: Matrix
    b: Vector
    w: Vector
    scale: Annotated[Scalar, POSITIVE]
    norm2: Scalar
    seen: Annotated[IntScalar, Count("features")]


def equations(size: int, dtype: Any) -> Equations:
    """Start with A = 0, b = 0, w = 0."""
    return Equations(
        At=zeros((size, size), dtype),
        b=np.zeros(size, dtype),
        w=np.zeros(size, dtype),
        scale=np.ones(1),
        norm2=np.zeros(1),
        seen=np.zeros(1, np.int64),
    )


def system(size: int, dtype: Any) -> System:
    """Start with A = 0, b = 0, w = 0, B = I."""
    return System(Bt=diagonal(size, 1.0, dtype), **equations(size, dtype)._asdict())


@jit
def average_outer(system, n, beta, z, x, gamma, x_next):
    """A <- (1 - beta) A + beta z (x - gamma x')': only the columns of active features are touched."""
    At = system.At
    system.scale[0] *= 1.0 - beta
    system.norm2[0] *= (1.0 - beta) ** 2
    if system.scale[0] < SMALLEST_SCALE:
        _renormalize(system, n)
    scale = system.scale[0]
    z2 = 0.0
    for i in range(n):
        z2 += z[i] * z[i]
    dx = np.zeros(n)
    for i in range(len(x.index)):
        dx[x.index[i]] += x.value[i]
    for i in range(len(x_next.index)):
        dx[x_next.index[i]] -= gamma * x_next.value[i]
    for active in (x.index, x_next.index):
        for j in active:
            if dx[j] != 0.0:
                c = At.dtype.type(beta * dx[j] / scale)
                column = At[j]
                t = column.dtype.type(0)
                for i in range(n):
                    t += column[i] * z[i]
                    column[i] += c * z[i]
                system.norm2[0] += scale * scale * (2.0 * c * t + c * c * z2)
                dx[j] = 0.0


@jit
def _renormalize(system, n):
    """Fold the scale into A, and recompute its norm."""
    scale = system.At.dtype.type(system.scale[0])
    norm2 = 0.0
    for j in range(n):
        row = system.At[j]
        for i in range(n):
            row[i] *= scale
            norm2 += row[i] * row[i]
    system.scale[0] = 1.0
    system.norm2[0] = norm2


@jit
def gradient_and_residual(system, n, x):
    """Return g = A (A'Bx - x) and v = b - Aw, reading A once, four columns at a time.

    The j-th entry of A'Bx - x needs column j only, so the columns can be added up as soon as it is known.
    """
    At, w = system.At, system.w
    scale = At.dtype.type(system.scale[0])
    q = np.zeros(n, At.dtype)  # Bx
    h = np.zeros(n, At.dtype)  # A'Bx - x, over the scale of A
    for c in range(len(x.index)):
        xc = At.dtype.type(x.value[c])
        h[x.index[c]] -= xc
        row = system.Bt[x.index[c]]
        for i in range(n):
            q[i] += xc * row[i]
    u = np.zeros(n, At.dtype)  # Aw, over the scale
    g = np.zeros(n, At.dtype)
    whole = n - n % 4
    for j in range(0, whole, 4):
        c0, c1, c2, c3 = At[j, :n], At[j + 1, :n], At[j + 2, :n], At[j + 3, :n]
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        s0 = s1 = s2 = s3 = At.dtype.type(0)
        for i in range(n):
            s0 += c0[i] * q[i]
            s1 += c1[i] * q[i]
            s2 += c2[i] * q[i]
            s3 += c3[i] * q[i]
            u[i] += (w0 * c0[i] + w1 * c1[i]) + (w2 * c2[i] + w3 * c3[i])
        h0, h1, h2, h3 = scale * s0 + h[j], scale * s1 + h[j + 1], scale * s2 + h[j + 2], scale * s3 + h[j + 3]
        for i in range(n):
            g[i] += (h0 * c0[i] + h1 * c1[i]) + (h2 * c2[i] + h3 * c3[i])
    for j in range(whole, n):
        column = At[j, :n]
        s = At.dtype.type(0)
        for i in range(n):
            s += column[i] * q[i]
            u[i] += w[j] * column[i]
        hj = scale * s + h[j]
        for i in range(n):
            g[i] += hj * column[i]
    for i in range(n):
        g[i] *= scale
        u[i] = system.b[i] - scale * u[i]
    return g, u


@jit
def subtract_outer(Bt, n, alpha, g, x):
    """B <- B - alpha g x'."""
    for c in range(len(x.index)):
        step = Bt.dtype.type(alpha * x.value[c])
        row = Bt[x.index[c]]
        for i in range(n):
            row[i] -= step * g[i]


@jit
def precondition(w, n, step, r, eta, v):
    """w <- w + step (B' + eta I) v, given r = B'v."""
    c, e = w.dtype.type(step), w.dtype.type(eta)
    for i in range(n):
        w[i] += c * (r[i] + e * v[i])
