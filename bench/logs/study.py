"""Replications: how often intervals cover, how often "better" is wrong, and how often a verdict is reached.

In every replication a log is simulated and two policies are compared with the logged one: a new one, and one with the
same probabilities as the logged one, whose difference is 0, so that "better" and "worse" are both wrong. A plain
percentile bootstrap of per-decision importance sampling over episodes decides on the same logs.
"""

import csv
import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.logs.domains import Array, Domain, changing, domains, simulate, true_value
from ucls.evaluation.comparison.basis import Scale, fourier_basis
from ucls.evaluation.comparison.comparer import Comparer
from ucls.evaluation.comparison.estimators import importance
from ucls.evaluation.comparison.policies import on_log
from ucls.evaluation.logs import EpisodeLog, read_log

SIZES = (50, 200, 1000, 5000)
RUNS = (400, 400, 120, 30)
SLOW, RARELY = ("cart_pole", "puddle_world"), 4  # environments with a fraction of the replications
CONFIDENCE, RESAMPLES = 0.9, 200
PARTS = 20  # rounds over all cases, so that an interrupted study has about equally many replications of each


class Case(NamedTuple):
    """A domain, and what is unusual about it: poor features, or no logged probabilities."""

    domain: str
    kind: str = ""

    @property
    def name(self) -> str:
        """The name in tables and files."""
        return f"{self.domain}, {self.kind}" if self.kind else self.domain


CASES = (
    *(Case(name) for name in domains()),
    Case("inventory", "poor features"),
    Case("inventory", "fitted probabilities"),
    Case("garnet", "fitted probabilities"),
    Case("inventory", "changing demand"),
)


class Row(NamedTuple):
    """One replication; coverage and decisions are 0 or 1."""

    case: str
    episodes: int
    run: int
    covers_logged: int
    covers_new: int
    covers_difference: int
    covers_equal: int
    better: int
    worse: int
    wrong: int
    equal_decided: int
    estimate: float
    width: float
    estimator: str
    features: int
    bootstrap_covers: int
    bootstrap_better: int
    bootstrap_wrong: int
    seconds: float


class Truth(NamedTuple):
    """The true values of both policies."""

    logged: float
    new: float

    @property
    def difference(self) -> float:
        """The true difference."""
        return self.new - self.logged


@functools.cache
def truth_of(name: str) -> Truth:
    """The true values of the logged and of the new policy."""
    domain = domains()[name]
    return Truth(*(domain.truth or (true_value(domain, policy) for policy in (domain.behavior, domain.new))))


def poor_features(log: EpisodeLog) -> Any:
    """Three Fourier features of the state, which cannot represent the values."""
    return fourier_basis(2, 1, Scale(log)).rows


def replicate(case: Case, episodes: int, run: int, truth: Truth) -> Row:
    """Simulate a log, compare, and record what was right."""
    domain = domains()[case.domain]
    rng = np.random.default_rng([run, episodes, *case.name.encode()])
    table = changing(episodes, rng) if case.kind == "changing demand" else simulate(domain, episodes, rng)
    if case.kind == "fitted probabilities":
        del table["propensity"]
    began = time.perf_counter()
    log = read_log(table, gamma=domain.gamma)
    comparer = Comparer(log, CONFIDENCE, poor_features(log) if case.kind == "poor features" else None)
    found = comparer.run({"new": domain.new})
    [new], [equal] = found.candidates, comparer.run({"equal": domain.behavior}).candidates
    seconds = time.perf_counter() - began
    low, high = bootstrap(log, domain, rng)
    D = truth.difference

    def covers(span: Any, value: float) -> int:
        return int(span.low <= value <= span.high)

    return Row(
        case.name, episodes, run, covers(found.logged, truth.logged), covers(new.value, truth.new),
        covers(new.difference, D), covers(equal.difference, 0.0), int(new.verdict == "better"),
        int(new.verdict == "worse"), int(new.verdict == ("worse" if D > 0 else "better")),
        int(equal.verdict == "better") - int(equal.verdict == "worse"), new.difference.estimate,
        new.difference.high - new.difference.low, new.estimator, found.n_features, int(low <= D <= high), int(low > 0),
        int(high < 0 if D > 0 else low > 0), seconds,
    )  # fmt: skip


def bootstrap(log: EpisodeLog, domain: Domain, rng: np.random.Generator) -> tuple[float, float]:
    """A percentile bootstrap of the difference of per-decision importance sampling and the mean return."""
    probability = log.probability
    if probability is None:
        probability = domain.behavior(log.states)[np.arange(log.n_steps), log.action]
    weight = importance.weights(log, importance.ratios(log, on_log(domain.new, log), probability))
    terms: Array = np.add.reduceat(log.discounting * (weight - 1) * log.reward, log.first[:-1])
    means = [terms[rng.integers(0, len(terms), len(terms))].mean() for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def run_all(path: Path, runs: dict[int, int], cases: tuple[Case, ...] = CASES) -> Iterator[Row]:
    """Make the replications that are missing from a file, and append them; rounds alternate between all cases."""
    done = {(row["case"], int(row["episodes"]), int(row["run"])) for row in read_rows(path)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done and not path.stat().st_size:
            writer.writerow(Row._fields)
        for part in range(PARTS):
            for episodes, total in runs.items():
                for case in cases:
                    mine = total // RARELY if case.domain in SLOW else total
                    for run in range(part * mine // PARTS, (part + 1) * mine // PARTS):
                        if (case.name, episodes, run) in done:
                            continue
                        row = replicate(case, episodes, run, truth_of(case.domain))
                        writer.writerow(row)
                        file.flush()
                        yield row


def read_rows(path: Path) -> list[dict[str, str]]:
    """The replications in a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
