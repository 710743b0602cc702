"""Cells, tables and names as HTML; text is always escaped."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from ucls.paper.drawing.geometry import NONE, plain

FOLD = 3


def anchor(name: str) -> str:
    """Return the anchor of a figure on the page."""
    return "figure-" + re.sub(r"[^A-Za-z0-9_-]+", "-", name.removeprefix("figure-"))


def cell(value: Any) -> str:
    """Return a value in words."""
    if value is None:
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return plain(value) if isinstance(value, float) else str(value)


def folded(value: Any) -> str:
    """Return a cell of one line, or of many with all but the first three folded."""
    lines = [f"<div>{escape(line)}</div>" for line in cell(value).split("\n")]
    if len(lines) <= FOLD + 1:
        return "".join(lines)
    rest = "".join(lines[FOLD:])
    return f"{''.join(lines[:FOLD])}<details><summary>and {len(lines) - FOLD} more</summary>{rest}</details>"


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], kind: str = "scroll") -> str:
    """Return a table that scrolls by itself where the page is too narrow, also by keyboard."""
    top = "".join(f'<th scope="col">{escape(str(head))}</th>' for head in heads)
    body = "".join("<tr>" + "".join(_td(value) for value in row) + "</tr>" for row in rows)
    label = escape(f"table: {', '.join(map(str, heads[:3]))}")
    made = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{label}">{made}</div>'


def _td(value: Any) -> str:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return f"<td{' class=number' if numeric else ''}>{escape(cell(value))}</td>"
