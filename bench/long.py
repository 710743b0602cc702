"""Does UCLS-Plan stay good? Runs of 500,000 steps: `python -m bench long [--only DOMAIN ...] [--runs N]`.

The last tenth of a run is compared with the 5,000 steps before step 50,000. Runs that docs/data/planning-long.csv lacks
are made and added to it, and a table of all is printed.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.lakes import rows
from bench.machine import package_revision
from ucls.core.run import make_run

FILE = Path(__file__).parents[1] / "docs" / "data" / "planning-long.csv"
HEAD = ["domain", "seed", "first", "last", "reward", "episodes", "mean_return", "commit"]
DOMAINS = {"River Swim": "RiverSwim", "Puddle World": "PuddleWorld", "Sparse Mountain Car": "SparseMountainCar"} | {
    "Mountain Car": "MountainCar"
}
SCORE = {"River Swim": "reward", "Puddle World": "mean_return"}  # otherwise episodes
WORDS = {"reward": "reward in 5,000 steps", "mean_return": "mean return", "episodes": "episodes in 5,000 steps"}
FIRST_SEED, STEPS = 7000, 500_000
EARLY = (45_000, 50_000)
TENTHS = [(start, start + STEPS // 10) for start in range(0, STEPS, STEPS // 10)]


def measure(domain: str, seed: int) -> list[list[object]]:
    """The lines of one run: rewards and episodes of some of its steps."""
    history = make_run(f"ucls/{DOMAINS[domain]}-v0", "ucls-plan", seed=seed).advance(STEPS)
    ends, lines = np.flatnonzero(history.ends), []
    for first, last in (EARLY, *TENTHS):
        inside = history.episode_returns[(ends >= first) & (ends < last)]
        mean, total = inside.mean() if len(inside) else np.nan, history.rewards[first:last].sum()
        lines.append([domain, seed, first, last, f"{total:.6g}", len(inside), f"{mean:.5g}"])
    return lines


def score_of(domain: str) -> str:
    """The column that counts in a domain."""
    return SCORE.get(domain, "episodes")


def scores(found: Sequence[dict[str, str]], domain: str) -> np.ndarray:
    """Of each run, its score before step 50,000 and in its last tenth: a mean return, or a sum per 5,000 steps."""
    score = score_of(domain)
    of_run: dict[str, dict[tuple[int, int], float]] = {}
    for row in (row for row in found if row["domain"] == domain):
        window = int(row["first"]), int(row["last"])
        parts = 1 if score == "mean_return" else (window[1] - window[0]) / (EARLY[1] - EARLY[0])
        of_run.setdefault(row["seed"], {})[window] = float(row[score]) / parts
    return np.array([(mine[EARLY], mine[TENTHS[-1]]) for mine in of_run.values()]).reshape(-1, 2)


def table(found: Sequence[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """A line for each domain: mean scores, and what the run lost that lost most."""
    lines = []
    for domain in DOMAINS:
        early, late = scores(found, domain).T
        if len(early):
            lost = 100 * (early - late) / np.abs(early)
            means = [f"{kept.mean():,.1f}" for kept in (early, late)]
            lines.append([domain, WORDS[score_of(domain)], str(len(early)), *means, f"{lost.max():.1f}%"])
    columns = ["domain", "score", "runs", "steps 45,000 to 50,000", "last tenth"]
    return [*columns, "largest loss of a run (below 0: a gain)"], lines


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench long", description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(DOMAINS), choices=list(DOMAINS), metavar="DOMAIN")
    parser.add_argument("--runs", type=int, default=3, help=f"runs in each domain, with seeds from {FIRST_SEED} on")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of results")
    asked = parser.parse_args(words)
    for domain in asked.only:
        had = {int(row["seed"]) for row in rows(asked.out) if row["domain"] == domain}
        for seed in sorted(set(range(FIRST_SEED, FIRST_SEED + asked.runs)) - had):
            lines, new = measure(domain, seed), not asked.out.exists()
            with asked.out.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([HEAD] * new + [[*line, package_revision()] for line in lines])
    columns, lines = table(rows(asked.out))
    print("\n".join(" | ".join(line) for line in [columns, *lines]))
    return 0
