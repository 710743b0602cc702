"""Scaled features: the state between 0 and 1. What all features promise is in test_testing.py."""

import numpy as np
import pytest

from ucls.features import scaled
from ucls.kernels import active as la


def encoded(s, low, high, n_actions=3):
    coder = scaled.make(scaled.Settings(), low, high, n_actions)
    xs = la.no_features(n_actions, coder.n_active)
    scaled.encode(coder, np.array(s), xs)
    return coder, xs


def test_bounds_become_0_and_1_and_a_state_outside_stays_outside():
    cases = ([-1.0, 0.0], [0, 0]), ([1.0, 4.0], [1, 1]), ([0.0, 1.0], [0.5, 0.25]), ([3.0, -2.0], [2, -0.5])
    for s, expected in cases:
        _, xs = encoded(s, [-1.0, 0.0], [1.0, 4.0])
        np.testing.assert_array_equal(xs.value, [expected] * 3)


def test_a_number_that_cannot_vary_is_0():
    _, xs = encoded([7.0], [7.0], [7.0])
    assert xs.value == pytest.approx(0.0)
