"""The style of every figure."""

from pathlib import Path
from typing import Any

from ucls._util.palette import INK

STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "svg.hashsalt": "ucls",
}


def undated(file: Path) -> dict[str, None] | None:
    """Metadata that leaves the date out, so that the same numbers give the same file."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix)
