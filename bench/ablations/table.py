"""The table of docs/planning.md, made from the file of results."""

from collections.abc import Sequence

import numpy as np

from bench.ablations.changes import CHANGES
from bench.ablations.domains import DOMAINS
from ucls.stats import summarize

USUAL = "none"


def table(found: Sequence[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: means with the number of runs, and a star where the interval of the differences from no
    change, paired by seed, excludes 0. Only runs of the newest version of the algorithm count."""
    newest = max((int(row["version"]) for row in found), default=0)
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for row in (row for row in found if int(row["version"]) == newest):
        scores.setdefault((row["change"], row["domain"]), {})[int(row["seed"])] = float(row["score"])
    shown = [domain for domain in DOMAINS if (USUAL, domain) in scores]
    lines = [
        [change, *(_cell(scores.get((change, domain), {}), scores[USUAL, domain]) for domain in shown)]
        for change in CHANGES
        if any((change, domain) in scores for domain in shown)
    ]
    return ["change", *shown], lines


def _cell(mine: dict[int, float], usual: dict[int, float]) -> str:
    if not mine:
        return "-"
    apart = [mine[seed] - usual[seed] for seed in sorted(mine.keys() & usual.keys())]
    low, high = summarize(apart)[1:3]
    star = "*" if low is not None and high is not None and (low > 0 or high < 0) else ""
    mean = abs(np.mean(list(mine.values())))
    return f"{mean:,.4g}{star} ({len(mine)})" if mean < 10_000 else f"{mean:,.0f}{star} ({len(mine)})"
