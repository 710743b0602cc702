"""Cholesky factors of interleaved systems are those of the whole matrix."""

import numpy as np
import pytest

from ucls.kernels.linear_algebra import strided_cholesky as cholesky


@pytest.mark.parametrize(("step", "n"), [(1, 20), (3, 20), (3, 18), (3, 2), (4, 0)])
def test_factor_and_solutions_equal_numpys(step, n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 24)) * (np.arange(24) < n)
    G = X.T @ X * (np.subtract.outer(np.arange(24), np.arange(24)) % step == 0)
    whole = 0.5 * G + 0.1 * np.eye(24)
    y = np.where(np.arange(24) < n, rng.normal(size=24), 0.0)
    L, half, solution = np.sqrt(0.1) * np.eye(24), y.copy(), y.copy()
    for first in range(step):
        cholesky.factor(np.tril(G), n, first, step, 0.5, 0.1, L)
        cholesky.forward(L, n, first, step, half)
        cholesky.forward(L, n, first, step, solution)
        cholesky.backward(L, n, first, step, solution)
    np.testing.assert_allclose(L, np.linalg.cholesky(whole), atol=1e-12)
    np.testing.assert_allclose(half @ half, y @ np.linalg.solve(whole, y))
    np.testing.assert_allclose(solution, np.linalg.solve(whole, y), atol=1e-12)
