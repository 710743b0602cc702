"""The tables of pages, read as rows."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Table(NamedTuple):
    """A table of a page: the heading above it, its column names and its rows."""

    heading: str
    columns: list[str]
    rows: list[list[str]]


def cells(line: str) -> list[str]:
    r"""The cells of a line of a table.

    >>> cells(r"| a | b \| c |")
    ['a', 'b | c']
    """
    return [cell.strip().replace("\0", "|") for cell in line.replace(r"\|", "\0").strip().strip("|").split("|")]


def tables(page: str) -> list[Table]:
    """The tables of a page of docs/."""
    return read((ROOT / "docs" / page).read_text())


def read(text: str) -> list[Table]:
    """The tables of a text."""
    found, heading, lines = [], "", [*text.splitlines(), ""]
    inside: list[str] = []
    for line in lines:
        if line.startswith("|"):
            inside.append(line)
            continue
        if len(inside) > 1:
            found.append(Table(heading, cells(inside[0]), [cells(row) for row in inside[2:]]))
        inside = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return found


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    """A table as text."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
