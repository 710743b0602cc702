"""The summary of the replications, and its part on docs/log-coverage.md."""

import csv
from pathlib import Path

import numpy as np

from bench.logs.study import CASES, SIZES, read_rows

NO_TRUTH = "changing demand"
FIELDS = (
    *("case", "episodes", "runs", "covers_logged", "covers_new", "covers_difference", "covers_equal", "better"),
    *(
        "worse",
        "wrong",
        "equal_better",
        "equal_worse",
        "width",
        "bootstrap_covers",
        "bootstrap_better",
        "bootstrap_wrong",
    ),
)


def summarize(replications: Path, out: Path) -> None:
    """Write the fraction of replications in which each event occurred, for every case and number of episodes."""
    rows = read_rows(replications)
    with out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for case in CASES:
            for episodes in SIZES:
                some = [row for row in rows if row["case"] == case.name and int(row["episodes"]) == episodes]
                if some:
                    writer.writerow([case.name, episodes, len(some), *_numbers(some)])


def _numbers(rows: list[dict[str, str]]) -> list[str]:
    def mean(name: str) -> str:
        return f"{np.mean([float(row[name]) for row in rows]):.4f}"

    decided = np.array([float(row["equal_decided"]) for row in rows])
    width = float(np.median([float(row["width"]) for row in rows]))
    first = [mean(name) for name in FIELDS[3:10]]
    equal = [f"{np.mean(decided > 0):.4f}", f"{np.mean(decided < 0):.4f}"]
    return [*first, *equal, f"{width:.4g}", *(mean(name) for name in FIELDS[13:])]


def read_summary(path: Path) -> list[dict[str, str]]:
    """The rows of a summary."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def pooled(path: Path) -> tuple[str, str]:
    """The tables of the page: coverage and decisions for each number of episodes, all logs together."""
    every = read_summary(path)
    rows = [row for size in SIZES if (row := _pooled(every, size)) is not None]
    coverage = ["| episodes | runs | logged | new | difference | equal policies |", "|--:|--:|--:|--:|--:|--:|"]
    head = ("better", "worse", "wrong", "equal: better", "equal: worse", "bootstrap: covers", "better", "wrong")
    decisions = [f"| episodes | {' | '.join(head)} |", f"|--:|{'--:|' * len(head)}"]
    coverage += [_line(row, FIELDS[3:7], row["runs"]) for row in rows]
    decisions += [_line(row, (*FIELDS[7:12], *FIELDS[13:])) for row in rows]
    return "\n".join(coverage), "\n".join(decisions)


def _pooled(rows: list[dict[str, str]], episodes: int) -> dict[str, str] | None:
    """Pool the replications of all logs that have true values."""
    some = [row for row in rows if int(row["episodes"]) == episodes and NO_TRUTH not in row["case"]]
    if not some:
        return None
    runs = np.array([int(row["runs"]) for row in some])
    means = {name: float(runs @ [float(row[name]) for row in some] / runs.sum()) for name in FIELDS[3:]}
    about = {"episodes": str(episodes), "runs": str(runs.sum())}
    return {**about, **{name: f"{mean:.4f}" for name, mean in means.items()}}


def _line(row: dict[str, str], names: tuple[str, ...], *more: str) -> str:
    cells = [f"{int(row['episodes']):,}", *more]
    return "| " + " | ".join([*cells, *(f"{100 * float(row[name]):.0f}" for name in names)]) + " |"
