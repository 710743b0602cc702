"""Coverage with 5,000 episodes on logs of other seeds: `python -m bench logs large CASE RUNS` adds to log-large.csv."""

import csv
from pathlib import Path

import numpy as np

from bench.logs.domains import domains, simulate
from bench.logs.study import CONFIDENCE, truth_of
from ucls.evaluation.comparison.comparer import Comparer
from ucls.evaluation.logs import read_log

EPISODES, SEED = 5000, 900_000


def measure(path: Path, name: str, runs: int) -> None:
    """Append the missing runs to the file: whether intervals cover, and the intervals of both values."""
    domain, truth = domains()[name], truth_of(name)
    with path.open(newline="") as file:
        done = {int(row["run"]) for row in csv.DictReader(file) if row["case"] == name}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for run in sorted(set(range(runs)) - done):
            rng = np.random.default_rng([SEED + run, EPISODES, *name.encode()])
            found = Comparer(read_log(simulate(domain, EPISODES, rng), gamma=domain.gamma), CONFIDENCE)
            answer = found.run({"new": domain.new})
            [new], old = answer.candidates, answer.logged
            pairs = (old, truth.logged), (new.value, truth.new), (new.difference, truth.difference)
            covers = [int(span.low <= value <= span.high) for span, value in pairs]
            spans = [f"{x:.6g}" for x in (*new.value, old.low, old.high)]
            writer.writerow([name, EPISODES, run, *covers, *spans])
            file.flush()


def table(path: Path) -> str:
    """How often the intervals cover, for every log and for all together."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = dict.fromkeys(row["case"] for row in rows)
    lines = ["| log | runs | logged | new | difference |", "|---|--:|--:|--:|--:|"]
    for name, some in [("all", rows), *((name, [row for row in rows if row["case"] == name]) for name in names)]:
        means = [np.mean([int(row[f"covers_{what}"]) for row in some]) for what in ("logged", "new", "difference")]
        lines.append(f"| {name.replace('_', ' ')} | {len(some)} | {' | '.join(f'{100 * x:.1f}' for x in means)} |")
    return "\n".join(lines)
