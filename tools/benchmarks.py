"""The tables of docs/beyond.md: summaries of the files in docs/data/benchmarks, which have every mean and interval.

`python -m tools benchmarks OUT` takes those files, and the figures, from the folder that `ucls paper run` wrote.
"""

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from tools import commits, marks
from tools.tables import ROOT, markdown
from ucls._util.files import write_atomic
from ucls.paper._markdown import csv_text
from ucls.paper.beyond.comparison import tuning

DATA, FACTS = ROOT / "docs/data/benchmarks", "facts.json"
FILES = {  # by the title that `ucls paper` gives the table
    "Beyond the paper": "comparison",
    "Bars of our own": "worst-runs",
    "Deep Sea": "deep-sea",
    "Parts of the bound": "ablation",
    "Long runs": "long-runs",
    "UCLS-Plan": "planning",
}
LENGTH = "final episode length"  # the metric of which less is better
INTERVAL = re.compile(r"\[(\S+), (\S+)\]")
Rows = list[list[str]]


def rows(name: str, folder: Path = DATA) -> Rows:
    """The rows of a file, without its heads."""
    return _read(folder / f"{name}.csv")[1:]


def cells() -> list[str]:
    """Every cell of every file."""
    return [cell for path in sorted(DATA.glob("*.csv")) for row in _read(path) for cell in row]


def comparison(folder: Path) -> str:
    """A row for each domain and metric: UCLS-Exact, UCLS, the best baseline, and how many it is ahead of."""
    groups: dict[tuple[str, str], Rows] = {}
    for row in rows("comparison", folder):
        groups.setdefault((row[0], row[1]), []).append(row)
    lines = []
    for (domain, metric), some in groups.items():
        sign = -1 if metric == LENGTH else 1
        ucls = next((row[4] for row in some if row[2] == "UCLS"), "-")
        best = max((row for row in some if row[2] != "UCLS"), key=lambda row: _score(row[4], sign))
        wins = [_wins(row[5], sign) for row in some]
        counts = " / ".join(str(wins.count(end)) for end in (1, 0, -1)) if None not in wins else "-"
        lines.append([domain, metric, *map(_mean, (some[0][3], ucls)), f"{_mean(best[4])} ({best[2]})", counts])
    heads = ["domain", "metric", "UCLS-Exact", "UCLS", "best baseline", "ahead / no difference / behind"]
    return markdown(heads, lines)


def worst_runs(folder: Path) -> str:
    """A row for each domain: the worst final performance of three algorithms, and how many runs are near-optimal."""
    chosen = ("UCLS-Exact", "UCLS", "Sarsa, optimistic")
    by: dict[tuple[str, str, str], dict[str, str]] = {}
    for domain, name, _, metric, worst, optimum, near, _ in rows("worst-runs", folder):
        by.setdefault((domain, metric, optimum), {})[name] = f"{worst} ({near})"
    lines = [[*where, *(found.get(name, "-") for name in chosen)] for where, found in by.items()]
    return markdown(["domain", "metric", "optimum", *chosen], lines)


def deep_sea(folder: Path) -> str:
    """A row for each algorithm: how many runs solve each size, and after how many episodes the median run does."""
    found = {(row[0], row[1]): row for row in rows("deep-sea", folder)}
    sizes = sorted({size for _, size in found}, key=int)

    def cell(name: str, size: str) -> str:
        row = found.get((name, size))
        if row is None:
            return "-"
        return _mean(row[2]) if row[3] in ("never", "-") else f"{_mean(row[2])} ({row[3]})"

    names = dict.fromkeys(name for name, _ in found)
    return markdown(["algorithm", *(f"size {n}" for n in sizes)], [[n, *(cell(n, s) for s in sizes)] for n in names])


