"""The system A w = b: its lazily scaled average and carried norm are those of dense matrices, and so is a step."""

import numpy as np
import pytest

from support.shadow import assert_close
from support.transitions import dense, random_stream
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import system as sy

D, ACTIONS = 48, 3


def matrix(system):
    return system.At.T * system.scale[0]


@pytest.mark.parametrize("beta", [0.01, 0.2], ids=["slow", "renormalizing"])
def test_the_average_and_its_norm_are_dense_ones(beta):
    """0.8^31 is below the smallest scale, so that it is folded in every 31 steps."""
    system, A = sy.system(D, np.float64), np.zeros((D, D))
    rng = np.random.default_rng(1)
    folded = n = 0
    for xs, a, _, gamma, xs_next, a_next in random_stream(rng, D, ACTIONS, 4, 300):
        x, x_next, before = la.of_action(xs, a), la.of_action(xs_next, a_next), system.scale[0]
        n = max(la.see(system.seen, x), la.see(system.seen, x_next))
        z = np.where(np.arange(D) < n, rng.normal(size=D), 0.0)
        sy.average_outer(system, n, beta, z, x, gamma, x_next)
        A = (1 - beta) * A + beta * np.outer(z, dense(xs, D)[a] - gamma * dense(xs_next, D)[a_next])
        folded += system.scale[0] > before
        assert system.norm2[0] == pytest.approx(np.sum(A**2), rel=1e-10)
    assert_close(matrix(system), A, "A", 1e-12)
    assert folded == (300 // 31 if beta == 0.2 else 0)


def test_gradient_residual_and_both_steps_are_those_of_the_box():
    rng = np.random.default_rng(2)
    n, system = 11, sy.system(14, np.float64)
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    system.scale[0] = 0.3
    system.At[:n, :n], system.Bt[:n, :n] = A.T / 0.3, B.T
    system.b[:n], system.w[:n] = rng.normal(size=(2, n))
    x = la.Active(np.array([4, 10, 0]), np.array([0.5, -1.0, 2.0]))
    row = dense(la.Active(x.index[None], x.value[None]), n)[0]
    g, v = sy.gradient_and_residual(system, n, x)
    np.testing.assert_allclose(g, A @ (A.T @ B @ row - row), rtol=1e-10)
    np.testing.assert_allclose(v, system.b[:n] - A @ system.w[:n], rtol=1e-10)
    sy.subtract_outer(system.Bt, n, 0.7, g, x)
    np.testing.assert_allclose(system.Bt[:n, :n].T, B - 0.7 * np.outer(g, row), rtol=1e-10)
    assert np.array_equal(system.Bt[n:, n:], np.eye(3)), "what was not seen is left alone"
    w, r = system.w[:n].copy(), B.T @ v
    sy.precondition(system.w, n, 0.5, r, 0.1, v)
    np.testing.assert_allclose(system.w[:n], w + 0.5 * (B.T + 0.1 * np.eye(n)) @ v, rtol=1e-10)


def test_equations_are_a_system_without_B():
    equations, system = sy.equations(5, np.float32), sy.system(5, np.float32)
    assert {*system._fields} - {*equations._fields} == {"Bt"}
    for name, array in equations._asdict().items():
        assert np.array_equal(array, getattr(system, name)), name
        assert array.dtype == getattr(system, name).dtype
    assert np.array_equal(system.Bt, np.eye(5))
