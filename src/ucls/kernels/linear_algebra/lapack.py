"""LAPACK for kernels: `solve`, `inverse` and `cholesky` of dense matrices, at SciPy's speed.

numba calls LAPACK through SciPy. Matrices are of float32 or float64 and of any layout, such as a leading block
`A[:n, :n]`; they are not changed. What is singular, not positive definite or not finite raises
`numpy.linalg.LinAlgError`, which ends a run before the step at which it is raised.

The last digits that OpenBLAS and MKL compute depend on the number of their threads, which would make a run depend on
the machine. Importing this module therefore limits SciPy's own LAPACK to one thread for this process; NumPy has another
and is not affected. Any other kernel that multiplies matrices with `@` should import it for the same reason.

`solvers.eliminate` and `strided_cholesky.factor` do without LAPACK: runs made with them must stay the same to the last
digit.
"""

import ctypes
from contextlib import suppress

import numpy as np
from scipy.linalg import cython_lapack  # pyright: ignore[reportAttributeAccessIssue]

from ucls.kernels.compilation.jit import jit

LIMITS = ("scipy_openblas_set_num_threads", "openblas_set_num_threads", "MKL_Set_Num_Threads")


def limit_threads() -> None:
    """Limit the LAPACK that SciPy was built with to one thread; Apple's Accelerate has no such call."""
    library = ctypes.CDLL(cython_lapack.__file__)  # finds the names of the libraries that it was linked with, too
    for name in LIMITS:
        with suppress(AttributeError):
            getattr(library, name)(1)


limit_threads()


@jit
def solve(A, b):
    """x with A x = b, where b is a vector or a matrix of columns of A's own type."""
    return np.linalg.solve(A, b)


@jit
def inverse(A):
    """The inverse of A."""
    return np.linalg.inv(A)


@jit
def cholesky(A):
    """The lower triangular L with L L' = A, of a symmetric positive definite A whose lower triangle is read."""
    L = np.linalg.cholesky(A)
    if len(L) > 0 and not L[-1, -1] > 0.0:  # OpenBLAS does not report what is not a number
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")
    return L


@jit
def cholesky_solve(L, b):
    """x with L L'x = b, for a vector b: half the work of `solve` with `cholesky`, and little for each further b."""
    x = b.copy()
    for i in range(len(x)):
        total = x.dtype.type(0)
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (x[i] - total) / L[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
    return x
