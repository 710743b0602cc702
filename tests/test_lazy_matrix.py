"""A matrix whose changes wait equals its dense twin at every moment."""

import numpy as np

from support.shadow import assert_close, matrix
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import lazy_matrix as lz


def test_rows_columns_and_all_of_it_equal_the_dense_twin():
    rng = np.random.default_rng(9)
    d, n = 300, 280  # more than one block of columns, and a part that is never touched
    lazy, twin = lz.lazy(d, np.float64), np.zeros((d, d))
    for _ in range(3 * lz.WAITING + 5):
        u, v = np.zeros(d), np.zeros(d)
        u[:n], v[:n] = rng.normal(size=n), rng.normal(size=n)
        lz.subtract_outer(lazy, n, u[:n].copy(), v[:n].copy())
        twin -= np.outer(u, v)
        x = la.Active(rng.choice(n, 5, replace=False), rng.normal(size=5))
        y = la.Active(rng.choice(n, 5, replace=False), rng.normal(size=5))
        row = np.zeros(d)
        row[x.index] += x.value
        column = row.copy()
        row[y.index] -= 0.9 * y.value
        assert_close(lz.times_rows(lazy, n, x, 0.9, y), (row @ twin)[:n], "rows")
        assert_close(lz.times_columns(lazy, n, x), (twin @ column)[:n], "columns")
    assert_close(matrix(lazy), twin, "all")
    assert lazy.count[0] == 5


def test_the_form_of_a_symmetric_matrix_counts_what_waits():
    rng = np.random.default_rng(1)
    d = 12
    lazy, twin = lz.lazy(d, np.float64), np.zeros((d, d))
    for _ in range(lz.WAITING + 3):
        u = rng.normal(size=d)
        lz.subtract_outer(lazy, d, u, u)
        twin -= np.outer(u, u)
        index, value = rng.choice(d, 4, replace=False), rng.normal(size=4)
        expected = value @ twin[np.ix_(index, index)] @ value
        np.testing.assert_allclose(lz.form(lazy, la.Active(index, value)), expected, rtol=1e-9)


def test_a_full_waiting_room_is_a_fault_of_a_file():
    lazy = lz.lazy(3, np.float64)
    assert lazy.fault() == ""
    lazy.count[0] = lz.WAITING
    assert lazy.fault() == "too many changes wait"
