"""Cholesky factors of matrices that consist of independent systems of every `step`-th index.

The features of actions are interleaved, so a Gram matrix of features that no two actions share is one system an action:
the indices first, first + step, first + 2 step, ..., where step is the number of actions. With step 1 there is one
system. Either way the factor L has the place and order of the matrix itself: it is the factor of the whole of it.
"""

import numpy as np

from ucls.kernels.compilation.jit import jit


@jit
def factor(G, n, first, step, scale, ridge, L):
    """Write the Cholesky factor of scale G + ridge I into L, for one system below n; G's lower triangle is read."""
    m = max(0, (n - first + step - 1) // step)
    rows = np.empty((m, m))
    for i in range(m):
        row = rows[i]
        for j in range(i + 1):
            other = rows[j]
            total = 0.0
            for k in range(j):
                total += row[k] * other[k]
            entry = scale * G[first + i * step, first + j * step] - total
            row[j] = entry / other[j] if j < i else np.sqrt(entry + ridge)
    for i in range(m):
        for j in range(i + 1):
            L[first + i * step, first + j * step] = rows[i, j]


@jit
def forward(L, n, first, step, y):
    """y <- L^-1 y, for one system below n; y is assumed to be 0 before `first`."""
    for i in range(first, n, step):
        total = 0.0
        for j in range(first, i, step):
            total += L[i, j] * y[j]
        y[i] = (y[i] - total) / L[i, i]


@jit
def backward(L, n, first, step, y):
    """y <- L^-T y, for one system below n."""
    for i in range(first + (n - 1 - first) // step * step, first - 1, -step):
        y[i] /= L[i, i]
        for j in range(first, i, step):
            y[j] -= L[i, j] * y[i]
