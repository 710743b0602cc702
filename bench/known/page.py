"""The page docs/environments.md and its data, made from the saved runs and nothing else."""

import csv
import datetime
import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.deep import tables as deep_tables
from bench.known import found
from bench.known.found import Found
from bench.known.notes import AFTER, BEFORE, DATA, FINDINGS, NOTES
from bench.known.tasks import TASKS, Task
from bench.machine import describe
from bench.tables import Table, markdown
from ucls._util.files import write_atomic
from ucls.stats import summarize

STUDY, DEFAULT, NAME = "environments", "ucls-plan", "UCLS-Plan"
GREEDY, TRAINING, STEPS = "Return of the greedy policy", "Return during training", "Steps to threshold"
MEASURED = ("final_return", "greedy_return", "steps_to_threshold", "cpu_seconds")
HEAD = [
    *("environment", "agent", "runs", "diverged", "reached_threshold"),
    *(f"{name}{end}" for name in MEASURED for end in ("", "_low", "_high")),
]


def write(store: Path, page: Path) -> None:
    """Write the page and, in the folder `data` beside it, all runs and the means with their intervals.

    Runs that are in the data already stay there, unless the store has new ones in their place.
    """
    data = page.parent / "data" / f"{page.stem}.csv"
    earlier = found.of_csv(data) if data.exists() else []
    runs = found.ordered(found.merged(earlier, found.of_store(store, STUDY)))
    write_atomic(data, lambda path: found.as_csv(path, runs))
    shipped = found.of_csv(data)  # the page shows the data as shipped, digit for digit
    write_summary(shipped, data)
    text = _text(shipped, found.asked_for(store, STUDY), deep_of(data))
    write_atomic(page, lambda path: path.write_text(text))


def summary_of(data: Path) -> Path:
    """The file of means that belongs to a file of runs."""
    return data.with_name(f"{data.stem}-summary.csv")


def deep_of(data: Path) -> list[Found]:
    """The runs of deep agents that belong to a file of runs."""
    path = data.with_name("deep.csv")
    return found.of_csv(path) if path.exists() else []


def write_summary(runs: Sequence[Found], data: Path) -> None:
    """Write the means with their intervals beside the file of the runs."""
    text = "".join(f"{line}\n" for line in summary(runs))
    write_atomic(summary_of(data), lambda path: path.write_text(text))


def summary(runs: Sequence[Found]) -> list[str]:
    """The lines of the CSV file of means: one for each environment and agent."""
    rows = [_means([run for run in runs if (run.task, run.agent) == pair]) for pair in _pairs_of(runs)]
    return [_csv_line(row) for row in (HEAD, *rows)]


def tables(runs: Sequence[Found], pairs: Sequence[tuple[str, str]]) -> list[Table]:
    """The tables of the page: a row for each environment with runs, a column for each agent of these pairs or runs."""
    agents = list(dict.fromkeys(agent for _, agent in (*pairs, *_pairs_of(runs))))
    titles = {run.task for run in runs}
    tasks = [task for task in TASKS if task.title in titles]

    groups = [(task, [[r for r in runs if (r.task, r.agent) == (task.title, a)] for a in agents]) for task in tasks]
    head = ["environment", *agents]
    greedy = [[task.title, *(_center([r.greedy_return for r in some]) for some in each)] for task, each in groups]
    training = [[task.title, *(_center([r.final_return for r in some]) for some in each)] for task, each in groups]
    steps = [
        [task.title, _threshold(task), _steps(runs, task), *(_reached(task, some) for some in each)]
        for task, each in groups
    ]
    return [
        Table(GREEDY, head, greedy, "Mean return of the greedy policy after training; a dash means not run."),
        Table(TRAINING, head, training, "Mean return of the last 20 training episodes, exploration included."),
        Table(
            STEPS,
            ["environment", "threshold", "steps per run", *agents],
            steps,
            "Mean over the runs that reach the threshold; their number is given where some do not.",
        ),
    ]


def counted(runs: Sequence[Found]) -> str:
    """How many runs the page is of, and at which commits they were made."""
    commits = ", ".join(f"`{commit}`" for commit in sorted({run.commit for run in runs}))
    return f"{len(runs):,} runs, made with commit {commits}"


def finding(runs: Sequence[Found]) -> str:
    """In how many environments the default agent has the best greedy policy, and where it does not."""
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


def _text(runs: Sequence[Found], pairs: Sequence[tuple[str, str]], deep: Sequence[Found]) -> str:
    about, day = describe(), datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    versions = ", ".join(f"{name} {about[name]}" for name in ("python", "numpy", "numba", "gymnasium"))
    made = f"{counted(runs)}. Machine: {about['processor']}; {versions}. Page written on {day}."
    return text(runs, pairs, made, deep)


def text(runs: Sequence[Found], pairs: Sequence[tuple[str, str]], made: str, deep: Sequence[Found] = ()) -> str:
    """The page, with a sentence on how it was made."""
    every = found.together(runs, deep)
    greedy, training, steps = map(markdown, tables(every, pairs))
    begun = {run.task for run in runs}
    notes = [_filled(f"- **{title}**: {note}") for title, note in NOTES.items() if title in begun]
    parts = ["# Gymnasium environments", "", BEFORE.strip(), "", "## Findings", "", _filled(f"- {finding(every)}")]
    parts += [FINDINGS.strip(), "", greedy, training, steps, DATA.strip(), "", AFTER.strip(), "", *notes, ""]
    parts += deep_tables.section(runs, deep)
    missing = [title for title in dict.fromkeys(title for title, _ in pairs) if title and title not in begun]
    if missing:
        parts += ["## In the study, but not run yet", "", f"{', '.join(missing)}.", ""]
    return "\n".join([*parts, PROVENANCE, "", made]).rstrip() + "\n"


PROVENANCE = """## Provenance

<!-- not run: it takes hours, and installs from the network -->
```sh
pip install 'ucls[environments]'
python -m bench environments               # the study examples/environments.toml, in one process
pip install 'ucls[baselines]'
python -m bench deep                       # DQN, QR-DQN and PPO with the settings of rl-zoo
python -m bench environments --no-run --page docs/environments.md
```

`ucls study run` runs the same study on all cores; these commands also measure processor time and greedy policies."""


def _filled(item: str) -> str:
    return textwrap.fill(item, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


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
