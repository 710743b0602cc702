"""docs/environments.md against docs/data/environments.csv: page and means must be what the runs yield."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bench.known import found, page
from docsite.tables import ROOT, read

PAGE, DATA = ROOT / "docs/environments.md", ROOT / "docs/data/environments.csv"


def complaints(text: Path = PAGE, data: Path = DATA) -> Iterator[str]:
    """Yield one line for every line of the page or of the file of means that differs from what the runs yield."""
    runs = found.of_csv(data)
    if (count := page.counted(runs)) not in text.read_text():
        yield f"docs/{text.name}, provenance: not {count!r}, as {data.name} has it"
    means = page.summary_of(data)
    for path, expected in ((text, _page(text, data)), (means, page.summary(runs))):
        for shown, wanted in zip_longest(path.read_text().splitlines(), expected):
            if shown != wanted:
                yield f"docs/{path.name}, {shown!r} should be {wanted!r}: python -m docsite.agreement rewrites it"


def write(text: Path = PAGE, data: Path = DATA) -> None:
    """Rewrite the page and the file of means from the runs; the sentence on how they were made stays."""
    text.write_text("".join(f"{line}\n" for line in _page(text, data)))
    page.write_summary(found.of_csv(data), data)


def _page(text: Path, data: Path) -> list[str]:
    """The lines that the page should have, with the columns and the provenance that it has."""
    shown = text.read_text()
    [columns] = [one.columns for one in read(shown) if one.heading == page.GREEDY]
    agents = [("", agent) for agent in columns[1:]]  # also those without a run
    made = shown.rstrip().rpartition("\n")[2]
    return page.text(found.of_csv(data), agents, made).splitlines()
