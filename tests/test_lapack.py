"""LAPACK in kernels gives SciPy's solutions, whatever the layout, the type and the number of threads."""

import functools
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.linalg

from ucls.kernels import cholesky, cholesky_solve, inverse, jit, solve


def positive(n, dtype=np.float64, seed=0):
    """A symmetric positive definite matrix with a condition of about 10."""
    X = np.random.default_rng(seed).normal(size=(3 * n, n))
    return (X.T @ X / (3 * n) + 0.1 * np.eye(n)).astype(dtype)


def corner(A):
    """The same matrix as the leading block of a larger one."""
    n = len(A)
    larger = np.full((n + 3, n + 5), np.nan, A.dtype)
    larger[:n, :n] = A
    return larger[:n, :n]


@pytest.mark.parametrize(
    ("dtype", "rtol"), [(np.float64, 1e-9), pytest.param(np.float32, 1e-3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("n", [2, 130])
def test_solutions_are_scipys(n, dtype, rtol):
    rng = np.random.default_rng(n)
    A, S = rng.normal(size=(n, n)).astype(dtype) + 4 * np.eye(n, dtype=dtype), positive(n, dtype)
    b, B = rng.normal(size=n).astype(dtype), rng.normal(size=(n, 3)).astype(dtype)
    close = functools.partial(np.testing.assert_allclose, rtol=rtol, atol=rtol)
    before = A.copy()
    close(solve(corner(A), b), scipy.linalg.solve(A, b))
    if dtype is np.float32:
        close(solve(A, B), scipy.linalg.solve(A, B))
    close(inverse(A), scipy.linalg.inv(A))
    assert np.array_equal(A, before)
    for M in (S, corner(S)):
        L = cholesky(M)
        close(L, scipy.linalg.cholesky(S, lower=True))
        close(cholesky_solve(L, b), scipy.linalg.solve(S, b))
    assert {L.dtype, solve(corner(A), b).dtype, cholesky_solve(L, b).dtype} == {np.dtype(dtype)}


@pytest.mark.parametrize("function", [solve, inverse, cholesky])
def test_what_has_no_solution_raises(function):
    rest = (np.ones(2),) if function is solve else ()
    for A in ([[1.0, 2.0], [2.0, 4.0]], [[np.nan, 0.0], [0.0, 1.0]])[: 1 if numba.config.DISABLE_JIT else 2]:
        with pytest.raises(np.linalg.LinAlgError):
            function(np.array(A), *rest)


@jit
def solve_all(Gs, n, bs):
    """One system for each action: the leading blocks of a stack of matrices."""
    xs = np.zeros_like(bs)
    for a in range(len(Gs)):
        x = cholesky_solve(cholesky(Gs[a, :n, :n]), bs[a, :n])
        for i in range(n):
            xs[a, i] = x[i]
    return xs


def test_a_kernel_solves_a_system_for_each_action():
    n, Gs, bs = 30, np.zeros((3, 40, 40)), np.random.default_rng(1).normal(size=(3, 40))
    for a in range(3):
        Gs[a, :n, :n] = positive(n, seed=a)
    xs = solve_all(Gs, n, bs)
    expected = [scipy.linalg.solve(G[:n, :n], b[:n]) for G, b in zip(Gs, bs, strict=True)]
    np.testing.assert_allclose(xs[:, :n], expected, rtol=1e-9)
    assert not xs[:, n:].any()


CODE = """
import hashlib, numpy as np
from ucls.kernels import cholesky, inverse
rng = np.random.default_rng(0)
A = rng.integers(-9, 9, size=(400, 400)) + 0.0
A = A + A.T + 9000 * np.eye(400)
parts = inverse(A), cholesky(A)
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest())
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in (cholesky, inverse)))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_results_depend_neither_on_threads_nor_on_the_kernel_cache(tmp_path):
    """Without its limit LAPACK's results would differ in their last digits with two threads."""
    said = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "UCLS_CACHE_DIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", CODE], env=environment, check=True, capture_output=True, text=True)
        said.append(done.stdout.split())
    assert said[0][0] == said[1][0]
    assert (said[0][1], said[1][1]) == ("0", "2")
