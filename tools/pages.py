"""Every page that is made from data, and everything else that must agree before the site is built.

`python -m tools fill` writes the pages, `python -m tools check` only says which differ from their data.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from bench import lakes, long, report
from bench.ablations import runs as ablations
from bench.ablations import table as parts
from docsite import pictures
from docsite.algorithms import LABELS
from tools import benchmarks, deviations, environments, exploration, logs, marks, prose, reproduction
from tools.tables import ROOT, markdown
from ucls._util.files import write_atomic
from ucls.algorithms import ALGORITHMS
from ucls.paper import shipped
from ucls.paper.account import sweeps_table

DOCS = ROOT / "docs"
PERFORMANCE = DOCS / "data" / "performance.json"
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
MEASURED = [
    ("River Swim", "total reward"),
    ("Puddle World", "episodes reaching the goal"),
    ("Sparse Mountain Car", "episodes reaching the goal"),
]


def made(docs: Path = DOCS) -> dict[Path, str]:
    """The text that every file made from data should have, by path."""
    return {
        **reproduction.made(docs),
        **benchmarks.made(docs),
        **exploration.made(docs),
        **deviations.made(docs),
        **environments.made(docs),
        **logs.made(docs),
        **marks.made(docs / "choose.md", {"costs and results": costs_and_results()}),
        **marks.made(docs / "performance.md", report.sections(docs / "data" / "performance.json")),
        **marks.made(docs / "planning.md", planning(docs / "data")),
    }


def planning(data: Path) -> dict[str, str]:
    """The tables of docs/planning.md."""
    return {
        "ablations": markdown(*parts.table(ablations.rows(data / ablations.FILE.name))),
        "lakes": markdown(*lakes.table(lakes.rows(data / lakes.FILE.name))),
        "long": markdown(*long.table(lakes.rows(data / long.FILE.name))),
    }


def fill(docs: Path = DOCS) -> list[Path]:
    """Write every file that differs from what its data make of it, and return those."""
    changed = [(path, text) for path, text in made(docs).items() if not path.is_file() or path.read_text() != text]
    for path, text in changed:
        write_atomic(path, lambda file, text=text: file.write_text(text, encoding="utf-8"))
    return [path for path, _ in changed]


def stale(docs: Path = DOCS) -> Iterator[str]:
    """Yield one line for every file that differs from what its data make of it."""
    for path, text in made(docs).items():
        if not path.is_file() or path.read_text() != text:
            name = f"docs/{path.relative_to(docs)}" if path.is_relative_to(docs) else path.name
            yield f"{name} differs from its data: python -m tools fill"


def complaints() -> Iterator[str]:
    """Yield one line for every disagreement."""
    yield from stale()
    for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))):
        yield from pictures.complaints(path.name, path.read_text())
    if sweeps_table() not in shipped.load().tables:
        yield "src/ucls/paper/reference/claims.json does not have the settings of src/ucls/paper/runs/winners.json"
    yield from prose.complaints()
    numbers = {number for cell in benchmarks.cells() for number in NUMBER.findall(cell)}
    numbers |= {f"{round(float(number.replace(',', ''))):,}" for number in numbers}
    for number in sorted(_of_readme() - numbers):
        yield f"README.md: {number} in 'Results' is in no file of docs/data/benchmarks"


def costs_and_results() -> str:
    """Cost and results of each algorithm, from docs/data/performance.json and docs/data/benchmarks."""
    cost = {row[0].split(" ")[0]: row for row in report.first_tables(PERFORMANCE)["algorithms"].rows}
    found = benchmarks.rows("comparison")
    planned = {(row[0], row[1]): row[3].split(" [")[0] for row in benchmarks.rows("planning") if row[2] == "UCLS-Plan"}
    rows = [
        ["ucls-plan", *_cost(cost.get("ucls-plan")), *(planned.get(where, "-") for where in MEASURED)],
        ["ucls-exact", *_cost(cost.get("ucls-exact")), *(_result(found, where, None) for where in MEASURED)],
    ]
    own = [name for name, path in ALGORITHMS.items() if ".baselines." not in path]  # the others: docs/baselines.md
    for name in [name for name in own if name not in ("ucls-plan", "ucls-exact")]:
        for label in LABELS.get(name, [""]):
            results = [_result(found, where, label) for where in MEASURED]
            said = f"{name} ({label.split(', ')[1]})" if ", " in label else name
            rows.append([said, *_cost(cost.get(name)), *results])
    heads = ["algorithm", "µs per step, d = 512", "exponent of d", *(f"{domain}: {what}" for domain, what in MEASURED)]
    return markdown(heads, rows)


def _of_readme() -> set[str]:
    text = (ROOT / "README.md").read_text().split("## Results")[1].split("\n## ")[0]
    lines = marks.SECTION.sub("", text).splitlines()
    rows = [line.split("|")[2:] for line in lines if line.startswith("|")][2:]
    cells = [re.sub(r"\(.*?\)", "", cell) for row in rows for cell in row if " of " not in cell]
    return {number for cell in cells for number in NUMBER.findall(cell)}


def _cost(row: list[str] | None) -> list[str]:
    return [row[2], row[5]] if row else ["not measured", "-"]


def _result(rows: list[list[str]], where: tuple[str, str], label: str | None) -> str:
    for row in rows:
        if (row[0], row[1]) == where and (label is None or row[2] == label):
            return (row[3] if label is None else row[4]).split(" [")[0]
    return "-"
