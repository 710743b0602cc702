"""The inverse by Sherman-Morrison: it is the inverse of the dense average, and lost digits are noticed."""

import numpy as np
import pytest

from support.shadow import assert_close
from support.transitions import dense, random_stream
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import sherman_morrison as inv

NOTHING = la.Active(np.array([0]), np.array([0.0]))


def one(i):
    return la.Active(np.array([i]), np.array([1.0]))


@pytest.mark.parametrize("beta", [0.0, 0.005], ids=["1/(t+1)", "constant"])
def test_it_is_the_inverse_of_the_dense_average_and_so_is_the_gain(beta):
    """The scale is folded into M on the way; a w that solved the system before a sample does after."""
    d, eta = 60, 0.5
    inverse, w = inv.inverse(d, eta, np.float64), np.zeros(d)
    A, b = eta * np.eye(d), np.zeros(d)
    rng = np.random.default_rng(8)
    folded = n = 0
    for xs, a, r, gamma, xs_next, a_next in random_stream(rng, d, 3, 4, 2000):
        x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
        n = max(la.see(inverse.seen, x), la.see(inverse.seen, x_next))
        row, row_next, before = dense(xs, d)[a], dense(xs_next, d)[a_next], inverse.scale[0]
        z = row + 0.1 * np.where(np.arange(d) < n, rng.normal(size=d), 0.0)
        weight = inv.next_weight(inverse, beta)
        assert weight == (beta or 1 / (inverse.t[0] + 1))
        gain = inv.sherman_morrison(inverse, n, weight, z, x, gamma, x_next)
        inv.correct(w, n, r + (gamma * row_next - row) @ w, gain)
        folded += inverse.scale[0] < before
        A = (1 - weight) * A + weight * np.outer(z, row - gamma * row_next)
        b = (1 - weight) * b + weight * r * z
    assert folded
    assert_close(inverse.M * inverse.scale[0], np.linalg.inv(A), "inverse", 1e-7)
    assert_close(w, np.linalg.solve(A, b), "w", 1e-7)


def test_features_that_were_never_seen_are_not_touched():
    inverse = inv.inverse(6, 0.25, np.float64)
    z = np.eye(6)[0]
    for _ in range(25):
        inv.sherman_morrison(inverse, 1, 0.5, z, one(0), 0.0, NOTHING)
    found = inverse.M * inverse.scale[0]
    np.testing.assert_allclose(np.diag(found)[1:], 2.0**25 / 0.25)
    np.testing.assert_allclose(found - np.diag(np.diag(found)), 0)
    np.testing.assert_allclose(found[0, 0], 1 / (0.25 * 2.0**-25 + (1 - 2.0**-25)))


def test_a_singular_system_gives_no_gain():
    """z (x - gamma x')' = -1 cancels A = 1 exactly: there is no inverse."""
    inverse = inv.inverse(1, 1.0, np.float64)
    gain = inv.sherman_morrison(inverse, 1, 0.5, np.array([-1.0]), one(0), 0.0, NOTHING)
    assert np.isnan(gain).all()


def test_a_direction_that_was_forgotten_for_too_long_gives_no_gain():
    """A feature first visited after (1 - beta)^-t has passed 1e12 cannot be told from noise."""
    for steps, sound in ((200, True), (300, False)):
        inverse = inv.inverse(2, 1.0, np.float64)
        for _ in range(steps):
            inv.sherman_morrison(inverse, 1, 0.1, np.array([1.0, 0.0]), one(0), 0.0, NOTHING)
        gain = inv.sherman_morrison(inverse, 2, 0.1, np.array([0.0, 1.0]), one(1), 0.0, NOTHING)
        assert np.isfinite(gain).all() == sound, steps
