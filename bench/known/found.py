"""The runs behind the page: those of built-in algorithms from the store, and CSV files of runs."""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.known.tasks import TASKS, measured_of, reached, task_of
from ucls.study.storage.store import Store

SHOWN = ("DQN", "QR-DQN", "PPO")  # deep agents beside the others


class Found(NamedTuple):
    """One run; a measurement is None if there is no value."""

    task: str
    agent: str
    seed: int
    steps: int
    final_return: float | None
    greedy_return: float | None
    greedy_episodes: int
    steps_to_threshold: int | None
    cpu_seconds: float
    diverged: bool
    commit: str


def of_store(store: Path, name: str) -> list[Found]:
    """The runs of a study that were measured."""
    measured = {line["id"]: line for line in _lines(measured_of(store))}
    runs = []
    with Store(store) as opened:
        for label, cell in opened.members(name):
            line, result = measured.get(cell.id), opened.result(cell.id)
            if line is None or result is None:
                continue
            task = task_of(cell.env, dict(cell.settings))
            last = result.metrics.mean_return if result.metrics.final_return is None else result.metrics.final_return
            after = reached(result.arrays["episode_steps"], result.arrays["episode_returns"], task.threshold)
            tried = (line["greedy"], line.get("episodes", 0))
            about = (line["cpu"], result.diverged, line["commit"])
            runs.append(Found(task.title, label, cell.seed, cell.steps, last, *tried, after, *about))
    return runs


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def merged(earlier: Iterable[Found], runs: Iterable[Found]) -> list[Found]:
    """All runs; one with the task, agent and seed of an earlier one replaces it."""
    by_name = {(run.task, run.agent, run.seed): run for run in earlier}
    return list((by_name | {(run.task, run.agent, run.seed): run for run in runs}).values())


def together(runs: Sequence[Found], deep: Iterable[Found]) -> list[Found]:
    """All runs in the environments of the page; those of deep agents with tuned settings replace the agent's others."""
    titles = {run.task for run in runs}
    tuned = [run for run in deep if run.task in titles and run.agent in SHOWN]
    pairs = {(run.task, run.agent) for run in tuned}
    return ordered([run for run in runs if (run.task, run.agent) not in pairs] + tuned)


def ordered(runs: Iterable[Found]) -> list[Found]:
    """Runs in the order of the page: environments as listed, agents and seeds in their given order."""
    places = {task.title: i for i, task in enumerate(TASKS)}
    return sorted(runs, key=lambda run: places[run.task])


def as_csv(path: Path, runs: Iterable[Found]) -> None:
    """Write the runs as a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Found._fields)
        writer.writerows(["" if value is None else _short(value) for value in run] for run in runs)


def of_csv(path: Path) -> list[Found]:
    """The runs in a CSV file."""
    kinds = {"task": str, "agent": str, "commit": str, "final_return": float, "greedy_return": float}
    kinds |= {"cpu_seconds": float, "diverged": lambda text: bool(int(text))}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [Found(**{name: kinds.get(name, int)(text) if text else None for name, text in row.items()}) for row in rows]


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else int(value) if isinstance(value, bool) else value
