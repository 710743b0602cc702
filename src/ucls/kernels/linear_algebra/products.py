"""Products of vectors with each other and with a matrix M that is stored by columns, Mt[j] = M[:, j].

Only the leading block of n features is read, see `active`. Four columns are read at a time, so that the vector that is
added to is read and written once for all of them.
"""

import numpy as np

from ucls.kernels.compilation.jit import jit


@jit
def inner(y, v, n):
    """y'v, of the first n entries."""
    total = 0.0
    for i in range(n):
        total += y[i] * v[i]
    return total


@jit
def times(Mt, n, v):
    """Return M v for a matrix that is stored by columns, reading it once, four columns at a time."""
    y = np.zeros(n, Mt.dtype)
    whole = n - n % 4
    for c in range(0, whole, 4):
        c0, c1, c2, c3 = Mt[c, :n], Mt[c + 1, :n], Mt[c + 2, :n], Mt[c + 3, :n]
        v0, v1, v2, v3 = v[c], v[c + 1], v[c + 2], v[c + 3]
        for i in range(n):
            y[i] += (v0 * c0[i] + v1 * c1[i]) + (v2 * c2[i] + v3 * c3[i])
    for c in range(whole, n):
        column = Mt[c, :n]
        for i in range(n):
            y[i] += v[c] * column[i]
    return y


@jit
def transposed_times(Mt, n, v):
    """Return M'v for a matrix that is stored by columns, reading it once, four columns at a time."""
    y = np.empty(n, Mt.dtype)
    whole = n - n % 4
    for c in range(0, whole, 4):
        c0, c1, c2, c3 = Mt[c, :n], Mt[c + 1, :n], Mt[c + 2, :n], Mt[c + 3, :n]
        y0 = y1 = y2 = y3 = Mt.dtype.type(0)
        for i in range(n):
            y0 += c0[i] * v[i]
            y1 += c1[i] * v[i]
            y2 += c2[i] * v[i]
            y3 += c3[i] * v[i]
        y[c], y[c + 1], y[c + 2], y[c + 3] = y0, y1, y2, y3
    for c in range(whole, n):
        column = Mt[c, :n]
        yc = Mt.dtype.type(0)
        for i in range(n):
            yc += column[i] * v[i]
        y[c] = yc
    return y


@jit
def transposed_times_both(Mt, n, u, v):
    """Return M'u and M'v for a matrix that is stored by columns, reading it once, four columns at a time."""
    a = np.empty(n, Mt.dtype)
    r = np.empty(n, Mt.dtype)
    whole = n - n % 4
    for c in range(0, whole, 4):
        c0, c1, c2, c3 = Mt[c, :n], Mt[c + 1, :n], Mt[c + 2, :n], Mt[c + 3, :n]
        a0 = a1 = a2 = a3 = r0 = r1 = r2 = r3 = Mt.dtype.type(0)
        for i in range(n):
            a0 += c0[i] * u[i]
            a1 += c1[i] * u[i]
            a2 += c2[i] * u[i]
            a3 += c3[i] * u[i]
            r0 += c0[i] * v[i]
            r1 += c1[i] * v[i]
            r2 += c2[i] * v[i]
            r3 += c3[i] * v[i]
        a[c], a[c + 1], a[c + 2], a[c + 3] = a0, a1, a2, a3
        r[c], r[c + 1], r[c + 2], r[c + 3] = r0, r1, r2, r3
    for c in range(whole, n):
        column = Mt[c, :n]
        ac = rc = Mt.dtype.type(0)
        for i in range(n):
            ac += column[i] * u[i]
            rc += column[i] * v[i]
        a[c], r[c] = ac, rc
    return a, r
