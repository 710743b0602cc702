"""The section of docs/robustness.md that is made from the tallies of the torture."""

import json
from pathlib import Path
from typing import Any

MARK = "## What nobody should hand in"


def write(folder: Path, file: Path) -> None:
    """Put the section made from the tallies in a folder at the end of a page, in place of the one before."""
    before = file.read_text().partition(MARK)[0].rstrip() if file.exists() else "# Robustness"
    file.write_text(f"{before}\n\n{section(read(folder))}")


def read(folder: Path) -> list[dict[str, Any]]:
    """The tallies in a folder."""
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def section(found: list[dict[str, Any]]) -> str:
    """The section."""
    return ""
