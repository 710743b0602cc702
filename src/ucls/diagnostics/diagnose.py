"""Diagnose some runs that differ in their seeds: readings, verdicts, and the policies they end with."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.diagnostics.policies import Policies, policies
from ucls.diagnostics.probe import POINTS, probed
from ucls.diagnostics.verdict import Verdict, verdict
from ucls.runs.history import History
from ucls.runs.loop import make_run

COLUMNS = ("optimism", "covered", "radius", "widest", "value_error", "regret", "bound")


class Diagnosis(NamedTuple):
    """One run: what happened, its readings by name, the verdict, and its last policies unless it diverged."""

    seed: int
    history: History
    readings: dict[str, np.ndarray]
    verdict: Verdict
    policies: Policies | None


class Counts(NamedTuple):
    """How many readings some runs have, at how many optimism holds, and at how many of those regret exceeds f + g."""

    readings: int
    optimistic: int
    above_the_bound: int


def diagnose(
    env: str,
    agent: str,
    steps: int,
    seeds: Iterable[int],
    settings: Mapping[str, object] = {},
    density: str = "start",
    points: int = POINTS,
) -> list[Diagnosis]:
    """Run an agent with every seed and read it along the way."""
    diagnoses = []
    for seed in seeds:
        run = make_run(env, agent, seed=seed, settings=settings)
        history, readings = probed(run, steps, points=points, density=density)
        last = None if history.diverged else policies(run, density)
        diagnoses.append(Diagnosis(seed, history, readings, verdict(readings, history.diverged), last))
    return diagnoses


def headline(diagnoses: Sequence[Diagnosis]) -> str:
    """The verdicts, the most common first.

    >>> headline([])
    ''
    """
    counts = Counter(d.verdict.word for d in diagnoses).most_common()
    if len(diagnoses) == 1:
        return counts[0][0]
    return "; ".join(f"{word} in {count} of {len(diagnoses)} runs" for word, count in counts)


def counts(diagnoses: Sequence[Diagnosis]) -> Counts:
    """Count the readings, those with expected optimism, and those of them at which regret exceeds the bound."""
    optimistic = [d.readings["optimistic"] for d in diagnoses]
    above = [d.readings["optimistic"] & ~d.readings["holds"] for d in diagnoses]
    readings = sum(len(d.readings["step"]) for d in diagnoses)
    return Counts(readings, *(sum(int(np.sum(each)) for each in some) for some in (optimistic, above)))


def as_data(diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """The diagnoses as JSON can hold them."""
    rows = []
    for d in diagnoses:
        row = {"seed": d.seed, "verdict": d.verdict.word, "because": d.verdict.because, "late": d.verdict.late}
        row |= {"total_reward": float(d.history.rewards.sum()), "last_fifth_reward": d.history.last_fifth_reward}
        if d.policies is not None:
            row["regret_mean"], row["regret_bound"] = d.policies.regrets()
        rows.append(row | {"readings": {name: values.tolist() for name, values in d.readings.items()}})
    return rows
