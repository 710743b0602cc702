"""LAPACK called by kernels compared with SciPy, and with our own elimination, which recorded runs use."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from bench.harness import Effort, Job, interleave, ratio, spread
from bench.tables import Table, within
from ucls.kernels import cholesky, cholesky_solve, inverse, jit, solve
from ucls.kernels.linear_algebra import solvers
from ucls.kernels.linear_algebra import system as sy

SIZES, QUICK = (50, 100, 200, 500, 1000, 2000), (50, 200)
LARGEST = 1000  # for our own elimination, which takes seconds beyond
PAIRS = {
    "solve": "scipy.linalg.solve",
    "cholesky, cholesky_solve": "scipy.linalg.cho_factor, cho_solve",
    "inverse": "scipy.linalg.inv",
}


def measure(effort: Effort) -> dict[str, Any]:
    """Time both on the same symmetric positive definite matrix, interleaved."""
    found: dict[str, Any] = {}
    for n in effort.of(SIZES, QUICK):
        samples = interleave(_jobs(n), effort.of(6.0, 0.3), at_least=3)
        found[str(n)] = {
            "us": {name: spread(values) for name, values in samples.items()},
            "times_ours": {name: ratio(samples[theirs], samples[name]) for name, theirs in PAIRS.items()},
        }
    return found


def _jobs(n: int) -> dict[str, Job]:
    rng = np.random.default_rng(n)
    X, b = rng.normal(size=(2 * n, n)), rng.normal(size=n)
    A = X.T @ X / n + np.eye(n)
    system = sy.equations(n, np.float64)
    system.At[:], system.b[:], system.scale[0] = A, b, 1.0
    jobs = {
        "solve": _repeat(solve, A, b),
        "scipy.linalg.solve": lambda times: [scipy.linalg.solve(A, b, assume_a="gen") for _ in range(times)],
        "cholesky, cholesky_solve": _repeat(_solve_positive, A, b),
        "scipy.linalg.cho_factor, cho_solve": lambda times: [
            scipy.linalg.cho_solve(scipy.linalg.cho_factor(A, lower=True), b) for _ in range(times)
        ],
        "inverse": _repeat(inverse, A),
        "scipy.linalg.inv": lambda times: [scipy.linalg.inv(A) for _ in range(times)],
    }
    if n <= LARGEST:
        jobs["solvers.eliminate"] = _repeat(solvers.eliminate, system, n, 0.0)
    return {name: Job(job) for name, job in jobs.items()}


@jit
def _solve_positive(A, b):
    return cholesky_solve(cholesky(A), b)


def _repeat(kernel: Callable[..., object], *args: Any) -> Callable[[int], object]:
    return lambda times: [kernel(*args) for _ in range(times)]


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds of each call, and how many times as long SciPy takes."""
    names = [*PAIRS, "solvers.eliminate"]
    rows = []
    for n, each in found.items():
        times = (f"{each['us'][name][1]:.4g}" if name in each["us"] else "-" for name in names)
        rows.append([n, *times, *(within(each["times_ours"][name]) for name in PAIRS)])
    return [
        Table(
            "LAPACK in kernels, microseconds, and SciPy over ours",
            ["n", *names, *(f"SciPy / {name}" for name in PAIRS)],
            rows,
            "Medians on one core with one thread; the ratios with quartiles. One right-hand side.",
        )
    ]
