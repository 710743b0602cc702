"""The network of ucls-deep: its gradient, and Adam."""

import numpy as np
import pytest

from support import deep_oracle
from ucls.kernels.network import layers as ly
from ucls.kernels.network import network as nw

SIZES = 3, 6, 2  # inputs, hidden, actions


def example(seed=0, limit=0.5):
    """A network, and a batch with errors on both sides of the limit."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0.0, 0.7, nw.size(*SIZES)).astype(np.float32)
    inputs, targets = (rng.normal(size=shape).astype(np.float32) for shape in ((20, 3), (20, 2)))
    weight = rng.random(20).astype(np.float32)
    return weights, (inputs, rng.integers(2, size=20), targets, weight, limit)


def as_oracle(weights):
    return {name: part.astype(np.float64) for name, part in nw.layers_of(weights, *SIZES)._asdict().items()}


def test_features_are_those_of_plain_numpy():
    weights, (inputs, *_) = example()
    got = nw.features(nw.layers_of(weights, *SIZES), inputs)
    np.testing.assert_allclose(got, deep_oracle.features(as_oracle(weights), inputs), atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_that_of_finite_differences(seed):
    weights, batch = example(seed)
    gradient = np.empty_like(weights)
    into = nw.layers_of(gradient, *SIZES)
    value = nw.gradient(nw.layers_of(weights, *SIZES), into, *batch)
    net = as_oracle(weights)
    assert value == pytest.approx(deep_oracle.loss(net, *batch), rel=1e-5)
    for name, part in into._asdict().items():
        expected = [deep_oracle.slope(net, name, index, *batch) for index in np.ndindex(part.shape)]
        np.testing.assert_allclose(part.ravel(), expected, atol=2e-4, err_msg=name)


def test_adam_takes_steps_of_its_rate_whatever_the_size_of_the_gradient():
    for size in (1e-3, 1e3):
        weights, first, second = (np.zeros(2, np.float32) for _ in range(3))
        for t in range(1, 4):
            ly.adam(weights, np.array([size, -size], np.float32), first, second, 0.1, t)
        np.testing.assert_allclose(weights, [-0.3, 0.3], rtol=1e-4)
