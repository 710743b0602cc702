"""The table of rows: numbers by first appearance, which stay when it grows."""

import numpy as np

from ucls.kernels.row_table import longer, number, table


def test_rows_are_numbered_by_first_appearance_and_keep_their_numbers():
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 3, size=(2000, 3)) * 2**40  # differ in the upper half only, as floats may
    expected: dict[tuple[int, ...], int] = {}
    t = table(2, 3)
    for row in rows:
        if t.count[0] == len(t.rows):
            t = longer(t)
        assert number(t, row) == expected.setdefault(tuple(row), len(expected))
    assert t.count[0] == len(expected) == 6**3
    assert len(t.rows) == 256
    assert [tuple(row) for row in t.rows[: t.count[0]]] == list(expected)


def test_distinct_floats_spread_over_the_slots():
    """Rows of float bits with empty lower halves must not all fall on one slot, or every search would walk."""
    t = table(1024, 2)
    for i in range(1024):
        number(t, np.array([0.0, i / 1024]).view(np.int64))
    taken = np.flatnonzero(t.slots >= 0)
    assert t.count[0] == 1024
    assert np.diff(taken, prepend=0, append=len(t.slots)).max() < 40
