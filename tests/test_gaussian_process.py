"""Gaussian processes: rows appended one at a time give what a solve from scratch gives."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from ucls.kernels.linear_algebra import gaussian_process as gps

BANDWIDTH, NOISE, ACTIONS, DIM = 0.03, 0.1, 3, 2


def filled(points, capacity=300, dtype=np.float64, noise=NOISE):
    """Processes with random points at random actions, and the data by action."""
    rng = np.random.default_rng(1)
    gp = gps.processes(ACTIONS, DIM, capacity, dtype)
    data = [([], []) for _ in range(ACTIONS)]
    for s in rng.uniform(size=(points, DIM)):
        a, q = int(rng.integers(ACTIONS)), float(rng.normal())
        v = np.empty(gp.n[a] + 1, dtype)
        left = gps.variance(gp, a, BANDWIDTH, s, v, -1.0)
        gps.add(gp, a, noise, s, q, v, left)
        data[a][0].append(s)
        data[a][1].append(q)
    return gp, data


def posterior(gp, a, s):
    v = np.empty(gp.n[a], gp.L.dtype)
    variance = gps.variance(gp, a, BANDWIDTH, s, v, -1.0)
    return gps.mean(gp, a, v), variance


def from_scratch(data, a, s):
    points, q = np.array(data[a][0]), np.array(data[a][1])
    covariance = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / (2 * BANDWIDTH)) + NOISE * np.eye(len(q))
    k = np.exp(-np.sum((points - s) ** 2, axis=1) / (2 * BANDWIDTH))
    factor = cho_factor(covariance)
    return k @ cho_solve(factor, q), 1 - k @ cho_solve(factor, k)


def test_mean_and_variance_equal_a_solve_from_scratch():
    gp, data = filled(400)
    assert gp.n.min() > 100
    for s in np.random.default_rng(2).uniform(-0.2, 1.2, size=(100, DIM)):
        for a in range(ACTIONS):
            np.testing.assert_allclose(posterior(gp, a, s), from_scratch(data, a, s), rtol=1e-9, atol=1e-11)


def test_adding_returns_the_posterior_at_the_new_point():
    gp, _ = filled(60)
    s = np.array([0.3, 0.7])
    v = np.empty(gp.n[1] + 1)
    left = gps.variance(gp, 1, BANDWIDTH, s, v, -1.0)
    np.testing.assert_allclose(gps.add(gp, 1, NOISE, s, 2.5, v, left), posterior(gp, 1, s), rtol=1e-10)
    # a second sample of one place, alone there: noise / (2 + noise) of the variance is left
    gps.clear(gp)
    for n in (1, 2):
        v = np.empty(n)
        mean, variance = gps.add(gp, 0, NOISE, s, 3.0, v, gps.variance(gp, 0, BANDWIDTH, s, v, -1.0))
        assert variance == pytest.approx(NOISE / (n + NOISE))
        assert mean == pytest.approx(3.0 * n / (n + NOISE))


def test_stopping_early_decides_the_same():
    gp, _ = filled(200)
    v = np.empty(gp.n.max())
    decided = []
    for s in np.random.default_rng(3).uniform(-0.1, 1.1, size=(300, DIM)):
        whole, stopped = gps.variance(gp, 0, BANDWIDTH, s, v, -1.0), gps.variance(gp, 0, BANDWIDTH, s, v, 0.05)
        assert (whole <= 0.05) == (stopped <= 0.05)
        assert stopped >= whole
        decided.append(whole <= 0.05)
    assert 0.1 < np.mean(decided) < 0.9


def test_more_room_changes_no_bit():
    small, _ = filled(150, capacity=90)
    large = gps.with_room(small, 137)
    assert large.y.shape == (ACTIONS, 137)
    assert large.L.shape == (ACTIONS, 137 * 138 // 2)
    for s in np.random.default_rng(4).uniform(size=(50, DIM)):
        assert posterior(small, 2, s) == posterior(large, 2, s)


def test_float32_follows_float64():
    (single, _), (double, _) = filled(300, dtype=np.float32), filled(300)
    assert single.L.dtype == np.float32
    for s in np.random.default_rng(5).uniform(size=(50, DIM)):
        np.testing.assert_allclose(posterior(single, 0, s), posterior(double, 0, s), atol=1e-4)
