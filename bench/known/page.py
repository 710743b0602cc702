"""The data of docs/environments.md, and the sections of that page which are made from them: `python -m tools fill`."""

import csv
import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.deep import tables as deep_tables
from bench.known import found
from bench.known.found import Found
from bench.known.tasks import TASKS, Task
from bench.tables import Table, grid
from ucls._util.files import write_atomic
from ucls.stats import summarize

STUDY, DEFAULT, NAME = "environments", "ucls-plan", "UCLS-Plan"
MEASURED = ("final_return", "greedy_return", "steps_to_threshold", "cpu_seconds")
HEAD = [
    *("environment", "agent", "runs", "diverged", "reached_threshold"),
    *(f"{name}{end}" for name in MEASURED for end in ("", "_low", "_high")),
]


def update(store: Path, data: Path) -> None:
    """Add the runs of the store to the file of runs, replacing earlier ones."""
    earlier = found.of_csv(data) if data.exists() else []
    runs = found.ordered(found.merged(earlier, found.of_store(store, STUDY)))
    data.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(data, lambda path: found.as_csv(path, runs))


def sections(runs: Sequence[Found], deep: Sequence[Found] = ()) -> dict[str, str]:
    """Return the sections of the page, by name; `deep` are the runs of deep agents with tuned settings."""
    every = found.together(runs, deep)
    said = {"finding": finding(every), "runs": counted(runs), "deep runs": counted(deep)}
    shown = [*tables_of(every), deep_tables.table(runs, deep)]
    return {name: textwrap.fill(text, 120) for name, text in said.items()} | {t.title: grid(t) for t in shown}


def summary(runs: Sequence[Found]) -> list[str]:
    """The lines of the CSV file of means: one for each environment and agent."""
    rows = [_means([run for run in runs if (run.task, run.agent) == pair]) for pair in _pairs_of(runs)]
    return [_csv_line(row) for row in (HEAD, *rows)]


def tables_of(runs: Sequence[Found]) -> list[Table]:
    """The tables of the page: a row for each environment, a column for each agent, the default first."""
    agents = sorted(dict.fromkeys(run.agent for run in runs), key=lambda agent: agent != DEFAULT)
    titles = {run.task for run in runs}
    groups = [
        (task, [[r for r in runs if (r.task, r.agent) == (task.title, a)] for a in agents])
        for task in TASKS
        if task.title in titles
    ]
    greedy = [[task.title, *(_center([r.greedy_return for r in some]) for some in each)] for task, each in groups]
    training = [[task.title, *(_center([r.final_return for r in some]) for some in each)] for task, each in groups]
    steps = [
        [task.title, _threshold(task), _steps(runs, task), *(_reached(task, some) for some in each)]
        for task, each in groups
    ]
    return [
        Table("greedy", ["environment", *agents], greedy),
        Table("training", ["environment", *agents], training),
        Table("steps", ["environment", "threshold", "steps per run", *agents], steps),
    ]


def counted(runs: Sequence[Found]) -> str:
    """State how many runs the page has, and at which commits they were made."""
    commits = ", ".join(f"`{commit}`" for commit in sorted({run.commit for run in runs}))
    return f"{len(runs):,} runs, made with commits {commits}."


def finding(runs: Sequence[Found]) -> str:
    """State in how many environments the default agent has the best greedy policy, and where it does not."""
    best = _best(runs)
    if not best:
        return "There are no runs to compare yet."
    behind = [f"{title} ({', '.join(agents)})" for title, agents in best.items() if DEFAULT not in agents]
    ahead = f"{NAME} has the best mean greedy return, alone or tied, in {len(best) - len(behind)} of {len(best)}"
    return f"{ahead} environments.{' Others are best in ' + '; '.join(behind) + '.' if behind else ''}"


def _best(runs: Sequence[Found]) -> dict[str, list[str]]:
    """The agents with the best greedy policy by environment, as far as the digits shown tell."""
    best: dict[str, list[str]] = {}
    for title in dict.fromkeys(run.task for run in runs):
        agents = dict.fromkeys(run.agent for run in runs if run.task == title)
        shown = {a: _center([r.greedy_return for r in runs if (r.task, r.agent) == (title, a)]) for a in agents}
        values = {agent: float(text.replace(",", "")) for agent, text in shown.items() if text != "-"}
        best[title] = [agent for agent, value in values.items() if value == max(values.values())]
    return best


def _pairs_of(runs: Sequence[Found]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((run.task, run.agent) for run in runs))


def _means(runs: Sequence[Found]) -> list[Any]:
    after = sum(run.steps_to_threshold is not None for run in runs)
    row: list[Any] = [runs[0].task, runs[0].agent, len(runs), sum(run.diverged for run in runs), after]
    for name in MEASURED:
        values = [float(value) for run in runs if (value := getattr(run, name)) is not None]
        center, low, high = summarize(values)[:3] if values else (None, None, None)
        row += [center, *((low, high) if len(values) > 1 else (None, None))]
    return row


def _csv_line(row: Sequence[Any]) -> str:
    values = ["" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _threshold(task: Task) -> str:
    return "none" if task.threshold is None else f"{task.threshold:g}"


def _steps(runs: Sequence[Found], task: Task) -> str:
    return f"{min(run.steps for run in runs if run.task == task.title):,}"


def _reached(task: Task, runs: Sequence[Found]) -> str:
    """The mean number of steps to the threshold, and how many runs got there unless all did."""
    if task.threshold is None or not runs:
        return "-"
    after = [run.steps_to_threshold for run in runs if run.steps_to_threshold is not None]
    count = "" if len(after) == len(runs) else f" ({len(after)} of {len(runs)})"
    return f"{_center(after)}{count}" if after else "never"


def _center(values: Sequence[float | None]) -> str:
    finite = [value for value in values if value is not None]
    return _number(summarize(finite).center) if finite else "-"


def _number(value: float | None) -> str:
    """Three digits, and integers without decimals.

    >>> _number(-13.0), _number(0.7346), _number(20480.4), _number(-199.96), _number(0.00004)
    ('-13', '0.735', '20,480', '-200', '0')
    """
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    text = f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
