"""Deviations from the paper's text, and the measured effect of each.

`ucls departures --runs N --out docs/departures.md` compares the literal interpretation with the default on the same
seeds. It writes the page, with a section for each of `readings.DEPARTURES`, and `data/departures.csv` beside it, with
every measurement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import Any

from ucls._files import write_atomic
from ucls.errors import UserError
from ucls.paper import commits
from ucls.paper._markdown import csv_text
from ucls.paper.account import made_at
from ucls.paper.domains import DOMAINS, PUDDLE, SPARSE, as_read, dtype_of
from ucls.paper.numbers import number
from ucls.stats import Estimate, paired, scores, summarize
from ucls.study import Cell, Member, Store, Study, make_cells, run_study
from ucls.study.cell import RESULTS_VERSION
from ucls.study.records import Row
from ucls.study.runners.base import Runner

MEASURES = {
    "final reward per step": "last_reward",
    "episodes": "episodes",
    "final return": "last_return",
}


@dataclass(frozen=True)
class Trial:
    """One measurement of a deviation: the literal interpretation against the default, in one environment."""

    agent: str
    env: str
    literal: dict[str, Any]
    measure: str
    steps: int = 50_000
    default: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Departure:
    """A deviation from the paper's text; `trials` may be empty where `unmeasured` says why."""

    where: str
    literal: str
    default: str
    why: str
    trials: tuple[Trial, ...] = ()
    unmeasured: str = ""


@dataclass(frozen=True)
class Difference:
    """The result of a trial: the means of non-diverged runs, and the difference (literal - default) of their pairs."""

    trial: Trial
    runs: int
    literal: float | None
    default: float | None
    difference: Estimate | None
    diverged: tuple[int, int]


def measure(
    departures: Sequence[Departure], runs: int, store: Store, runner: Runner, quiet: bool = False
) -> list[list[Difference]]:
    """Run every trial of every deviation on seeds 0 to runs - 1."""
    groups = {
        (id(t), side): _cells(t, side, runs) for d in departures for t in d.trials for side in ("literal", "default")
    }
    cells = {cell.id: cell for group in groups.values() for cell in group}
    slow_first = sorted(cells.values(), key=lambda cell: (cell.env != SPARSE, cell.env != PUDDLE, cell))
    study = Study("departures", tuple(Member(cell.agent, cell) for cell in slow_first))
    run_study(store, study, runner, quiet)
    rows = {row.id: row for row in store.rows(study.name)}
    return [[_difference(trial, runs, rows) for trial in departure.trials] for departure in departures]


def write_page(departures: Sequence[Departure], differences: list[list[Difference]], runs: int, path: Path) -> None:
    """Write the page of deviations as Markdown, and the measurements to data/departures.csv beside it."""
    code = Path(__file__).parent
    commit = "" if commits.is_changed(code) else commits.commit_at(code)
    facts = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "numerics": str(RESULTS_VERSION)}
    measured = measurements(departures, differences)
    table = csv_text(HEADS, [[row[head] for head in HEADS] for row in measured])
    write_atomic(path.parent / "data" / "departures.csv", lambda file: file.write_text(table))
    write_atomic(path, lambda file: file.write_text(page(departures, measured, runs, facts)))


def measurements(departures: Sequence[Departure], differences: list[list[Difference]]) -> list[dict[str, str]]:
    """Every measurement as a row of data/departures.csv."""
    pairs = zip(departures, differences, strict=True)
    return [_measurement(departure, one) for departure, found in pairs for one in found]


def page(
    departures: Sequence[Departure],
    measured: Sequence[Mapping[str, str]],
    runs: int,
    facts: Mapping[str, str] = {},
) -> str:
    """The page of deviations, from the rows of data/departures.csv; `facts` say when and with what it was made."""
    lines = [
        "# Deviations from the paper",
        "",
        "Where the paper is silent, ambiguous or wrong, this page states what it says, what `ucls` does instead, and",
        "why. Every literal interpretation that can run is available as a setting, named in parentheses.",
        "",
        "Effects are the change from the default to the literal interpretation: the mean difference over",
        f"{runs} common seeds (0 to {runs - 1}) with a 95% interval, and the mean of the default. Higher is better in",
        "every measure, diverged runs are excluded, and there is no correction for multiple comparisons.",
        "[data/departures.csv](data/departures.csv) has every measurement with its steps and settings. UCLS-L, and",
        "DGPQ in River Swim, do not learn with their default settings: there, both sides have tuned ones.",
        "",
        "```sh",
        f"ucls departures --runs {runs} --out docs/departures.md",
        "```",
        "",
        made_at(facts),
    ]
    for departure in departures:
        effects = [sentence(row) for row in measured if row["deviation"] == departure.where]
        lines += ["", *section(departure, effects)]
    return "\n".join([*lines, ""])


