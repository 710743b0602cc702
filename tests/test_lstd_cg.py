"""LSTD with conjugate gradient: the kernel equals the corrected box; the printed box solves nothing."""

import numpy as np
import pytest

from support import boxes
from support.shadow import assert_close, in_both_precisions, shadow
from support.transitions import dense, follow, random_stream
from support.uncompiled import check_uncompiled
from ucls.algorithms import lstd_cg
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import solvers
from ucls.testing import small_run

KINDS = [(r, f, b) for r in ("inside", "outside") for f in ("constant", "1/t") for b in (0.0, 0.01)]


def check_against_oracle(env, steps, kind=("inside", "constant", 0.0), iterations=3):
    """Few iterations, and each step from the kernel's w: in conjugate gradient the errors of rounding grow fast."""
    regularizer, fading, beta = kind
    settings = {"regularizer": regularizer, "eta_schedule": fading, "beta": beta, "iterations": iterations}
    run = small_run(env, "lstd-cg", seed=7, **settings)
    system = run.learner.state.system
    oracle = boxes.LSTDCG(
        run.learner.coder.size, regularizer=regularizer, fading=fading == "1/t", beta=beta, most=iterations
    )

    def learn(box, t, rng):
        box.update(t.xs[t.a], t.r, t.gamma, t.xs_next[t.a_next])
        np.testing.assert_allclose(system.w, box.w, rtol=1e-8, atol=1e-8 * np.abs(box.w).max())
        box.w = system.w.copy()

    shadow(run, oracle, steps, lambda box, x, rng: x @ box.w, learn)
    for name, mine in {"A": system.At.T * system.scale[0], "b": system.b, "z": run.learner.state.trace.z}.items():
        assert_close(mine, getattr(oracle, name), name)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_kernel_equals_the_box_on_every_environment(unlike, kind):
    check_against_oracle(unlike, 150, kind)


@pytest.mark.parametrize("regularizer", ["inside", "outside"])
def test_every_step_ends_within_the_tolerance(unlike, regularizer):
    """With as many iterations as it takes, w solves the box's system to one part in a thousand after every step."""
    run = small_run(unlike, "lstd-cg", seed=7, regularizer=regularizer, iterations=20000)
    system = run.learner.state.system
    oracle = boxes.LSTDCG(run.learner.coder.size, regularizer=regularizer, most=0)
    for t in follow(run, 100):
        if t.starts:
            oracle.start()
        oracle.update(t.xs[t.a], t.r, t.gamma, t.xs_next[t.a_next])
        M, eta_r = oracle.regularized()
        residual = M.T @ (oracle.b - M @ system.w) - eta_r * system.w
        assert np.linalg.norm(residual) <= 1.001e-3 * np.linalg.norm(M.T @ oracle.b)


def test_plain_python_equals_the_box():
    check_uncompiled("test_lstd_cg", 60)


def stream_system(kind, steps=400, d=48):
    """A and b of a random stream, the kernel's and the box's, and what is to be solved."""
    regularizer, fading, beta = kind
    hyper = lstd_cg.Settings(
        regularizer=("inside", "outside").index(regularizer),
        eta_schedule=("constant", "1/t").index(fading),
        beta=beta,
        eta=1e-3,
    )
    state = lstd_cg.init(hyper, d, 3, 4)
    oracle = boxes.LSTDCG(d, regularizer=regularizer, fading=fading == "1/t", beta=beta, eta=1e-3)
    rng = np.random.default_rng(2)
    for xs, a, r, gamma, xs_next, a_next in random_stream(rng, d, 3, 4, steps, value=1.0):
        lstd_cg.update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)
        oracle.update(dense(xs, d)[a], r, gamma, dense(xs_next, d)[a_next])
    M, eta_r = oracle.regularized()
    return state, oracle, M.T @ M + eta_r * np.eye(d), M.T @ oracle.b


def test_in_solves_the_shifted_system_and_out_the_tikhonov_one():
    state, oracle, *_ = stream_system(("inside", "constant", 0.0))
    n = int(state.system.seen[0])
    solvers.conjugate_gradient(state.system, n, 1e-3, 0.0, 1e-13, 5000)
    shifted = np.linalg.solve(oracle.A + 1e-3 * np.eye(48), oracle.b)
    np.testing.assert_allclose(state.system.w, shifted, rtol=1e-5, atol=1e-7)
    solvers.conjugate_gradient(state.system, n, 0.0, 1e-3, 1e-13, 5000)
    stacked = np.vstack([oracle.A, np.sqrt(1e-3) * np.eye(48)])
    tikhonov = np.linalg.lstsq(stacked, np.concatenate([oracle.b, np.zeros(48)]), rcond=None)[0]
    np.testing.assert_allclose(state.system.w, tikhonov, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("regularizer", ["inside", "outside"])
def test_the_printed_box_does_not_solve_the_system(regularizer):
    """Its steps pass the solution at a distance and leave; the corrected ones arrive."""
    _, oracle, normal, right = stream_system((regularizer, "constant", 0.0))
    M, eta_r = oracle.regularized()
    solution = np.linalg.solve(normal, right)
    start = np.zeros(len(right))

    def error(literal, most):
        w = boxes.conjugate_gradient(M, oracle.b, start, eta_r, literal, tol=1e-20 if literal else 1e-10, most=most)
        return np.linalg.norm(w - solution) / np.linalg.norm(solution)

    assert error(False, 50) < 1e-4
    assert min(error(True, most) for most in range(1, 50)) > 0.3
    assert error(True, 50) > 2
    # nor does it solve the other system of which it has the residual, (A'A + eta_r I) w = b
    other = np.linalg.solve(normal, oracle.b)
    w = boxes.conjugate_gradient(M, oracle.b, start, eta_r, literal=True, tol=1e-20)
    assert np.linalg.norm(w - other) > 0.5 * np.linalg.norm(other)


def test_epsilon_decays_by_its_factor_every_so_many_steps():
    hyper = lstd_cg.Settings(epsilon=0.8, epsilon_decay=0.25, epsilon_every=10)
    state = lstd_cg.init(hyper, 4, 4, 1)
    state.system.w[:] = [1.0, 0.0, 0.0, 0.0]
    xs = la.Active(np.arange(4).reshape(4, 1), np.ones((4, 1)))
    rng = np.random.default_rng(0)
    for t, epsilon in ((0, 0.8), (9, 0.8), (10, 0.2), (25, 0.05)):
        state.t[0] = t
        greedy = np.mean([lstd_cg.act(state, hyper, xs, rng) == 0 for _ in range(4000)])
        np.testing.assert_allclose(greedy, 1 - 0.75 * epsilon, atol=0.03)


def test_one_over_t_weighs_all_samples_the_same():
    state, oracle, *_ = stream_system(("inside", "constant", 0.0), steps=50)
    np.testing.assert_allclose(state.system.At.T * state.system.scale[0], oracle.A, atol=1e-14)
    assert state.system.scale[0] == pytest.approx(1 / 50)


@pytest.mark.slow
def test_float32_follows_float64_on_a_fixed_stream():
    """Both solve to the same tolerance, so they agree as far as it goes."""
    states = in_both_precisions(lstd_cg, lstd_cg.Settings(eta=0.1), 500)
    assert states[1].system.At.dtype == np.float32
    exact, single = (state.system.w for state in states)
    np.testing.assert_allclose(single, exact, atol=5e-3 * np.abs(exact).max())
