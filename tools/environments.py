"""docs/environments.md and the means of its runs, from docs/data/environments.csv."""

from pathlib import Path

from bench.known import found, page
from tools.tables import read


def made(docs: Path) -> dict[Path, str]:
    """The text that the page and the file of means should have, by path; the page's count of runs is of the data.

    The columns, and the sentence on how the runs were made, stay.
    """
    path, data = docs / "environments.md", docs / "data" / "environments.csv"
    runs, shown = found.of_csv(data), path.read_text()
    [columns] = [one.columns for one in read(shown) if one.heading == page.GREEDY]
    agents = [("", agent) for agent in columns[1:]]  # also those without a run
    said = shown.rstrip().rpartition("\n")[2]
    provenance = f"{page.counted(runs)}.{said.partition('.')[2]}"
    means = "".join(f"{line}\n" for line in page.summary(runs))
    return {path: page.text(runs, agents, provenance, page.deep_of(data)), page.summary_of(data): means}