def section(departure: Departure, effects: Sequence[str]) -> list[str]:
    """The lines of one deviation: what the paper says, what is done instead, why, and the measured effects."""
    said = {"Paper": departure.literal, "Here": departure.default, "Why": departure.why}
    lines = [f"## {departure.where}", "", *(f"- {name}: {words}." for name, words in said.items())]
    if not effects:
        return [*lines, f"- Not measured: {departure.unmeasured}."]
    return [*lines, *(f"- Effect: {effect}." for effect in effects)]


def sentence(row: Mapping[str, str]) -> str:
    """A measurement in words."""
    literal, default = (", ".join(f"`{one}`" for one in row[side].split(", ")) for side in ("literal", "default"))
    sides = literal.replace("`default`", "the default")
    sides += "" if row["default"] == "default" else f" instead of {default}"
    sides += f" and `{row['both']}`" if row["both"] and "," not in row["both"] else ""
    text = f"{row['algorithm']} in {row['domain']} with {sides}: {row['measure']} "
    text += f"**{row['difference']}**" if row["difference"] else "undefined"
    text += f" [{row['low']}, {row['high']}]" if row["low"] else ""  # a single pair has no interval
    text += f", from {row['default mean'] or 'undefined'}"
    for side in ("literal", "default"):
        lost = row[f"{side} runs diverged"]
        text += f"; {lost} of {row['runs']} {side} runs diverged" if lost != "0" else ""
    return text


HEADS = [
    *("deviation", "algorithm", "domain", "steps", "literal", "default", "both", "measure"),
    *("literal mean", "default mean", "difference", "low", "high", "runs"),
    *("literal runs diverged", "default runs diverged"),
]


def _measurement(departure: Departure, found: Difference) -> dict[str, str]:
    trial = found.trial
    both = trial.literal.items() & trial.default.items()
    sides = [{k: v for k, v in side.items() if (k, v) not in both} for side in (trial.literal, trial.default)]
    apart = [] if found.difference is None else [number(value, 3) for value in found.difference if not isnan(value)]
    cells = [
        *(departure.where, trial.agent, DOMAINS[trial.env].title, str(trial.steps)),
        *(*map(_words, sides), _words(dict(sorted(both)), none=""), trial.measure),
        *("" if mean is None else number(mean) for mean in (found.literal, found.default)),
        *(*apart, "", "", "")[:3],
        *map(str, (found.runs, *found.diverged)),
    ]
    return dict(zip(HEADS, cells, strict=True))


def _words(settings: Mapping[str, Any], none: str = "default") -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or none


def _cells(trial: Trial, side: str, runs: int) -> tuple[Cell, ...]:
    return make_cells(
        trial.env,
        trial.agent,
        steps=trial.steps,
        seeds=range(runs),
        settings=as_read(trial.agent, trial.env, getattr(trial, side)),
        dtype=dtype_of(trial.agent, trial.env),
    )


def _difference(trial: Trial, runs: int, rows: dict[str, Row]) -> Difference:
    pairs = [[rows[cell.id] for cell in _cells(trial, side, runs)] for side in ("literal", "default")]
    literal, default = (
        scores([_score(row, trial.measure) for row in side], [row.status == "diverged" for row in side])
        for side in pairs
    )
    pair = paired(literal, default)
    means = [summarize(side) for side in (literal, default)]
    lost = means[0].diverged, means[1].diverged
    return Difference(trial, runs, means[0].center, means[1].center, pair and pair.difference, lost)


def _score(row: Row, name: str) -> float:
    """The measure of a run; one that finished no episode counts with the whole of its reward."""
    if row.measures is None:
        raise UserError(
            f"a run of {row.agent} in {row.env} is missing ({row.error or 'stopped'}): repeat the command to resume"
        )
    value = getattr(row.measures, MEASURES[name])
    return row.measures.reward if value is None else value
