"""The step of `ucls-exact` beside that of `ucls`, with and without its noise term, and its drift over many steps."""

from typing import Any

import numpy as np

from bench import ceiling, native
from bench.harness import Effort, Job, interleave, ratio, spread
from bench.step import QUICK, SIZES
from bench.steps.kernel import ExactKernel, Kernel
from bench.steps.stream import make_stream
from bench.tables import Table, number, within

NAMES = ("ucls", "ucls-exact", "ucls-exact, no noise")
DRIFT_STEPS, DRIFT_D = 1_000_000, 64


def measure(effort: Effort) -> dict[str, Any]:
    """Time the three at every size, and see how far A^-1 has drifted from the inverse of A."""
    cases = [case(d, dtype, effort.of(6.0, 0.7), effort.of(5, 3)) for d, dtype in effort.of(SIZES, QUICK)]
    steps = effort.of(DRIFT_STEPS, 20_000)
    return {"cases": cases, "drift": [drift(dtype, steps) for dtype in ("float64", "float32")]}


def case(d: int, dtype: str, seconds: float, at_least: int = 5) -> dict[str, Any]:
    """Time the three at one size, in turns."""
    stream = make_stream(d)
    learners: dict[str, Any] = {
        "ucls": Kernel(stream, dtype),
        "ucls-exact": ExactKernel(stream, dtype),
        "ucls-exact, no noise": ExactKernel(stream, dtype, noise=False),
    }
    for learner in learners.values():
        learner.run(64)
    jobs = {name: Job(learner.run, learner.unit) for name, learner in learners.items()}
    if native.compiler():
        from bench.steps.c import Native

        jobs["ucls in C"] = Job(Native(stream, dtype).run, Native.unit)
    limits = ceiling.jobs(d, dtype) if native.compiler() else {}
    samples = interleave({**jobs, **limits}, seconds, at_least)
    for name, learner in learners.items():
        if not np.isfinite(learner.w).all():
            raise ArithmeticError(f"{name} diverged at d = {d}: its time means nothing")
    best = ceiling.binding(samples)[1] if limits else None
    return {
        "d": d,
        "dtype": dtype,
        "us": {name: spread(samples[name]) for name in jobs},
        "over_ucls": {name: ratio(samples[name], samples["ucls"]) for name in jobs},
        "ceiling": None if best is None else spread(best),
    }


def drift(dtype: str, steps: int) -> dict[str, Any]:
    """How far A^-1 is from the inverse of A after some steps, and how often a transition was weighed less.

    A is summed here in double precision, in the open.
    """
    stream = make_stream(DRIFT_D, 4096)
    learner = ExactKernel(stream, dtype)
    _, index, value, r, gamma = stream
    dense = np.zeros((len(index), DRIFT_D))
    np.put_along_axis(dense, index, value, axis=1)
    lambda_ = learner.hyper.lambda_
    A, z = np.zeros((DRIFT_D, DRIFT_D)), np.zeros(DRIFT_D)
    whole = np.zeros_like(A)
    for t in range(2 * len(r)):  # the trace repeats itself after one round
        z = gamma * lambda_ * z + dense[t % len(r)]
        step = np.outer(z, dense[t % len(r)] - gamma * dense[t % len(r) + 1])
        A += step
        whole += step if t >= len(r) else 0.0
    rounds = max(2, steps // len(r))
    learner.run(rounds * len(r))
    A += (rounds - 2) * whole + learner.state.kappa[0] * np.eye(DRIFT_D)
    lazy = learner.state.inverse
    count = lazy.count[0]
    inverse = lazy.M - lazy.left[:count].T @ lazy.right[:count]
    off = np.abs(inverse.astype(np.float64) @ A - np.eye(DRIFT_D)).max()
    return {"dtype": dtype, "steps": rounds * len(r), "off": float(off), "guarded": int(learner.state.guarded[0])}


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds per step, the ratio to `ucls`, and the numerical drift."""
    names = list(found["cases"][0]["us"])
    times, ratios = [], []
    for c in found["cases"]:
        label, top = f"{c['d']} {c['dtype']}", c["ceiling"]
        times.append([label, *(number(c["us"][name][1]) for name in names), number(top[1]) if top else "-"])
        ratios.append([label, *(within(c["over_ucls"][name]) for name in names if name != "ucls")])
    drifts = [[d["dtype"], f"{d['steps']:,}", f"{d['off']:.1g}", str(d["guarded"])] for d in found["drift"]]
    return [
        Table(
            "UCLS-Exact step, microseconds",
            ["d, type", *names, "ceiling of ucls"],
            times,
            "Medians, on the same transitions as the UCLS step. The ceiling is that of one pass over two matrices per"
            " step; `ucls-exact` applies sixteen updates at a time, so it can be faster.",
        ),
        Table(
            "UCLS-Exact step, relative to ucls",
            ["d, type", *(name for name in names if name != "ucls")],
            ratios,
            "Medians of the ratios of interleaved runs, with quartiles.",
        ),
        Table(
            "Numerical drift of UCLS-Exact",
            ["type", "steps", "largest entry of A^-1 A - I", "downweighted updates"],
            drifts,
            f"Repeating transitions, d = {DRIFT_D}; A is accumulated separately in double precision.",
        ),
    ]
