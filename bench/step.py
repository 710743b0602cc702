"""The UCLS step compared with other implementations, and with the roofline of the machine."""

from typing import Any

import numpy as np

from bench import ceiling, native
from bench.harness import Effort, Job, interleave, ratio, spread
from bench.steps import OURS, versions
from bench.steps.stream import make_stream
from bench.tables import Table, number, within

SIZES = [(d, dtype) for dtype in ("float64", "float32") for d in (128, 256, 512, 1024, 2048)]
QUICK = [(128, "float64"), (512, "float64")]
TOLERANCE = {"float64": 1e-8, "float32": 1e-3}
TOGETHER = 64  # steps after which all versions must agree


def measure(effort: Effort) -> dict[str, Any]:
    """Time every version for every size and data type."""
    cases = [case(d, dtype, effort.of(10.0, 0.7), effort.of(5, 3)) for d, dtype in effort.of(SIZES, QUICK)]
    return {"cases": cases, "skipped": cases[0].pop("skipped")}


def case(d: int, dtype: str, seconds: float, at_least: int = 5) -> dict[str, Any]:
    """Time every version at one size, after checking that they agree."""
    learners, skipped = versions(make_stream(d), dtype)
    for learner in learners.values():
        learner.run(TOGETHER)
    for name, learner in learners.items():
        check_agreement(name, learner, learners[OURS], TOLERANCE[dtype])
    jobs = {name: Job(learner.run, learner.unit) for name, learner in learners.items()}
    limits = ceiling.jobs(d, dtype) if native.compiler() else {}
    samples = interleave({**jobs, **limits}, seconds, at_least)
    for name, learner in learners.items():
        if not np.isfinite(learner.w).all():
            raise ArithmeticError(f"{name} diverged at d = {d}: its time means nothing")
    binds, best = ceiling.binding(samples) if limits else (None, None)
    return {
        "d": d,
        "dtype": dtype,
        "us": {name: spread(values) for name, values in samples.items()},
        "times_ours": {name: ratio(values, samples[OURS]) for name, values in samples.items()},
        "ceiling": None if best is None else {"binds": binds, "us": spread(best), "part": ratio(best, samples[OURS])},
        "skipped": skipped,
    }


def check_agreement(name: str, one: Any, other: Any, tolerance: float) -> None:
    """Raise unless w and C agree; C relative to its learned entries, which are far smaller than its initial value."""
    learned = np.abs(other.C - np.diag(np.diag(other.C))).max()
    for letter, mine, theirs, size in (("w", one.w, other.w, np.abs(other.w).max()), ("C", one.C, other.C, learned)):
        if not np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * size):
            raise ArithmeticError(f"{name} and {OURS} differ in {letter} by {np.abs(mine - theirs).max():.3g}")


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds per step of every version, and their ratio to `ucls`."""
    names = [name for name in found["cases"][0]["us"] if not name.startswith(("read", "multiply"))]
    skipped = f" Skipped: {'; '.join(found['skipped'])}." if found["skipped"] else ""
    times, ratios = [], []
    for c in found["cases"]:
        label, top = f"{c['d']} {c['dtype']}", c["ceiling"]
        times.append([label, *(number(c["us"][n][1]) for n in names), number(top["us"][1]) if top else "-"])
        last = [within(top["part"]), top["binds"]] if top else ["-", "-"]
        ratios.append([label, *(within(c["times_ours"][n]) for n in names if n != OURS), *last])
    others = [name for name in names if name != OURS]
    return [
        Table(
            "UCLS step, microseconds",
            ["d, type", *names, "ceiling"],
            times,
            "Medians. All d features have been seen, 8 are active, and all versions agree on w and C. The ceiling is a"
            " roofline: the longer of reading both matrices once and of 10 d^2 multiplications and additions."
            f"{skipped}",
        ),
        Table(
            "UCLS step, relative to ucls",
            ["d, type", *others, "fraction of ceiling", "limited by"],
            ratios,
            "Medians of the ratios of interleaved runs, with quartiles. Reading is measured with 1, 2, 4 or 8 streams"
            " at a time, and the fastest counts.",
        ),
    ]
