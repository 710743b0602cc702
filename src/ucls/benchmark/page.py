"""The page that compares entries: scores with intervals, profiles, every task, cost, and provenance."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls._util.html import asset, write_document
from ucls.benchmark.result import Entered
from ucls.benchmark.scores import MEASURES, THRESHOLD, Score, limited, overall, scores_of
from ucls.benchmark.tasks import Task
from ucls.errors import UserError
from ucls.evaluation.page.page import table
from ucls.evaluation.page.plots import LABELS, ROW, WIDE, svg, ticks
from ucls.settings import listed
from ucls.study.compare import Group, Sample
from ucls.study.page import COLORS, profiles

RULES = (
    "Every entry has one setting in all tasks. A score of 0 is that of a random policy, 1 that of the best known one. "
    "Online scores are of what a run collected while it learned, greedy scores of its policy afterwards. Runs that "
    "failed or diverged, and tasks that an entry refuses, score 0. Intervals are 95% bootstrap intervals over runs."
)


class Table(NamedTuple):
    """A table of the page, with a sentence on how to read it."""

    title: str
    note: str
    head: list[str]
    rows: list[list[str]]


def common(entries: Sequence[Entered]) -> list[Task]:
    """Return the tasks that all entries have; refuse entries that cannot be compared."""
    if len({entered.set for entered in entries}) > 1:
        raise UserError("these files mix public and generated tasks: compare files of one kind")
    twice = [label for label, count in Counter(e.entry.label for e in entries).items() if count > 1]
    if twice:
        raise UserError(f"two files have the label {twice[0]!r}: run one of them with another --label")
    shared = [task for task in entries[0].tasks if all(task.id in {t.id for t in e.tasks} for e in entries)]
    if not shared:
        raise UserError("these files have no task in common")
    return shared


def tables(entries: Sequence[Entered]) -> list[Table]:
    """The tables of the page, the best entry first."""
    tasks = common(entries)
    scored = {e.entry.label: scores_of(e, [task.id for task in tasks]) for e in ranked(entries, tasks)}
    by_label = {e.entry.label: e for e in entries}
    return [
        _overview(scored),
        _kinds(scored, tasks),
        *(_by_task(scored, tasks, measure) for measure in MEASURES),
        _thresholds(scored, tasks),
        _regret(scored, entries[0], tasks),
        _cost(scored, tasks),
        _provenance([by_label[label] for label in scored], tasks),
    ]


def ranked(entries: Sequence[Entered], tasks: Sequence[Task]) -> list[Entered]:
    """Return the entries, the one with the highest online IQM first."""
    ids = [task.id for task in tasks]
    return sorted(entries, key=lambda e: -overall(scores_of(e, ids), "online").iqm[0])


def _overview(scored: dict[str, list[Score]]) -> Table:
    rows = []
    for label, scores in scored.items():
        row = [label]
        for measure in MEASURES:
            found = overall(scores, measure)
            row += [_span(found.iqm), _span(found.mean), f"{found.worst:.2f}"]
        rows.append(row)
    head = ["entry", *(f"{measure}: {name}" for measure in MEASURES for name in ("IQM", "mean", "worst run"))]
    note = "Over all tasks and seeds; the worst run is a mean over tasks of the worst of each."
    return Table("Normalized scores", note, head, rows)


def _kinds(scored: dict[str, list[Score]], tasks: Sequence[Task]) -> Table:
    kinds = list(dict.fromkeys(task.kind for task in tasks))
    of = {task.id: task.kind for task in tasks}
    rows = []
    for label, scores in scored.items():
        groups = [[score for score in scores if of[score.task] == kind] for kind in kinds]
        rows.append([label, *(" / ".join(f"{limited(some, m).mean():.2f}" for m in MEASURES) for some in groups)])
    return Table("Scores by kind of task", "Mean scores, online / greedy.", ["entry", *kinds], rows)


def _by_task(scored: dict[str, list[Score]], tasks: Sequence[Task], measure: str) -> Table:
    rows = []
    for task in tasks:
        means = [_mean(getattr(s, measure) for s in scores if s.task == task.id) for scores in scored.values()]
        rows.append([task.id, *(f"{round(mean, 2) + 0.0:.2f}" for mean in means)])
    note = "Means over seeds, not limited to 0 and 1; the best known policy has 1."
    return Table(f"{measure.capitalize()} score of each task", note, ["task", *scored], rows)


def _thresholds(scored: dict[str, list[Score]], tasks: Sequence[Task]) -> Table:
    rows = []
    for task in tasks:
        row = [task.id, f"{task.steps:,}"]
        for scores in scored.values():
            after = [s.threshold for s in scores if s.task == task.id]
            reached = sorted(step for step in after if step is not None)
            count = "" if len(reached) == len(after) else f" ({len(reached)} of {len(after)})"
            row.append(f"{int(np.median(reached)):,}{count}" if reached else "never")
        rows.append(row)
    note = f"Median step at which the last 20 episodes first score {THRESHOLD}, over the runs that get there."
    return Table("Steps to threshold", note, ["task", "steps", *scored], rows)


def _regret(scored: dict[str, list[Score]], entered: Entered, tasks: Sequence[Task]) -> Table:
    rows = []
    for task in tasks:
        scale = entered.scales[task.id]
        lost = [
            (1.0 - _mean(s.online for s in scores if s.task == task.id)) * (scale.best - scale.random)
            for scores in scored.values()
        ]
        rows.append([task.id, f"{scale.best:.4g}", *(f"{value:.3g}" for value in lost)])
    note = "What the best known policy collects per episode (per step in a continuing task) beyond the entry."
    return Table("Regret", note, ["task", "best known", *scored], rows)


def _cost(scored: dict[str, list[Score]], tasks: Sequence[Task]) -> Table:
    rows = []
    for task in tasks:
        row = [task.id]
        for scores in scored.values():
            cpu = [s.cpu for s in scores if s.task == task.id and s.cpu is not None]
            row.append(f"{1e6 * float(np.median(cpu)):.3g}" if cpu else "-")
        rows.append(row)
    note = "Median microseconds of processor time per step of learning, environment included, compilation excluded."
    return Table("Cost", note, ["task", *scored], rows)


def _provenance(entries: Sequence[Entered], tasks: Sequence[Task]) -> Table:
    rows = []
    for e in entries:
        unsound = sum(not run.sound for run in e.runs)
        machines = ", ".join(sorted({run.machine for run in e.runs if run.machine}))
        versions = ", ".join(sorted({run.versions for run in e.runs if run.versions}))
        setting = listed(e.entry.settings) or "defaults"
        refused = sum(task.id in e.refused for task in tasks)
        counts = [str(count) for count in (e.seeds, unsound, refused)]
        rows.append([e.entry.label, e.entry.name, setting, *counts, e.entry.code, machines, versions])
    head = ["entry", "code", "setting", "seeds", "failed or diverged", "tasks refused", "digest", "machine", "versions"]
    return Table("Provenance", "One setting for each entry, in all tasks.", head, rows)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _span(values: tuple[float, float, float]) -> str:
    center, low, high = values
    return f"{center:.2f}" if np.isnan(low) else f"{center:.2f} ({low:.2f} to {high:.2f})"


def markdown(entries: Sequence[Entered], titles: Sequence[str] | None = None) -> str:
    """The tables of the page, or some of them, as Markdown."""
    parts = []
    for one in tables(entries):
        if titles is None or one.title in titles:
            lines = [_row(one.head), _row(["---"] * len(one.head)), *map(_row, one.rows)]
            parts.append("\n".join([*([f"## {one.title}", ""] if titles is None else []), one.note, "", *lines]))
    return "\n\n".join(parts) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def write_page(path: Path, entries: Sequence[Entered]) -> None:
    """Write the page to a self-contained HTML file."""
    tasks = common(entries)
    ids = [task.id for task in tasks]
    scored = {e.entry.label: scores_of(e, ids) for e in ranked(entries, tasks)}
    seeds = sorted({e.seeds for e in entries})
    counted = f"{len(tasks)} {entries[0].set} tasks, {' or '.join(map(str, seeds))} seeds."
    body = [f"<header><h1>Exploration benchmark</h1><p>{RULES}</p><p>{counted}</p></header><main>"]
    found = tables(entries)
    body.append(f"<section><h2>{escape(found[0].title)}</h2>{_intervals(scored)}{_shown(found[0])}</section>")
    body.append("<section><h2>Performance profiles</h2><p>The fraction of runs that score at least this much.</p>")
    body += [f"<h3>{measure.capitalize()}</h3>{_profile(scored, measure)}" for measure in MEASURES]
    body += ["</section>", *(f"<section><h2>{escape(one.title)}</h2>{_shown(one)}</section>" for one in found[1:])]
    data: dict[str, Any] = {e.entry.label: e.scores for e in entries}
    style = asset("ucls.evaluation.page", "page.css")
    write_document(path, "Exploration benchmark", "".join(body) + "</main>", style, "", data)


def _shown(one: Table) -> str:
    return f"<p>{escape(one.note)}</p>{table(one.head, one.rows)}"


def _intervals(scored: dict[str, list[Score]]) -> str:
    """The IQM of every entry with its interval, online and greedy."""
    tall = 2 * ROW * len(scored) + 45

    def x(value: float) -> float:
        return LABELS + (WIDE - LABELS - 20) * value

    marks = [f'<text class="tick" x="{x(t):.1f}" y="{tall - 12}">{t:.4g}</text>' for t in ticks(0.0, 1.0)]
    marks += [f'<line class="rule" x1="{x(t):.1f}" y1="10" x2="{x(t):.1f}" y2="{tall - 30}"/>' for t in ticks(0.0, 1.0)]
    for i, (label, scores) in enumerate(scored.items()):
        for j, (measure, kind) in enumerate(zip(MEASURES, ("answer", "other"), strict=True)):
            center, low, high = overall(scores, measure).iqm
            y = 25 + ROW * (2 * i + j) - 5 * j
            marks.append(f'<text class="name" x="{LABELS - 12}" y="{y + 4}">{escape(label)}, {measure}</text>')
            if not np.isnan(low):
                marks.append(f'<line class="{kind}" x1="{x(low):.1f}" y1="{y}" x2="{x(high):.1f}" y2="{y}"/>')
            marks.append(f'<circle class="{kind}" cx="{x(center):.1f}" cy="{y}" r="5"/>')
    return svg(tall, marks, "Interquartile means of the normalized scores")


def _profile(scored: dict[str, list[Score]], measure: str) -> str:
    """The fraction of runs at each score; one sample for each of the best entries."""
    nothing = (None, None, None)
    samples, groups = {}, []
    for label, scores in list(scored.items())[: len(COLORS)]:
        values = limited(scores, measure)
        samples["", label] = Sample("mean_return", np.array([s.seed for s in scores]), values, Counter())
        groups.append(Group("", label, "mean_return", len(values), 0, 0, 0, 0, nothing, nothing, nothing))
    return profiles(samples, groups)
