"""Averages of outer products are those of dense matrices, whose lower triangle they keep."""

import numpy as np
import pytest

from ucls.kernels import active as la
from ucls.kernels.linear_algebra import averages


def test_a_block_is_averaged_and_nothing_else_is_touched():
    rng = np.random.default_rng(0)
    start, a, near = rng.normal(size=(7, 7)), rng.normal(size=7), np.array([1, 2, 5])
    C = start.copy()
    averages.average_block(C, near, 0.2, a)
    block = np.ix_(near, near)
    expected = start.copy()
    expected[block] = np.where(np.tri(3, dtype=bool), 0.8 * start[block] + 0.2 * np.outer(a, a)[block], start[block])
    np.testing.assert_allclose(C, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_close_together_are_averaged_as_those_far_apart_are_to_the_last_bit(dtype):
    rng = np.random.default_rng(0)
    near, apart = np.flatnonzero(rng.random(60) < 0.6), 10
    start, a = rng.normal(size=(60, 60)).astype(dtype), rng.normal(size=60).astype(dtype)
    far, far_a = np.zeros((600, 600), dtype), np.zeros(600, dtype)
    far[::apart, ::apart], far_a[::apart] = start, a
    assert near[-1] < averages.CLOSE * len(near) <= apart * near[-1]
    averages.average_block(start, near, 0.2, a)
    averages.average_block(far, near * apart, 0.2, far_a)
    assert np.array_equal(far[::apart, ::apart], start)
    averages.average_block(start, near[:0], 0.2, a)


def test_features_are_spread_and_subtracted():
    x = la.Active(np.array([3, 0, 3]), np.array([1.0, 2.0, 0.5]))
    x_next = la.Active(np.array([1, 3, 1]), np.array([4.0, 1.0, 0.0]))
    like = np.zeros(1, np.float32)
    assert averages.spread(5, x, like).tolist() == [2.0, 0.0, 0.0, 1.5, 0.0]
    assert averages.difference(5, x, 0.5, x_next, like).tolist() == [2.0, -2.0, 0.0, 1.0, 0.0]
    assert averages.spread(5, x, like).dtype == np.float32


@pytest.mark.parametrize(("beta", "folds"), [(0.01, False), (0.3, True)], ids=["slow", "renormalizing"])
def test_a_second_moment_and_its_form_are_dense_ones(beta, folds):
    rng = np.random.default_rng(0)
    D, whole, w = averages.second_moment(9, np.float64), np.zeros((9, 9)), rng.normal(size=9)
    folded = 0
    for _ in range(50):
        x, x_next = (la.Active(rng.choice(9, 3, replace=False), rng.normal(size=3)) for _ in range(2))
        d, before = averages.difference(9, x, 0.5, x_next, w), D.scale[0]
        averages.average_second_moment(D, 9, beta, d, x, x_next)
        folded += D.scale[0] > before
        whole = (1 - beta) * whole + beta * np.outer(d, d)
    np.testing.assert_allclose(D.part * D.scale[0], np.tril(whole), rtol=1e-10, atol=1e-14)
    assert averages.second_moment_form(D, 9, w) == pytest.approx(w @ whole @ w)
    assert (folded > 0) == folds
