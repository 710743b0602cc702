"""Live traces: the same z as a dense one, at the cost of the live entries."""

import numpy as np
import pytest

from conftest import random_stream
from ucls.kernels import active as la
from ucls.kernels import traces as tr


def follow_dense(trace, steps, seed=0):
    """Decay a live trace and a dense one along the same stream; `alive` marks what differs from 0 exactly."""
    d = len(trace.z)
    z, alive = np.zeros(d), np.zeros(d, bool)
    rng = np.random.default_rng(seed)
    for xs, a, _, gamma, _, _ in random_stream(rng, d, 2, 3, steps):
        x = la.of_action(xs, a)
        tr.decay_live(trace, 0.8 * gamma, x)
        z *= 0.8 * gamma
        alive &= gamma > 0
        z[x.index] += x.value
        alive[x.index] = True
        yield z, alive


def members(trace):
    return sorted(trace.live[: trace.count[0]].tolist())


def test_live_trace_is_the_dense_trace_down_to_its_floor():
    trace = tr.live_trace(400, np.float64)
    most = 0
    for z, _ in follow_dense(trace, 2000):
        np.testing.assert_allclose(trace.z, np.where(np.abs(z) < 1e-16, 0, z), rtol=1e-12, atol=2e-16)
        assert members(trace) == np.flatnonzero(trace.z).tolist() == np.flatnonzero(trace.member).tolist()
        most = max(most, trace.count[0])
    assert 100 < most < 390, "it must have dropped some to be a test"


def test_at_a_floor_of_0_nothing_is_dropped_but_by_a_discount_of_0():
    """Under a decay of 0.8 a trace underflows after about 3000 steps; it is live all the same."""
    trace = tr.live_trace(40, np.float64, floor=0.0)
    trace.z[39], trace.member[39], trace.live[0], trace.count[0] = 1e-289, 1, 39, 1
    first = la.Active(np.array([0]), np.array([1.0]))
    for _ in range(200):
        tr.decay_live(trace, 0.8, first)
    assert trace.z[39] == 0.0
    assert members(trace) == [0, 39]
    tr.decay_live(trace, 0.0, first)
    assert members(trace) == [0]
    for z, alive in follow_dense(tr_zero := tr.live_trace(40, np.float64, floor=0.0), 500):
        assert members(tr_zero) == np.flatnonzero(alive).tolist()
        np.testing.assert_allclose(tr_zero.z, z, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_move_along_the_trace(dtype):
    trace = tr.live_trace(50, dtype)
    w = np.ones(50, dtype)
    for _ in follow_dense(trace, 30):
        expected = w + dtype(0.25) * trace.z
        tr.add_live(w, 0.25, trace)
        np.testing.assert_allclose(w, expected, rtol=1e-6)
    assert w.dtype == dtype
