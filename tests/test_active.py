"""Kernels on active features equal products of dense vectors, ties are fair, and only the leading block is touched."""

import numpy as np
import pytest

from support.transitions import dense
from ucls.kernels import active as la

SIZE = 9


def features(rng, n_actions=3, n_active=4):
    """Random features of every action, with signs, each index once."""
    index = np.array([rng.choice(SIZE, n_active, replace=False) for _ in range(n_actions)])
    return la.Active(index, rng.normal(size=(n_actions, n_active)))


def test_products_equal_those_of_dense_vectors():
    rng = np.random.default_rng(0)
    w, root = rng.normal(size=SIZE), rng.normal(size=(SIZE, SIZE))
    C = root + root.T
    lower = np.where(np.tri(SIZE, dtype=bool), C, np.nan)  # the upper triangle is not read
    for _ in range(20):
        xs = features(rng)
        for a, row in enumerate(dense(xs, SIZE)):
            x = la.of_action(xs, a)
            assert la.dot(x, w) == pytest.approx(row @ w)
            assert la.square(x) == pytest.approx(row @ row)
            assert la.quadratic(lower, x) == pytest.approx(row @ C @ row)


def test_averages_and_sums_touch_the_first_features_only():
    rng = np.random.default_rng(1)
    y, z = rng.normal(size=SIZE), rng.normal(size=SIZE)
    averaged, added = y.copy(), y.copy()
    la.average(averaged, 5, 0.25, 3.0, z)
    la.add(added, 5, -2.0, z)
    np.testing.assert_allclose(averaged[:5], 0.75 * y[:5] + 0.25 * 3.0 * z[:5])
    np.testing.assert_allclose(added[:5], y[:5] - 2.0 * z[:5])
    assert np.array_equal(averaged[5:], y[5:])
    assert np.array_equal(added[5:], y[5:])


def test_the_leading_block_holds_all_that_was_seen_and_never_shrinks():
    seen = np.zeros(1, np.int64)
    for index, expected in (([2, 0], 3), ([1, 1], 3), ([7, 3], 8)):
        assert la.see(seen, la.Active(np.array(index), np.ones(2))) == expected == seen[0]


def test_copied_features_are_those_of_every_action():
    xs, copied = features(np.random.default_rng(2)), la.no_features(3, 4)
    la.copy(xs, copied)
    assert np.array_equal(copied.index, xs.index)
    assert np.array_equal(copied.value, xs.value)


def test_the_largest_value_is_found_and_ties_are_fair():
    rng = np.random.default_rng(3)
    values = np.array([1.0, 4.0, -2.0, 4.0, 4.0])
    taken = np.bincount([la.argmax(values, rng) for _ in range(9000)], minlength=5)
    assert taken[0] == taken[2] == 0
    assert (np.abs(taken[[1, 3, 4]] - 3000) < 200).all()
    before = rng.bit_generator.state
    assert la.argmax(np.array([1.0, 4.0, -2.0]), rng) == 1
    assert rng.bit_generator.state == before, "where there is no tie nothing is drawn"


def test_epsilon_is_the_share_of_actions_at_random():
    rng = np.random.default_rng(4)
    values = np.array([0.0, 0.0, 1.0, 0.0])
    taken = np.bincount([la.epsilon_greedy(values, 0.3, rng) for _ in range(20_000)], minlength=4) / 20_000
    np.testing.assert_allclose(taken, [0.075, 0.075, 0.775, 0.075], atol=0.01)


def test_an_enlarged_array_has_the_old_one_in_its_corner():
    old = np.arange(6, dtype=np.float32).reshape(2, 3)
    new = la.enlarged(old, (3, 5))
    assert new.dtype == np.float32
    assert np.array_equal(new[:2, :3], old)
    assert new.sum() == old.sum()
