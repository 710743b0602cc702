"""Tables on pages against the files in docs/data that they are taken from."""

import json
from collections.abc import Iterator
from pathlib import Path

from docsite.tables import ROOT, read

PERFORMANCE = ROOT / "docs/performance.md"


def performance(page: Path = PERFORMANCE) -> Iterator[str]:
    """Yield one line for every table of the page that is not in its data."""
    data = json.loads((page.parent / "data" / "performance.json").read_text())
    known = {table["title"]: [table["head"], *table["rows"]] for table in data["tables"]}
    known["Data and provenance"] = [["", ""], *([name, value] for name, value in data["machine"].items())]
    for table in read(page.read_text()):
        if known.get(table.heading) != [table.columns, *table.rows]:
            yield f"docs/{page.name}: the table {table.heading!r} is not in data/performance.json: python -m bench page"
