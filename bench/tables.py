"""Tables: the same rows as plain text for the screen and as Markdown for the page."""

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """A title, a row of heads, rows of cells, and a sentence on how to read them."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def number(value: float | None) -> str:
    """Three digits, or a dash where nothing was measured.

    >>> number(0.12345), number(12.345), number(12345.6), number(None)
    ('0.123', '12.3', '12,346', '-')
    """
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def within(spread: Sequence[float] | None) -> str:
    """A median with its quartiles.

    >>> within((1.0, 2.0, 3.0))
    '2 (1..3)'
    """
    return "-" if spread is None else f"{number(spread[1])} ({number(spread[0])}..{number(spread[2])})"


def _is_numeric(column: Sequence[str]) -> bool:
    """Whether most cells are numbers, dashes or the word never.

    >>> _is_numeric(["-1.5 (-2..1)", "never", "a word"]), _is_numeric(["fast", "4 of 9"])
    (True, False)
    """
    return 2 * sum(cell in ("never", "none") or cell[:1] in {*"-0123456789"} for cell in column) > len(column)


def plain(table: Table) -> str:
    """A table for the screen: the first column to the left, the others to the right."""
    lines = [list(table.head), *[list(row) for row in table.rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.head))]
    text = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([table.title, "", text[0], rule, *text[1:], *([table.note] if table.note else []), ""])


def grid(table: Table) -> str:
    """The rows of a table as Markdown: columns that are mostly numbers are aligned to the right."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.head)
    rules = ["---", *("---:" if _is_numeric(column) else "---" for column in columns[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table.head, rules, *table.rows])
