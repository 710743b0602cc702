"""Solutions of A w = b: the conjugate gradient method, and elimination.

A and b are those of `system.System` or `system.Equations`, of which only the leading block of n features seen so far is
read.
"""

import numpy as np

from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra.products import inner, times, transposed_times, transposed_times_both


@jit
def conjugate_gradient(system, n, eta, eta_r, tolerance, most):
    """Solve (M'M + eta_r I) w = M'b with M = A + eta I, starting from the w that is there; return the steps taken.

    M'M is never formed: a step reads A twice, and so does the first residual. It stops when the residual is at most
    `tolerance` times the right-hand side, or after `most` steps; a w that is good enough is left as it is.
    """
    At, b, w = system.At, system.b, system.w
    scale, e, e_r = At.dtype.type(system.scale[0]), At.dtype.type(eta), At.dtype.type(eta_r)
    v = times(At, n, w)
    for i in range(n):
        v[i] = b[i] - scale * v[i] - e * w[i]
    Mb, r = transposed_times_both(At, n, b, v)
    for i in range(n):
        Mb[i] = scale * Mb[i] + e * b[i]
        r[i] = scale * r[i] + e * v[i] - e_r * w[i]
    enough = tolerance * tolerance * inner(Mb, Mb, n)
    r2 = inner(r, r, n)
    d = r.copy()
    steps = 0
    while r2 > enough and steps < most:
        q = times(At, n, d)
        for i in range(n):
            q[i] = scale * q[i] + e * d[i]
        curvature = inner(q, q, n) + eta_r * inner(d, d, n)
        if curvature <= 0.0:
            break
        step = At.dtype.type(r2 / curvature)
        Mq = transposed_times(At, n, q)
        for i in range(n):
            w[i] += step * d[i]
            r[i] -= step * (scale * Mq[i] + e * q[i] + e_r * d[i])
        r2_next = inner(r, r, n)
        turn = At.dtype.type(r2_next / r2)
        for i in range(n):
            d[i] = r[i] + turn * d[i]
        r2 = r2_next
        steps += 1
    return steps


@jit
def eliminate(system, n, eta):
    """Solve (A + eta I) w = b by elimination with row pivots; w is not a number where the matrix is singular."""
    At, w = system.At, system.w
    scale = At.dtype.type(system.scale[0])
    M = np.empty((n, n), At.dtype)
    for j in range(n):
        for i in range(n):
            M[i, j] = scale * At[j, i]
        M[j, j] += At.dtype.type(eta)
    y = system.b[:n].copy()
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[pivot, k]):
                pivot = i
        if pivot != k:
            y[k], y[pivot] = y[pivot], y[k]
            for j in range(k, n):
                M[k, j], M[pivot, j] = M[pivot, j], M[k, j]
        for i in range(k + 1, n):
            factor = M[i, k] / M[k, k]
            y[i] -= factor * y[k]
            row, above = M[i], M[k]
            for j in range(k + 1, n):
                row[j] -= factor * above[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            y[i] -= M[i, j] * y[j]
        y[i] /= M[i, i]
        w[i] = y[i]