def ablation(folder: Path) -> str:
    """A row for each domain and metric, a column for each variant; a star where the difference excludes 0."""
    by: dict[tuple[str, str], dict[str, str]] = {}
    for domain, metric, terms, mean, difference, _ in rows("ablation", folder):
        by.setdefault((domain, metric), {})[terms] = _mean(mean) + "*" * bool(_wins(difference, 1))
    variants = list(dict.fromkeys(terms for found in by.values() for terms in found))
    lines = [[*where, *(found.get(terms, "-") for terms in variants)] for where, found in by.items()]
    return markdown(["domain", "metric", *variants], lines)


def planning(folder: Path) -> str:
    """A row for each domain and metric: UCLS-Plan and the others; a star where it differs significantly."""
    by: dict[tuple[str, str], dict[str, str]] = {}
    for domain, metric, name, mean, less, worst, _, near, runs in rows("planning", folder):
        found = by.setdefault((domain, metric), {})
        found[name] = _mean(mean) + "*" * bool(_wins(less, 1))
        if name == "UCLS-Plan":
            found |= {"worst run": worst, "near": near, "runs": runs}
    chosen = ("UCLS-Plan", "UCLS-Exact", "UCLS-L", "Sarsa, optimistic", "worst run", "near", "runs")
    lines = [[*where, *(found.get(name, "-") for name in chosen)] for where, found in by.items()]
    heads = [*chosen[:4], "worst run of UCLS-Plan", "its runs within 10% of the optimum", "its runs"]
    return markdown(["domain", "metric", *heads], lines)


def long_runs(folder: Path) -> str:
    """Return the file unchanged."""
    heads, *lines = _read(folder / "long-runs.csv")
    return markdown(heads, lines)


SUMMARIES: dict[str, Callable[[Path], str]] = {
    "comparison": comparison,
    "worst-runs": worst_runs,
    "deep-sea": deep_sea,
    "ablation": ablation,
    "long-runs": long_runs,
    "planning": planning,
}


def made(docs: Path) -> dict[Path, str]:
    """The text that the page should have, by its path."""
    page, folder = docs / "beyond.md", docs / "data" / "benchmarks"
    sections = {name: make(folder) for name, make in SUMMARIES.items()}
    facts = json.loads((folder / FACTS).read_text())
    return marks.made(page, {**sections, "tuning": tuning(), "facts": markdown(["", ""], [*map(list, facts.items())])})


def update(out: Path, docs: Path) -> None:
    """Take the tables, figures and provenance of the page from the output of `ucls paper run`; other files stay.

    The provenance is that of the comparison.
    """
    data, folder, page = json.loads((out / "claims.json").read_text()), docs / "data" / "benchmarks", docs / "beyond.md"
    folder.mkdir(parents=True, exist_ok=True)
    for table in data["tables"]:
        if table["title"] in FILES:
            text = csv_text(table["heads"], table["rows"])
            write_atomic(folder / f"{FILES[table['title']]}.csv", lambda file, text=text: file.write_text(text))
    if any(FILES.get(table["title"]) == "comparison" for table in data["tables"]):
        facts = json.dumps({**data["facts"], "commit": commits.commit_at(docs)}, indent=1) + "\n"
        write_atomic(folder / FACTS, lambda file: file.write_text(facts))
    for picture in out.glob("*.png"):
        if f"({picture.name})" in page.read_text():
            shutil.copyfile(picture, docs / picture.name)


def _read(path: Path) -> Rows:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def _mean(cell: str) -> str:
    """The number of a cell, without its interval."""
    return cell.partition(" [")[0]


def _score(cell: str, sign: int) -> float:
    """The first number of a cell, larger is better; lowest where nothing was run."""
    found = re.match(r"-?[\d,.]+", cell)
    return sign * float(found[0].replace(",", "")) if found else float("-inf")


def _wins(difference: str, sign: int) -> int | None:
    """1 or -1 if the interval of a difference excludes 0, by which side; 0 if it does not; None without an interval."""
    found = INTERVAL.search(difference)
    if found is None:
        return None
    low, high = (float(end.replace(",", "")) for end in found.groups())
    return 0 if low <= 0 <= high else sign if low > 0 else -sign
