"""The scales of the benchmark's tasks, and the tables of docs/benchmark.md from the files in docs/data/benchmark."""

import json
from collections.abc import Sequence
from pathlib import Path

from tools import marks
from tools.tables import ROOT, markdown
from ucls._util.files import write_atomic
from ucls.benchmark import page
from ucls.benchmark.check import check
from ucls.benchmark.scale import scale
from ucls.benchmark.tasks import PUBLIC, chosen, scales
from ucls.settings import listed

SCALES = ROOT / "src/ucls/benchmark/scales.json"
SHOWN = {
    "scores": "Normalized scores",
    "kinds": "Scores by kind of task",
    "online": "Online score of each task",
    "greedy": "Greedy score of each task",
    "thresholds": "Steps to threshold",
    "cost": "Cost",
    "provenance": "Provenance",
}
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
    """The text that the page should have, by its path."""
    entries = [check(file)[0] for file in sorted((docs / "data" / "benchmark").glob("*.json"))]
    sections = {name: page.markdown(entries, [title]).strip() if entries else NONE for name, title in SHOWN.items()}
    return marks.made(docs / "benchmark.md", {**sections, "tasks": tasks()})


def tasks() -> str:
    """The public tasks with their settings and scales."""
    rows = [
        [
            task.id + " (quick)" * task.quick,
            f"`{task.env}`",
            listed(task.settings) or "-",
            f"{task.steps:,}",
            *(f"{end:.4g}" for end in scales()[task.id][:2]),
            scales()[task.id].how.partition(";")[0],
        ]
        for task in PUBLIC
    ]
    return markdown(["task", "environment", "settings", "steps", "random", "best known", "best known from"], rows)
