"""Fourier and random Fourier features against their formulas, written plainly."""

import itertools

import numpy as np
import pytest

from ucls.errors import UserError
from ucls.features import fourier, random_fourier
from ucls.kernels import active as la

LOW, HIGH = [-1.0, 0.0, 10.0], [1.0, 4.0, 30.0]


def features_of(module, settings, s, n_actions=2):
    coder = module.make(settings, LOW, HIGH, n_actions)
    module.encode(coder, np.array(s), xs := la.no_features(n_actions, coder.n_active))
    return xs.value[0]


def test_fourier_features_are_cosines_of_at_most_so_many_dimensions():
    s = [0.3, 3.0, 14.0]
    u = [0.65, 0.75, 0.2]
    rows = [c for c in itertools.product(range(4), repeat=3) if sum(map(bool, c)) <= 2]
    expected = np.sqrt(2 / len(rows)) * np.cos(np.pi * np.array(rows) @ u)
    actual = features_of(fourier, fourier.Settings(order=3, coupled=2), s)
    np.testing.assert_allclose(np.sort(actual), np.sort(expected), atol=1e-14)
    assert actual[0] == pytest.approx(np.sqrt(2 / len(rows)))  # the constant


def test_the_full_basis_couples_all_dimensions():
    assert len(features_of(fourier, fourier.Settings(order=2, coupled=9), [0.0, 1.0, 20.0])) == 27


def test_products_of_random_waves_are_a_gaussian_kernel():
    settings = random_fourier.Settings(n_features=20_000, length_scale=0.4)
    one, other = [0.3, 3.0, 14.0], [0.1, 2.0, 18.0]
    distance = np.sum((np.array([0.65, 0.75, 0.2]) - [0.55, 0.5, 0.4]) ** 2)
    similarity = features_of(random_fourier, settings, one) @ features_of(random_fourier, settings, other)
    assert similarity == pytest.approx(np.exp(-distance / (2 * 0.4**2)), abs=0.03)


def test_waves_are_drawn_from_their_setting_alone():
    draws = [
        features_of(random_fourier, random_fourier.Settings(n_features=20, feature_seed=draw), [0.3, 3.0, 14.0])
        for draw in (7, 7, 8)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).any()


@pytest.mark.parametrize("module", [fourier, random_fourier])
def test_a_state_outside_is_taken_to_be_at_the_nearest_bound(module):
    far, near = ([5.0, -7.0, 1e300], [1.0, 0.0, 30.0])
    np.testing.assert_array_equal(*(features_of(module, module.Settings(), s) for s in (far, near)))


def test_a_basis_that_nobody_can_mean_is_refused():
    with pytest.raises(UserError, match="lower order or coupled"):
        fourier.allocation(fourier.Settings(order=9, coupled=30), [0.0] * 30, [1.0] * 30, 2)
