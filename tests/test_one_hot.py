"""One-hot features: states are numbered by first visit, and looking numbers nothing."""

import itertools

import numpy as np

from ucls.core.saving import checkpoint
from ucls.features import one_hot
from ucls.kernels import active as la


def test_one_hot_numbers_states_by_first_visit():
    coder = one_hot.make(one_hot.Settings(), [2.0], [9.0], 3)
    assert (coder.size, coder.n_active) == (24, 1)
    xs = la.no_features(3, 1)
    for s, number in ((7, 0), (2, 1), (7, 0), (9, 2)):
        one_hot.lookup(coder, np.array([float(s)]), xs)
        assert xs.index.ravel().tolist() == [3 * number, 3 * number + 1, 3 * number + 2]
        one_hot.encode(coder, np.array([float(s)]), xs)
        assert xs.index.ravel().tolist() == [3 * number, 3 * number + 1, 3 * number + 2]
        assert (xs.value == 1).all()


def test_several_whole_numbers_are_one_state():
    coder = one_hot.make(one_hot.Settings(), [2.0, -1.0, 0.0], [4.0, 1.0, 0.0], 2)
    assert (coder.size, coder.n_active, coder.count[0]) == (18, 1, 0)
    xs = la.no_features(2, 1)
    numbers = {}
    for state in itertools.product((2, 3, 4), (-1, 0, 1), (0,)):
        one_hot.encode(coder, np.array(state, np.float64), xs)
        numbers[state] = int(xs.index[0, 0]) // 2
    assert sorted(numbers.values()) == list(range(9))
    for state, number in numbers.items():
        one_hot.lookup(coder, np.array(state, np.float64), xs)
        assert xs.index.ravel().tolist() == [2 * number, 2 * number + 1]


def test_the_coder_of_one_number_has_the_arrays_that_it_always_had():
    coder = one_hot.make(one_hot.Settings(), [2.0], [9.0], 3)
    assert set(checkpoint.flatten("coder", coder)) == {"coder.number", "coder.count"}
    assert (coder.low, coder.place) == (2, None)
