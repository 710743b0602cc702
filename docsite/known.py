"""docs/environments.md against docs/data/environments.csv: the tables must be what the runs come to."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bench.known import found, page
from docsite.tables import ROOT, cells, read

PAGE, DATA = ROOT / "docs/environments.md", ROOT / "docs/data/environments.csv"


def complaints(text: Path = PAGE, data: Path = DATA) -> Iterator[str]:
    """One line for every row or count that is not what the runs come to."""
    said = page.counted(found.of_csv(data))
    if said not in text.read_text():
        yield f"docs/{text.name} does not say {said!r}, as {data.name} has it"
    for title, row, other in _differing(text, data):
        told = f"{' | '.join(row or ['nothing'])} on the page, but {' | '.join(other or ['nothing'])} by {data.name}"
        yield f"docs/{text.name}, {title}: {told}: python -m docsite.agreement writes it again"


def write(text: Path = PAGE, data: Path = DATA) -> None:
    """Write the rows again that differ, where both have them."""
    lines = text.read_text().splitlines()
    other = {tuple(row): made for _, row, made in _differing(text, data) if row and made}
    rows = [other.get(tuple(cells(line))) if line.startswith("|") else None for line in lines]
    written = [f"| {' | '.join(row)} |" if row else line for row, line in zip(rows, lines, strict=True)]
    text.write_text("\n".join(written) + "\n")


def _differing(text: Path, data: Path) -> Iterator[tuple[str, list[str] | None, list[str] | None]]:
    """The rows of the page that are not what the data say: the heading above, the row, and what it should be."""
    shown = {one.heading: [one.columns, *one.rows] for one in read(text.read_text())}
    asked = [("", agent) for agent in shown[page.OVERVIEW][0][1:]]  # columns as they stand, agents without a run too
    asked += [(title, row[0]) for title, rows in shown.items() if title != page.OVERVIEW for row in rows[1:]]
    tables = page.tables(found.of_csv(data), asked)
    made = {one.title: [list(row) for row in (one.head, *one.rows)] for one in tables}
    for title in {**made, **shown}:
        for row, other in zip_longest(shown.get(title, []), made.get(title, [])):
            if row != other:
                yield title, row, other
