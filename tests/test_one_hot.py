"""One-hot features: states are numbered by first visit, and looking numbers nothing."""

import numpy as np

from ucls.features import one_hot
from ucls.kernels import active as la


def test_one_hot_numbers_states_by_first_visit():
    coder = one_hot.make(one_hot.Settings(), [2.0], [9.0], 3)
    assert (coder.size, coder.n_active) == (24, 1)
    xs = la.no_features(3, 1)
    for s, number in ((7, 0), (2, 1), (7, 0), (9, 2)):
        one_hot.look(coder, np.array([float(s)]), xs)
        assert xs.index.ravel().tolist() == [3 * number, 3 * number + 1, 3 * number + 2]
        one_hot.encode(coder, np.array([float(s)]), xs)
        assert xs.index.ravel().tolist() == [3 * number, 3 * number + 1, 3 * number + 2]
        assert (xs.value == 1).all()
