"""The sections of docs/environments.md and the means of its runs, from docs/data/environments.csv."""

from pathlib import Path

from bench.known import found, page
from tools import marks


def made(docs: Path) -> dict[Path, str]:
    """The text that the page and the file of means should have, by path."""
    data = docs / "data" / "environments.csv"
    runs = found.of_csv(data)
    means = "".join(f"{line}\n" for line in page.summary(runs))
    return {
        **marks.made(docs / "environments.md", page.sections(runs)),
        data.with_name("environments-summary.csv"): means,
    }
