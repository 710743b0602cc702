"""Off-policy intervals over gamma^2 lambda^2 E[rho^2]: `python -m bench.off_policy [--runs N]` prints a table.

In every state of a chain the behavior policy takes the first successor with one chance and the target policy with
another; the other successors share the rest. The features are exact, so that the limit is the target policy's value.
"""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.evaluation import LSTD
from ucls.evaluation.chains import Chain, domains, noise_of, simulate
from ucls.evaluation.lstd import factor_of

CASES = (("garnet", 0.33, 0.5), ("garnet", 0.2, 0.6), ("garnet", 0.1, 0.7), ("random_walk", 0.5, 0.7))
LAMBDAS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
STEPS, P = 2000, 0.1
NAMES = ("leave_one_out", "sandwich", "robust")


class Row(NamedTuple):
    """Coverage of 90% intervals with the normal factor, in percent, and the root mean square error of values."""

    chain: str
    behavior: float
    target: float
    lambda_: float
    growth: float
    size: float
    coverage: tuple[float, ...]
    error: float


def acted(chain: Chain, chance: float) -> Chain:
    """Return the chain under a policy that takes the first successor of every state with this probability."""
    P = np.zeros_like(chain.P)
    for row, before in zip(P, chain.P, strict=True):
        to = np.flatnonzero(before)
        row[to] = (1 - chance) / max(1, len(to) - 1)
        row[to[0]] = chance if len(to) > 1 else 1.0
    return chain._replace(P=P)


def measure(name: str, behavior: float, target: float, lambda_: float | None, runs: int, steps: int = STEPS) -> Row:
    """Walk the chain under the behavior policy and evaluate the target policy, repeatedly."""
    chain = noise_of(domains()[name], "iid")
    walked, wanted = acted(chain, behavior), acted(chain, target)
    ratio = np.divide(wanted.P, walked.P, out=np.zeros_like(walked.P), where=walked.P > 0)
    X, truth, often = np.eye(len(ratio)), wanted.values(), walked.stationary()
    inside, errors, reports = np.zeros(len(NAMES)), [], []
    for run in range(runs):
        states, rewards, discounts = simulate(walked, steps, np.random.default_rng([run, 1]))
        here, there = states[:-1], states[1:]
        lstd = LSTD(len(X), lambda_)
        lstd.observe_batch(here[:, None], rewards, discounts, there[:, None], ratio[here, there])
        error = np.abs(lstd.value(X) - truth)
        errors.append(often @ error**2)
        reports.append((lstd.report().growth, lstd.report().effective_sample_size, lstd.lambda_))
        inside += [often @ (error <= factor_of(P, "normal") * _standard_error(lstd, X, each)) for each in NAMES]
    growth, size, used = np.mean(reports, axis=0)
    return Row(name, behavior, target, used, growth, size, tuple(100 * inside / runs), float(np.sqrt(np.mean(errors))))


def _standard_error(lstd: LSTD, X: np.ndarray, estimator: str) -> np.ndarray:
    """Return `LSTD.standard_error` without its refusal."""
    try:
        return lstd.standard_error(X, estimator)
    except UserError:
        S = lstd.spread(estimator).covariance
        return np.sqrt(np.maximum(0.0, np.einsum("ni,ij,nj->n", X[:, : len(S)], S, X[:, : len(S)])))


def table(rows: Iterator[Row]) -> str:
    """The rows as Markdown."""
    names = [f"`{name}`" for name in NAMES]
    heads = ["chain, behavior → target", "lambda", "growth", "effective size", *names, "error"]
    lines = ["| " + " | ".join(heads) + " |", "| --- " + "| ---: " * (len(heads) - 1) + "|"]
    for row in rows:
        cells = [f"{row.chain}, {row.behavior:g} → {row.target:g}", f"{row.lambda_:.1f}", f"{row.growth:.2f}"]
        cells += [f"{row.size:,.0f}", *(f"{each:.0f}" for each in row.coverage), f"{row.error:.2g}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.off_policy", description="Measure off-policy intervals.")
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    print(table(measure(*case, lambda_, runs) for case in CASES for lambda_ in LAMBDAS))
