"""Solvers of A w = b: conjugate gradient takes SciPy's steps to the solution, and elimination is NumPy's solution."""

import numpy as np
import pytest
from scipy.sparse.linalg import cg

from ucls.kernels.linear_algebra import solvers
from ucls.kernels.linear_algebra import system as sy


def random_system(n, size, scale=0.3, ridge=0.0):
    """A system whose leading block is random, and the A and b of that block."""
    rng = np.random.default_rng(8)
    system = sy.equations(size, np.float64)
    A = rng.normal(size=(n, n)) + ridge * np.eye(n)
    system.At[:n, :n], system.scale[0] = A.T / scale, scale
    system.b[:n] = rng.normal(size=n)
    return system, A, system.b[:n]


@pytest.mark.parametrize("regularizer", ["inside", "outside"])
def test_conjugate_gradient_takes_scipys_steps_and_ends_at_the_solution(regularizer):
    """SciPy's conjugate gradient on the same normal equations, for as many steps as both can be told from rounding."""
    n = 30
    system, A, b = random_system(n, 34, ridge=8.0)
    inside, outside = (0.05, 0.0) if regularizer == "inside" else (0.0, 0.05)
    M = A + inside * np.eye(n)
    normal, right = M.T @ M + outside * np.eye(n), M.T @ b
    for most in (1, 2, 5):
        system.w[:n] = 0.1
        theirs, _ = cg(normal, right, x0=np.full(n, 0.1), rtol=1e-14, atol=0.0, maxiter=most)
        assert solvers.conjugate_gradient(system, n, inside, outside, 1e-14, most) == most
        np.testing.assert_allclose(system.w[:n], theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())
    # the tolerance is SciPy's: relative to the right-hand side
    counted = []
    system.w[:n] = 0.1
    cg(normal, right, x0=np.full(n, 0.1), rtol=1e-3, atol=0.0, callback=counted.append)
    assert abs(solvers.conjugate_gradient(system, n, inside, outside, 1e-3, 1000) - len(counted)) <= 1
    assert np.linalg.norm(right - normal @ system.w[:n]) <= 1.001e-3 * np.linalg.norm(right)
    # a w that is good enough is not touched
    before = system.w.copy()
    assert solvers.conjugate_gradient(system, n, inside, outside, 1e-3, 1000) == 0
    assert np.array_equal(system.w, before)
    solvers.conjugate_gradient(system, n, inside, outside, 1e-13, 5000)
    np.testing.assert_allclose(system.w[:n], np.linalg.solve(normal, right), rtol=1e-8)
    assert not system.w[n:].any(), "what was not seen is left alone"


def test_elimination_solves_the_system():
    system, A, b = random_system(40, 43)
    solvers.eliminate(system, 40, 0.2)
    np.testing.assert_allclose(system.w[:40], np.linalg.solve(A + 0.2 * np.eye(40), b), rtol=1e-9)
    assert not system.w[40:].any()


def test_elimination_exchanges_rows_where_a_pivot_is_0():
    system = sy.equations(2, np.float64)
    system.At[:], system.b[:] = [[0.0, 1.0], [2.0, 0.0]], [6.0, 5.0]
    solvers.eliminate(system, 2, 0.0)
    assert system.w.tolist() == [5.0, 3.0]
