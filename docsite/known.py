"""docs/environments.md against docs/data/environments.csv: the tables must be what the runs come to."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bench.known import found, page
from docsite.tables import ROOT, read

PAGE, DATA = ROOT / "docs/environments.md", ROOT / "docs/data/environments.csv"


def complaints(text: Path = PAGE, data: Path = DATA) -> Iterator[str]:
    """One line for every table, row or count that is not what the runs come to."""
    runs = found.of_csv(data)
    shown = {one.heading: [one.columns, *one.rows] for one in read(text.read_text())}
    asked = [("", agent) for agent in shown[page.OVERVIEW][0][1:]]  # columns as they stand, agents without a run too
    asked += [(title, row[0]) for title, rows in shown.items() if title != page.OVERVIEW for row in rows[1:]]
    made = {one.title: [list(row) for row in (one.head, *one.rows)] for one in page.tables(runs, asked)}
    if page.counted(runs) not in text.read_text():
        yield f"docs/{text.name} does not say {page.counted(runs)!r}, as {data.name} has it"
    for title in {**made, **shown}:
        for row, other in zip_longest(shown.get(title, []), made.get(title, [])):
            if row != other:
                yield f"docs/{text.name}, {title}: {_said(row)} on the page, but {_said(other)} by {data.name}"


def _said(row: list[str] | None) -> str:
    return " | ".join(row) if row else "nothing"
