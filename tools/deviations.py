"""docs/deviations.md: a section for each deviation, with its effects from docs/data/deviations.csv.

`ucls paper deviations --out docs/data/deviations.csv` measures them; `python -m tools fill` writes the page. Its line
on when they were made stays; `python -m tools deviations` replaces it after new measurements.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools import commits
from tools.reproduction import made_at
from ucls.paper.deviations.declared import DEVIATIONS
from ucls.paper.deviations.measure import Deviation
from ucls.study.declaration.run_spec import RESULTS_VERSION

MADE = re.compile(r"^Made on .*$", re.M)


def made(docs: Path, now: bool = False) -> dict[Path, str]:
    """The text that the page should have, by its path; `now` if the measurements were made with the code as it is."""
    path = docs / "deviations.md"
    with (docs / "data" / "deviations.csv").open(newline="") as file:
        measured = list(csv.DictReader(file))
    known = MADE.search(path.read_text())
    line = _made_now(docs) if now or known is None else known[0]
    return {path: page(DEVIATIONS, measured, line)}


def _made_now(docs: Path) -> str:
    commit = "" if commits.is_changed(docs.parent / "src") else commits.commit_at(docs)
    return made_at({"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "numerics": str(RESULTS_VERSION)})


def page(deviations: Sequence[Deviation], measured: Sequence[Mapping[str, str]], line: str) -> str:
    """The page, from the rows of the file and a line that says when and with what they were made."""
    runs = int(measured[0]["runs"])
    lines = [
        "# Deviations from the paper",
        "",
        "Where the paper is silent, ambiguous or wrong, this page states what it says, what `ucls` does instead, and",
        "why. Every literal interpretation that can run is available as a setting, named in parentheses.",
        "",
        "Effects are the change from the default to the literal interpretation: the mean difference over",
        f"{runs} common seeds (0 to {runs - 1}) with a 95% interval, and the mean of the default. Higher is better in",
        "every measure, diverged runs are excluded, and there is no correction for multiple comparisons.",
        "[data/deviations.csv](data/deviations.csv) has every measurement with its steps and settings. UCLS-L, and",
        "DGPQ in River Swim, do not learn with their default settings: there, both sides have tuned ones.",
        "",
        "<!-- not run: it takes hours -->",
        "```sh",
        f"ucls paper deviations --runs {runs} --out docs/data/deviations.csv",
        "python -m tools deviations",
        "```",
        "",
        line,
    ]
    for deviation in deviations:
        effects = [sentence(row) for row in measured if row["deviation"] == deviation.where]
        lines += ["", *section(deviation, effects)]
    return "\n".join([*lines, ""])


def section(deviation: Deviation, effects: Sequence[str]) -> list[str]:
    """The lines of one deviation: what the paper says, what is done instead, why, and the measured effects."""
    said = {"Paper": deviation.literal, "Here": deviation.default, "Why": deviation.why}
    lines = [f"## {deviation.where}", "", *(f"- {name}: {words}." for name, words in said.items())]
    if not effects:
        return [*lines, f"- Not measured: {deviation.unmeasured}."]
    return [*lines, *(f"- Effect: {effect}." for effect in effects)]


def sentence(row: Mapping[str, str]) -> str:
    """A measurement in words."""
    literal, default = (", ".join(f"`{one}`" for one in row[side].split(", ")) for side in ("literal", "default"))
    sides = literal.replace("`default`", "the default")
    sides += "" if row["default"] == "default" else f" instead of {default}"
    sides += f" and `{row['both']}`" if row["both"] and "," not in row["both"] else ""
    text = f"{row['algorithm']} in {row['domain']} with {sides}: {row['metric']} "
    text += f"**{row['difference']}**" if row["difference"] else "undefined"
    text += f" [{row['low']}, {row['high']}]" if row["low"] else ""  # a single pair has no interval
    text += f", from {row['default mean'] or 'undefined'}"
    for side in ("literal", "default"):
        lost = row[f"{side} runs diverged"]
        text += f"; {lost} of {row['runs']} {side} runs diverged" if lost != "0" else ""
    return text
