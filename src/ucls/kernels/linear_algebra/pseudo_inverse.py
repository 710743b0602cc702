"""The pseudo-inverse of the averaged matrix A of LSTD, updated by Meyer's formulas.

C. D. Meyer, "Generalized inversion of modified matrices", SIAM Journal on Applied Mathematics 24, 1973: the
pseudo-inverse of A + c d' is that of A and two outer products. Which ones depends on whether c lies in the range of A,
d in that of A', and 1 + d'A+c is 0, which rounding blurs: a difference counts as 0 if it is
below a part `BLURRED` of its terms, in units of what has no digits to rely on.

Nothing is regularized, so A starts from 0 and so does A+. It grows as (1 - beta)^-t in directions that are not visited,
as an inverse does (`sherman_morrison`); a visit then leaves a difference of two numbers that agree in most digits. w is
set to NaN there, so that the run stops and says that it diverged.
"""

from typing import Any

import numpy as np

from ucls.kernels.arrays import zeros
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra.averages import difference
from ucls.kernels.linear_algebra.products import inner, times, transposed_times
from ucls.kernels.linear_algebra.sherman_morrison import Inverse, inverse

BLURRED = 1e3


def pseudo_inverse(size: int, dtype: Any) -> Inverse:
    """Start from A = 0; the scale stays 1."""
    return inverse(0, 1.0, dtype)._replace(M=zeros((size, size), dtype))


@jit
def average(inverse, system, n, beta, z, x, gamma, x_next):
    """Follow A <- (1 - beta) A + beta z (x - gamma x')', which `system` has already applied; false if precision is
    lost.

    With P the pseudo-inverse of (1 - beta) A and c = beta z: k = Pc, h = P'd, and u and v are what of c is not in the
    range of A, and of d not in that of A'. k and h are refined once: without that, rounding grows tenfold in a step or
    two, and ranks are misjudged after some twenty.
    """
    M, At, scale, grow = inverse.M, system.At, system.scale[0], 1.0 / (1.0 - beta)
    d = difference(n, x, gamma, x_next, M)
    k, h = transposed_times(M, n, z), times(M, n, d)
    for i in range(n):
        k[i] *= beta * grow
        h[i] *= grow
    one = 1.0 + inner(d, k, n)
    u, v = rest(times(At, n, k), n, one * beta, z, scale), rest(transposed_times(At, n, h), n, one, d, scale)
    more_k, more_h = transposed_times(M, n, u), times(M, n, v)
    for i in range(n):
        k[i] += grow * more_k[i]
        h[i] += grow * more_h[i]
    one = 1.0 + inner(d, k, n)
    u, v = rest(times(At, n, k), n, one * beta, z, scale), rest(transposed_times(At, n, h), n, one, d, scale)
    q, g = times(M, n, k), transposed_times(M, n, h)
    for i in range(n):
        q[i] *= grow
        g[i] *= grow
    nothing = BLURRED * inverse.lost[0] * (1.0 + abs(one - 1.0))
    new_c = inner(u, u, n) > (nothing * beta) ** 2 * inner(z, z, n)
    new_d = inner(v, v, n) > nothing**2 * inner(d, d, n)
    a, b = outer(n, one, k, h, u, v, q, g, new_c, new_d, abs(one) > nothing)
    return add(M, n, grow, a, b, inverse.lost[0])


@jit
def rest(y, n, c, v, scale):
    """y <- c v - scale y."""
    for i in range(n):
        y[i] = c * v[i] - scale * y[i]
    return y


@jit
def outer(n, one, k, h, u, v, q, g, new_c, new_d, regular):
    """The rows a and b of two outer products a_0 b_0' + a_1 b_1' to add to P: Meyer's six cases."""
    kk, hh, uu, vv = inner(k, k, n), inner(h, h, n), inner(u, u, n), inner(v, v, n)
    qh = inner(q, h, n)
    a, b = np.zeros((2, n)), np.zeros((2, n))
    for i in range(n):
        if new_c and new_d:
            a[0, i], b[0, i] = -k[i], u[i] / uu
            a[1, i], b[1, i] = v[i] / vv, one * u[i] / uu - h[i]
        elif new_c and regular:
            a[0, i], b[0, i] = g[i] / one, u[i]
            a[1, i], b[1, i] = -(uu / one * g[i] + k[i]) * one / (hh * uu + one * one), hh / one * u[i] + h[i]
        elif new_c:
            a[0, i], b[0, i] = -g[i], h[i] / hh
            a[1, i], b[1, i] = -k[i], u[i] / uu
        elif regular:
            a[0, i], b[0, i] = (v[i] / one if new_d else 0.0), q[i]
            vv_new = vv if new_d else 0.0
            along = (kk / one * v[i] if new_d else 0.0) + k[i]
            a[1, i], b[1, i] = -along * one / (kk * vv_new + one * one), vv_new / one * q[i] + h[i]
        elif new_d:
            a[0, i], b[0, i] = -k[i], q[i] / kk
            a[1, i], b[1, i] = -v[i] / vv, h[i]
        else:
            a[0, i], b[0, i] = -k[i], q[i] / kk - qh / (kk * hh) * h[i]
            a[1, i], b[1, i] = -g[i], h[i] / hh
    return a, b


@jit
def add(M, n, grow, a, b, lost):
    """M <- grow M + a_0 b_0' + a_1 b_1'; false if too few significant digits remain."""
    before, after = 0.0, 0.0
    for i in range(n):
        row, a0, a1 = M[i], a[0, i], a[1, i]
        for j in range(n):
            old = grow * row[j]
            row[j] = old + (a0 * b[0, j] + a1 * b[1, j])
            before = max(before, abs(old))
            after = max(after, abs(row[j]))
    return not after < lost * before


@jit
def solve(inverse, system, n, sound):
    """w <- A+ b, or NaN."""
    w = transposed_times(inverse.M, n, system.b)
    for i in range(n):
        system.w[i] = w[i] if sound else np.nan
