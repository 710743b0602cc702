"""The sections of docs/log-coverage.md that are made from files in docs/data."""

from pathlib import Path

from bench.logs import cautious, large
from bench.logs.tables import pooled
from tools import marks


def made(docs: Path) -> dict[Path, str]:
    """The text that the page should have, by its path."""
    coverage, decisions = pooled(docs / "data" / "log-coverage.csv")
    again = pooled(docs / "data" / "log-coverage-rerun.csv")
    tables = {"large": large.table(docs / "data" / "log-large.csv")}
    tables |= {"cautious": cautious.table(docs / "data" / "log-cautious.csv")}
    tables |= dict(zip(("rerun coverage", "rerun decisions"), again, strict=True))
    return marks.made(docs / "log-coverage.md", {"coverage": coverage, "decisions": decisions, **tables})
