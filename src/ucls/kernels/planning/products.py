"""Products with the features of all cells: matrix products where all features are active, loops where they are sparse.

`dense_features` gives the features as a matrix with a row per cell, or one without rows if the features are sparse;
the other functions take that matrix and read the stored cells if it has no rows.
"""

import numpy as np

import ucls.kernels.linear_algebra.lapack  # noqa: F401, because it limits matrix products to one thread
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import blocks as bl


@jit
def dense_features(solver):
    """The features of every cell, a row each, if all are active everywhere; otherwise a matrix without rows."""
    n = solver.phi.shape[1]
    if not bl.dense(solver):
        return np.empty((0, n))
    X = np.zeros((solver.cells.count[0], n))
    for cell in range(len(X)):
        x = bl.stored(solver, cell)
        for i in range(n):
            X[cell, x.index[i]] += x.value[i]
    return X


@jit
def scores(solver, X, weights):
    """x'weights[a] in every cell, a column for each action."""
    if len(X) > 0:
        return X @ weights.T
    found = np.empty((solver.cells.count[0], len(weights)))
    for cell in range(len(found)):
        x = bl.stored(solver, cell)
        for a in range(len(weights)):
            found[cell, a] = la.dot(x, weights[a])
    return found


@jit
def forms(solver, X, M):
    """x'M[a]x in every cell, a column for each action."""
    found = np.empty((solver.cells.count[0], len(M)))
    for a in range(len(M)):
        XM = X @ M[a]
        for cell in range(len(X)):
            found[cell, a] = max(0.0, np.dot(XM[cell], X[cell]))
        for cell in range(len(X), len(found)):
            found[cell, a] = bl.form(M[a], bl.stored(solver, cell))
    return found


@jit
def transposed(solver, X, columns):
    """The sum over cells of x times each of these columns, a row for each column."""
    if len(X) > 0:
        return columns.T @ X
    found = np.zeros((columns.shape[1], solver.phi.shape[1]))
    for cell in range(len(columns)):
        x = bl.stored(solver, cell)
        for c in range(columns.shape[1]):
            if columns[cell, c] != 0.0:
                for i in range(len(x.index)):
                    found[c, x.index[i]] += x.value[i] * columns[cell, c]
    return found


@jit
def gram(solver, X, weights):
    """The sum over cells of weight times x x', of the features seen."""
    n = solver.seen[0]
    if len(X) > 0:
        weighted = X.copy()
        for cell in range(len(X)):
            for i in range(n):
                weighted[cell, i] *= weights[cell]
        return weighted.T @ X
    S = np.zeros((n, n))
    for cell in range(len(weights)):
        if weights[cell] != 0.0:
            x = bl.stored(solver, cell)
            for i in range(len(x.index)):
                row, ci = S[x.index[i]], weights[cell] * x.value[i]
                for j in range(len(x.index)):
                    row[x.index[j]] += ci * x.value[j]
    return S


@jit
def sandwich(M, S):
    """M S M, of a leading block of M."""
    n = len(S)
    block = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            block[i, j] = M[i, j]
    return block @ S @ block
