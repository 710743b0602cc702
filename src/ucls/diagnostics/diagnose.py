"""Diagnose some runs that differ in their seeds: readings, verdicts, and the policies they end with."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
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
    found: dict[str, np.ndarray]
    verdict: Verdict
    policies: Policies | None


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
        history, found = probed(run, steps, points=points, density=density)
        last = None if history.diverged else policies(run, density)
        diagnoses.append(Diagnosis(seed, history, found, verdict(found, history.diverged), last))
    return diagnoses


def headline(diagnoses: list[Diagnosis]) -> str:
    """The verdicts, the most common first.

    >>> headline([])
    ''
    """
    counts = Counter(d.verdict.word for d in diagnoses).most_common()
    if len(diagnoses) == 1:
        return counts[0][0]
    return "; ".join(f"{word} in {count} of {len(diagnoses)} runs" for word, count in counts)


def print_verdicts(diagnoses: list[Diagnosis], density: str, out: Path | None) -> None:
    """Print what a person wants to know: the verdict, why, and the late readings of every run."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"[bold]{headline(diagnoses)}[/]")
    for d in diagnoses:
        console.print(f"  seed {d.seed}: {d.verdict.word}: {d.verdict.because}", markup=False)
    table = Table(box=SIMPLE_HEAD, padding=0)
    for heading in ("seed", *COLUMNS):
        table.add_column(heading.replace("_", " "), justify="right")
    for d in diagnoses:
        table.add_row(str(d.seed), *(f"{d.verdict.late[name]:.4g}" for name in COLUMNS))
    console.print(table)
    optimum = diagnoses[0].found["optimum"][0]
    console.print(f"medians over the last fifth of the steps; density: {density}; E[Q*] = {optimum:.4g}")
    unsound = sum(int(np.sum(d.found["optimistic"] & ~d.found["holds"])) for d in diagnoses)
    seen = sum(int(d.found["optimistic"].sum()) for d in diagnoses)
    count = sum(len(d.found["step"]) for d in diagnoses)
    console.print(f"optimistic in {seen} of {count} readings; regret above f + g in {unsound} of those")
    if out is not None:
        console.print(f"figure   {out / 'diagnosis.png'}\nnumbers  {out / 'diagnosis.json'}")


def as_data(diagnoses: list[Diagnosis]) -> list[dict[str, Any]]:
    """The diagnoses as JSON can hold them."""
    rows = []
    for d in diagnoses:
        row = {"seed": d.seed, "verdict": d.verdict.word, "because": d.verdict.because, "late": d.verdict.late}
        row |= {"total_reward": float(d.history.rewards.sum()), "last_fifth_reward": d.history.last_fifth_reward}
        if d.policies is not None:
            row["regret_mean"], row["regret_bound"] = d.policies.regrets()
        rows.append(row | {"readings": {name: values.tolist() for name, values in d.found.items()}})
    return rows
