"""Traces: which discount decays them, z is the dense one whatever is kept, and live ones drop what is nothing."""

import numpy as np
import pytest

from support.transitions import random_stream
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import traces as tr


@pytest.mark.parametrize(
    ("which", "decays"),
    [(tr.PREVIOUS, [0.0, 0.9, 0.8, 0.0, 0.7]), (tr.CURRENT, [0.9, 0.8, 0.0, 0.7, 0.6])],
    ids=["previous", "current"],
)
def test_a_trace_decays_by_the_previous_discount_from_0_in_every_episode_or_by_the_current_one(which, decays):
    """Three transitions to an end, then two of the next episode."""
    last, found = np.zeros(1), []
    for gamma in (0.9, 0.8, 0.0, 0.7, 0.6):
        found.append(tr.discount(last, which, gamma))
        assert last[0] == gamma
    assert found == decays
    tr.restart(last, which)  # a time limit, where no discount of 0 tells of an end
    assert last[0] == (0.0 if which == tr.PREVIOUS else 0.6)


def test_a_dense_trace_is_that_of_numpy_and_knows_what_underflow_hides():
    trace, z = tr.trace(12, np.float64), np.zeros(12)
    for t, (xs, a, _, gamma, _, _) in enumerate(random_stream(np.random.default_rng(1), 12, 2, 2, 60)):
        decay = 0.0 if t == 40 else 0.8 * gamma
        x = la.of_action(xs, a)
        tr.decay_and_add(trace, 12, decay, x)
        z *= decay
        z[x.index] += x.value
        np.testing.assert_allclose(trace.z, z, rtol=1e-12)
        assert tr.above(trace, 12, 0.1).tolist() == np.flatnonzero(np.abs(z) > 0.1).tolist()
        assert tr.above(trace, 12, 0.0).tolist() == np.flatnonzero(z).tolist()
    trace.z[:] = 1e-289
    alive = tr.above(trace, 12, 0.0).tolist()
    for _ in range(200):
        tr.decay_and_add(trace, 12, 0.8, la.Active(np.array([0]), np.array([0.0])))
    assert not trace.z.any()
    assert tr.above(trace, 12, 0.0).tolist() == alive != []


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
