"""Agreement between pages, and between pages and data: the site is not built without it.

`python -m docsite.agreement` rewrites the tables that are copies.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from docsite import benchmarks, known, measured, pictures, prose
from docsite.algorithms import LABELS
from docsite.tables import ROOT, markdown, table
from ucls.algorithms import ALGORITHMS
from ucls.paper import pages, shipped
from ucls.paper.account import data_files, parts, sweeps_table
from ucls.paper.beyond.comparison import tuning

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
MEASURED = [
    ("River Swim", "total reward"),
    ("Puddle World", "episodes reaching the goal"),
    ("Sparse Mountain Car", "episodes reaching the goal"),
]


def costs_and_results() -> str:
    """Cost and results of each algorithm, from docs/performance.md and docs/data/benchmarks."""
    cost = {row[0].split(" ")[0]: row for row in table("performance.md", "All algorithms, microseconds per step").rows}
    found = benchmarks.rows("comparison")
    rows = [["ucls-exact", *_cost(cost.get("ucls-exact")), *(_result(found, where, None) for where in MEASURED)]]
    for name in list(ALGORITHMS)[1:]:
        for label in LABELS.get(name, [""]):
            results = [_result(found, where, label) for where in MEASURED]
            said = f"{name} ({label.split(', ')[1]})" if ", " in label else name
            rows.append([said, *_cost(cost.get(name)), *results])
    heads = ["algorithm", "µs per step, d = 512", "exponent of d", *(f"{domain}: {what}" for domain, what in MEASURED)]
    return markdown(heads, rows)


COPIES: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/beyond.md", "tuning"): tuning,
    ("docs/choose.md", "costs and results"): costs_and_results,
}


def complaints() -> Iterator[str]:
    """Yield one line for everything that does not agree."""
    for (page, mark), made in COPIES.items():
        if _between((ROOT / page).read_text(), mark) != made():
            yield f"{page}: the table {mark!r} differs from its source: python -m docsite.agreement rewrites it"
    for path in PAGES:
        yield from pictures.complaints(path.name, path.read_text())
    yield from of_the_reproduction(ROOT / "docs")
    yield from prose.complaints()
    yield from known.complaints()
    yield from measured.performance()
    yield from benchmarks.complaints()
    numbers = {number for cell in benchmarks.cells() for number in NUMBER.findall(cell)}
    numbers |= {f"{round(float(number.replace(',', ''))):,}" for number in numbers}
    for number in sorted(_of_readme() - numbers):
        yield f"README.md: {number} in 'Results' is in no file of docs/data/benchmarks"


def of_the_reproduction(folder: Path) -> Iterator[str]:
    """Yield one line for every page and file of the reproduction that differs from the package's data."""
    made = shipped.load()
    if sweeps_table() not in made.tables:
        yield "src/ucls/paper/reference/claims.json does not have the settings of src/ucls/paper/winners.json"
    shown, files = parts(made), data_files(made)
    for path in sorted(folder.glob("reproduction*.md")):
        text = path.read_text()
        if pages.filled(text, shown) != text:
            yield f"docs/{path.name} is not what src/ucls/paper/reference/claims.json says"
        for file, name in pages.csv_files(folder, text).items():
            if not file.is_file() or file.read_text() != files[name]:
                yield f"docs/data/{file.name} is not what src/ucls/paper/reference/claims.json says"


def write() -> None:
    """Write the tables that are copies, or come from data."""
    for (page, mark), made in COPIES.items():
        path = ROOT / page
        text = path.read_text()
        path.write_text(text.replace(_between(text, mark), made()))
    known.write()
    benchmarks.write()


def _between(text: str, mark: str) -> str:
    found = re.search(rf"<!-- {re.escape(mark)} -->\n+(.*?)\n+<!-- end -->", text, re.S)
    if found is None:
        raise LookupError(f"there is no mark {mark!r}")
    return found[1]


def _of_readme() -> set[str]:
    lines = (ROOT / "README.md").read_text().split("## Results")[1].split("\n## ")[0].splitlines()
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


if __name__ == "__main__":
    write()
    for line in complaints():
        print(line)
