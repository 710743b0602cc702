"""The page: docs/environments.md and its data, from what was found and from nothing else."""

import datetime
from collections.abc import Sequence
from pathlib import Path

from bench.known import found
from bench.known.found import Found
from bench.known.notes import AFTER, BEFORE, NOTES
from bench.known.tasks import TASKS, Task
from bench.machine import describe
from bench.tables import Table, markdown
from ucls._files import write_atomic
from ucls.stats import summarize

STUDY = "environments"
NOT_RUN, OVERVIEW = "not run", "What their policies are worth"


def write(store: Path, rivals: Path, page: Path) -> None:
    """Write the page and, in the folder `data` beside it, every run as a line of a table."""
    runs = found.ordered([*found.of_ours(store, STUDY), *found.of_rivals(rivals)])
    data = page.parent / "data" / f"{page.stem}.csv"
    write_atomic(data, lambda path: found.as_csv(path, runs))
    text = _text(found.of_csv(data), found.asked_for(store, STUDY))  # of the data as they are shipped, digit for digit
    write_atomic(page, lambda path: path.write_text(text))


def tables(runs: Sequence[Found], pairs: Sequence[tuple[str, str]]) -> list[Table]:
    """The tables of the page: of runs, and of the pairs of an environment and an agent that were asked for."""
    pairs = [*pairs, *(pair for pair in dict.fromkeys((run.task, run.agent) for run in runs) if pair not in pairs)]
    found = [_overview(runs, pairs)]
    for task in TASKS:
        of_task = [run for run in runs if run.task == task.title]
        if of_task:
            found.append(_section(task, [agent for title, agent in pairs if title == task.title], of_task))
    return found


def counted(runs: Sequence[Found]) -> str:
    """How many runs the page is of, and at which commits they were made."""
    commits = ", ".join(f"`{commit}`" for commit in sorted({run.commit for run in runs}))
    return f"{len(runs):,} runs, made with commit {commits}"


def _text(runs: Sequence[Found], pairs: Sequence[tuple[str, str]]) -> str:
    about, day = describe(), datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    facts = ", ".join(f"{name} {about[name]}" for name in ("python", "numpy", "numba", "gymnasium"))
    made = f"{counted(runs)}. The machine: {about['processor']}; {facts}. The page is of {day}."
    overview, *sections = map(markdown, tables(runs, pairs))
    parts = ["# Environments people know", "", BEFORE.strip(), "", made, "", overview, AFTER.strip(), "", *sections]
    begun = {run.task for run in runs}
    missing = [title for title in dict.fromkeys(title for title, _ in pairs) if title not in begun]
    if missing:
        parts += ["## In the study, but not run yet", "", f"{', '.join(missing)}.", ""]
    return "\n".join(parts).rstrip() + "\n"


def _overview(runs: Sequence[Found], pairs: Sequence[tuple[str, str]]) -> Table:
    agents = list(dict.fromkeys(agent for _, agent in pairs))
    titles = list(dict.fromkeys(run.task for run in runs))
    rows = []
    for title in titles:
        groups = [[run for run in runs if (run.task, run.agent) == (title, agent)] for agent in agents]
        rows.append([title, *(_center([run.greedy_return for run in group]) for group in groups)])
    note = "The mean return of the greedy policy after the last step; a dash where nothing was run."
    return Table(OVERVIEW, ["environment", *agents], rows, note)


def _section(task: Task, agents: Sequence[str], runs: Sequence[Found]) -> Table:
    steps = min(run.steps for run in runs)
    threshold = "none" if task.threshold is None else f"{task.threshold:g}"
    note = f"{steps:,} steps. Threshold: {threshold} ({task.why})."
    if task.title in NOTES:
        note = f"{note} {NOTES[task.title]}"
    head = ["agent", "last 20 episodes", f"greedy, {task.episodes:,} episodes", "steps to threshold", "CPU s", "runs"]
    rows = [_row(agent, [run for run in runs if run.agent == agent], task) for agent in agents]
    return Table(task.title, head, rows, note)


def _row(agent: str, runs: Sequence[Found], task: Task) -> list[str]:
    if not runs:
        return [agent, *[NOT_RUN] * 4, "0"]
    after = [run.steps_to_threshold for run in runs if run.steps_to_threshold is not None]
    count = f"{len(after)} of {len(runs)}"
    arrived = "-" if task.threshold is None else f"{_estimate(after)} ({count})" if after else f"never ({count})"
    diverged = sum(run.diverged for run in runs)
    last, greedy = ([getattr(run, name) for run in runs] for name in ("last_return", "greedy_return"))
    cpu = _estimate([run.cpu_seconds for run in runs])
    return [
        agent,
        _estimate(last),
        _estimate(greedy),
        arrived,
        cpu,
        f"{len(runs)}{f', {diverged} diverged' * bool(diverged)}",
    ]


def _estimate(values: Sequence[float | None]) -> str:
    """A mean with its 95% interval, of the runs that have a value.

    >>> _estimate([1.0, 1.0, None])
    '1 [1, 1]'
    >>> _estimate([1.0])
    '1'
    """
    sound = [value for value in values if value is not None]
    if not sound:
        return "-"
    center, low, high, *_ = summarize(sound)
    return _number(center) if len(sound) == 1 else f"{_number(center)} [{_number(low)}, {_number(high)}]"


def _center(values: Sequence[float | None]) -> str:
    sound = [value for value in values if value is not None]
    return _number(summarize(sound).center) if sound else "-"


def _number(value: float | None) -> str:
    """Three digits, and whole numbers whole.

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
