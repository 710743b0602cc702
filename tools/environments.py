"""The sections of docs/environments.md and the files it links to, from docs/data/environments.csv."""

from pathlib import Path

from bench.known import found, page
from tools import marks
from ucls.paper._markdown import csv_text


def made(docs: Path) -> dict[Path, str]:
    """The text that the page and the files of means and thresholds should have, by path."""
    data = docs / "data" / "environments.csv"
    runs, deep = found.of_csv(data), found.of_csv(data.with_name("deep.csv"))
    means = "".join(f"{line}\n" for line in page.summary(runs))
    tables = {one.title: csv_text(one.head, one.rows) for one in page.tables_of(found.together(runs, deep))}
    return {
        **marks.made(docs / "environments.md", page.sections(runs, deep), tables),
        data.with_name("environments-summary.csv"): means,
    }
