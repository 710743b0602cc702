"""The sections of docs/environments.md and the means of its runs, from docs/data/environments.csv."""

from pathlib import Path

from bench.known import found, page
from tools import marks


def made(docs: Path) -> dict[Path, str]:
    """The text that the page and the file of means should have, by path."""
    data = docs / "data" / "environments.csv"
    runs, deep = found.of_csv(data), found.of_csv(data.with_name("deep.csv"))
    means = "".join(f"{line}\n" for line in page.summary(runs))
    return {
        **marks.made(docs / "environments.md", page.sections(runs, deep)),
        data.with_name("environments-summary.csv"): means,
    }
