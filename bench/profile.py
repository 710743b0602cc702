"""Where the time of a step goes: the step taken apart, with a clock between its kernels."""

import ctypes
from typing import Any

import numpy as np

from bench.harness import Effort, spread
from bench.steps.kernel import Kernel
from bench.steps.stream import N_ACTIONS, make_stream
from bench.tables import Table, number
from ucls.algorithms import ucls
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import system as sy
from ucls.kernels.linear_algebra import traces as tr
from ucls.kernels.linear_algebra.products import transposed_times_both

PARTS = ("act", "trace, b", "A: sparse", "A: pass", "B: sparse", "nu", "B: pass", "C", "w")
SIZES = ((128, "float64"), (512, "float64"), (512, "float32"), (1024, "float64"), (2048, "float64"))
QUICK = ((128, "float64"), (512, "float64"))
MONOTONIC = 1

clock_gettime: Any = ctypes.CDLL(None).clock_gettime
clock_gettime.argtypes = [ctypes.c_int, ctypes.c_void_p]

act, raise_initial, average_where = ucls.act, ucls.raise_initial, ucls.average_where


@jit
def _mark(now, marks, part):
    clock_gettime(MONOTONIC, now.ctypes)
    marks[part] = now[0] * 1_000_000_000 + now[1]


@jit
def stamped_step(state, hyper, xs, a, r, gamma, xs_next, a_next, rng, now, marks):
    """Choose an action, then do what `ucls.update` does, with the clock read after each part."""
    _mark(now, marks, 0)
    act(state, hyper, xs, rng)
    _mark(now, marks, 1)
    system, z, nu, w, beta = state.system, state.trace.z, state.nu, state.system.w, hyper.beta
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(system.seen, x), la.see(system.seen, x_next))
    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    tr.decay_and_add(state.trace, n, state.gamma[0] * hyper.lambda_, x)
    la.average(system.b, n, beta, r, z)
    _mark(now, marks, 2)
    sy.average_outer(system, n, beta, z, x, gamma, x_next)
    _mark(now, marks, 3)
    g, v = sy.gradient_and_residual(system, n, x)
    _mark(now, marks, 4)
    alpha = min(1.0, hyper.b_step / (system.norm2[0] * la.square(x) + 1.0))
    sy.subtract_outer(system.Bt, n, alpha, g, x)
    _mark(now, marks, 5)
    la.average(nu, n, beta, delta, z)
    _mark(now, marks, 6)
    avec, Bv = transposed_times_both(system.Bt, n, nu, v)
    _mark(now, marks, 7)
    raise_initial(state, n, avec)
    average_where(state, hyper, n, beta, avec)
    _mark(now, marks, 8)
    sy.precondition(w, n, hyper.w_step, Bv, hyper.eta, v)
    state.gamma[0] = gamma
    _mark(now, marks, 9)


@jit
def _along(state, hyper, index, value, r, gamma, rng, now, marks):
    for t in range(len(marks)):
        i = t % len(r)
        xs, xs_next = la.Active(index[i], value[i]), la.Active(index[i + 1], value[i + 1])
        stamped_step(state, hyper, xs, 0, r[i], gamma, xs_next, 0, rng, now, marks[t])


def walk(learner: Kernel, steps: int) -> np.ndarray:
    """Take steps from the beginning of the stream; return the microseconds of every part of every one."""
    s = learner.stream
    first = s.index // N_ACTIONS * N_ACTIONS
    every = np.stack([s.index, *(first + a for a in range(1, N_ACTIONS))], axis=1)
    value = np.repeat(s.value[:, None], N_ACTIONS, axis=1)
    marks = np.zeros((steps, len(PARTS) + 1), np.int64)
    now = np.zeros(2, np.int64)
    _along(learner.state, learner.hyper, every, value, s.r, s.gamma, learner.rng, now, marks)
    return np.diff(marks, axis=1) / 1e3


def measure(effort: Effort) -> dict[str, Any]:
    """Take the step apart at several sizes."""
    cases = []
    for d, dtype in effort.of(SIZES, QUICK):
        steps = int(effort.of(3e9, 2e8) / (500 * d * d)) + 50  # a few seconds each, guessing half a ns for d^2
        parts = walk(Kernel(make_stream(d), dtype), steps)[20:]
        us = {name: spread(parts[:, i]) for i, name in enumerate(PARTS)}
        cases.append({"d": d, "dtype": dtype, "us": us, "all": spread(parts.sum(axis=1))})
    return {"cases": cases}


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds of each part."""
    rows = []
    for c in found["cases"]:
        cells = [f"{number(us[1])} ({us[1] / c['all'][1]:.0%})" for us in c["us"].values()]
        rows.append([f"{c['d']} {c['dtype']}", *cells, number(c["all"][1])])
    return [
        Table(
            "Time per operation of a UCLS step, microseconds",
            ["d, type", *PARTS, "total"],
            rows,
            "Medians over steps, including 0.02 to 0.05 µs for the clock. `act` chooses among 4 actions.",
        )
    ]
