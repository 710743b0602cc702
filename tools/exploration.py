"""The scales of the benchmark's tasks, and the tables of docs/benchmark.md from the files in docs/data/benchmark."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools import marks
from tools.tables import ROOT, markdown
from ucls._util.files import write_atomic
from ucls.benchmark import page
from ucls.benchmark.check import check
from ucls.benchmark.result import Entered, read
from ucls.benchmark.scale import scale
from ucls.benchmark.scores import MEASURES, overall, scores_of, stated
from ucls.benchmark.tasks import PUBLIC, chosen, scales
from ucls.errors import UserError
from ucls.paper._markdown import csv_text
from ucls.settings import listed

SCALES = ROOT / "src/ucls/benchmark/scales.json"
SHOWN = {"scores": "Normalized scores", "kinds": "Scores by kind of task", "online": "Online score of each task"}
FILES = {
    "greedy": "Greedy score of each task",
    "thresholds": "Steps to threshold",
    "cost": "Cost",
    "provenance": "Provenance",
}
QUICK_FILES = {"quick online": SHOWN["online"], "quick greedy": FILES["greedy"]}
NONE = "No entry is complete yet."


def compute_scales(ids: Sequence[str]) -> list[str]:
    """Compute the scales of some tasks, or of all, and store them; returns their ids."""
    found = json.loads(SCALES.read_text()) if SCALES.exists() else {}
    tasks = chosen(PUBLIC, only=ids)
    for task in tasks:
        found[task.id] = scale(task)._asdict()
        ordered = {each.id: found[each.id] for each in PUBLIC if each.id in found}
        text = json.dumps(ordered, indent=1) + "\n"
        write_atomic(SCALES, lambda file, text=text: file.write_text(text))
    return [task.id for task in tasks]


def made(docs: Path) -> dict[Path, str]:
    """The text that the page and the README should have, by path.

    Files in docs/data/benchmark have all tasks; those in the folder quick have the quick ones, and are compared with
    the others in these. Those in the folder generated are of the tasks drawn from each entry's code.
    """
    entries, quick = (_read(docs / "data" / "benchmark" / name) for name in ("", "quick"))
    sections = {name: page.markdown(entries, [title]).strip() if entries else NONE for name, title in SHOWN.items()}
    every = [*entries, *quick]
    sections["quick scores"] = page.markdown(every, [SHOWN["scores"]]).strip() if every else NONE
    drawn = [read(file) for file in sorted((docs / "data" / "benchmark" / "generated").glob("*.json"))]  # quickly
    sections["generated"] = page.markdown(drawn, [SHOWN["scores"], SHOWN["online"]]).strip() if drawn else NONE
    tables = {**_files(entries, FILES), **_files(every, QUICK_FILES), "tasks": csv_text(*tasks())}
    found = marks.made(docs / "benchmark.md", sections, tables)
    readme = docs.parent / "README.md"
    return found | (marks.made(readme, {"benchmark": headline(entries)}) if readme.is_file() else {})


def _read(folder: Path) -> list[Entered]:
    return [check(file)[0] for file in sorted(folder.glob("*.json"))]


def _files(entries: Sequence[Entered], titles: Mapping[str, str]) -> dict[str, str]:
    """Some tables of the page as CSV, by name."""
    found = {one.title: one for one in page.tables(entries)} if entries else {}
    return {name: csv_text(found[title].head, found[title].rows) for name, title in titles.items() if found}


def merged(old: Entered, new: Entered) -> Entered:
    """An entry with the tasks that were run again taken from a newer file of it, and its code."""
    for name in ("set", "seeds"):
        if getattr(old, name) != getattr(new, name):
            raise UserError(f"the files have different {name}: {getattr(old, name)} and {getattr(new, name)}")
    if old.entry._replace(code="") != new.entry._replace(code=""):
        raise UserError(f"the files are of different entries: {old.entry.label} and {new.entry.label}")
    again = {task.id for task in new.tasks}
    if unknown := again - {task.id for task in old.tasks}:
        raise UserError(f"the older file lacks the tasks {', '.join(sorted(unknown))}: run the entry in all tasks")
    refused = {id: why for id, why in old.refused.items() if id not in again} | dict(new.refused)
    runs = (*(run for run in old.runs if run.task not in again), *new.runs)
    order = {task.id: place for place, task in enumerate(old.tasks)}
    found = old._replace(entry=new.entry, ucls=new.ucls, refused=refused)
    found = found._replace(runs=tuple(sorted(runs, key=lambda run: (order[run.task], run.seed))))
    return found._replace(scores=stated(found))


def headline(entries: Sequence[Entered]) -> str:
    """The table of the README: every entry with its scores, and in how many tasks and seeds they were measured."""
    if not entries:
        return NONE
    ids = [task.id for task in page.common(entries)]
    open_to_all = [id for id in ids if not any(id in e.refused for e in entries)]
    rows = []
    for e in page.ranked(entries, page.common(entries)):
        found = [overall(scores_of(e, ids), measure) for measure in MEASURES]
        cells = [cell for one in found for cell in (_span(one.iqm), f"{one.mean[0]:.2f}")]
        rows.append([f"`{e.entry.label}`", *cells, _span(overall(scores_of(e, open_to_all), "online").mean)])
    seeds = sorted({e.seeds for e in entries})
    counted = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    head = [f"{len(ids)} tasks, {counted} seeds", *(f"{m}: {of}" for m in MEASURES for of in ("IQM", "mean"))]
    return markdown([*head, f"online: mean in the {len(open_to_all)} tasks that all can run"], rows)


def _span(values: tuple[float, float, float]) -> str:
    return f"{values[0]:.2f} [{values[1]:.2f}, {values[2]:.2f}]"


def tasks() -> tuple[list[str], list[list[str]]]:
    """The public tasks with their settings and scales, as columns and rows."""
    rows = [
        [
            task.id + " (quick)" * task.quick,
            task.env,
            listed(task.settings) or "-",
            f"{task.steps:,}",
            *(f"{end:.4g}" for end in scales()[task.id][:2]),
            scales()[task.id].how.partition(";")[0],
        ]
        for task in PUBLIC
    ]
    return ["task", "environment", "settings", "steps", "random", "best known", "best known from"], rows
