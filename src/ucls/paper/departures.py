"""Where the product departs from the paper's text, and what each departure changes, measured.

`ucls departures --runs N --out docs/departures.md` runs the literal reading against ours on the same seeds and writes
the page, with a section for each of `readings.DEPARTURES`: a test makes runs of the settings that it names.
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
from ucls.paper.account import made_at
from ucls.paper.domains import DOMAINS, PUDDLE, SPARSE, as_read, dtype_of
from ucls.paper.numbers import number
from ucls.stats import Estimate, paired, scores, summarize
from ucls.study import Cell, Member, Store, Study, make_cells, run_study
from ucls.study.cell import RESULTS_VERSION
from ucls.study.records import Row
from ucls.study.runners.base import Runner

MEASURES = {
    "reward a step, last fifth": "last_reward",
    "episodes": "episodes",
    "return, last 20 episodes": "last_return",
}


@dataclass(frozen=True)
class Trial:
    """One measurement of a departure: the literal reading against ours, in one environment."""

    agent: str
    env: str
    literal: dict[str, Any]
    measure: str
    steps: int = 50_000
    ours: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Departure:
    """A place where the product departs from the text; `trials` may be empty where `unmeasured` says why."""

    where: str
    literal: str
    ours: str
    why: str
    trials: tuple[Trial, ...] = ()
    unmeasured: str = ""


@dataclass(frozen=True)
class Difference:
    """What a trial found: the mean of both readings' sound runs, and the difference (literal - ours) of sound pairs."""

    trial: Trial
    runs: int
    literal: float | None
    ours: float | None
    difference: Estimate | None
    diverged: tuple[int, int]


def measure(
    departures: Sequence[Departure], runs: int, store: Store, runner: Runner, quiet: bool = False
) -> list[list[Difference]]:
    """Run every trial of every departure on seeds 0 to runs - 1."""
    groups = {
        (id(t), side): _cells(t, side, runs) for d in departures for t in d.trials for side in ("literal", "ours")
    }
    cells = {cell.id: cell for group in groups.values() for cell in group}
    slow_first = sorted(cells.values(), key=lambda cell: (cell.env != SPARSE, cell.env != PUDDLE, cell))
    study = Study("departures", tuple(Member(cell.agent, cell) for cell in slow_first))
    run_study(store, study, runner, quiet)
    rows = {row.id: row for row in store.rows(study.name)}
    return [[_difference(trial, runs, rows) for trial in departure.trials] for departure in departures]


def write_page(departures: Sequence[Departure], differences: list[list[Difference]], runs: int, path: Path) -> None:
    """Write the page of departures as Markdown."""
    code = Path(__file__).parent
    commit = "" if commits.is_changed(code) else commits.commit_at(code)
    facts = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "numerics": str(RESULTS_VERSION)}
    write_atomic(path, lambda file: file.write_text(page(departures, differences, runs, facts)))


def page(
    departures: Sequence[Departure],
    differences: list[list[Difference]],
    runs: int,
    facts: Mapping[str, str] = {},
) -> str:
    """The page of departures; `facts` say when and with what it was made."""
    lines = [
        "# Departures from the paper's text",
        "",
        "Where the paper is silent, ambiguous or wrong, this is what it says, what `ucls` does, and why. Every literal",
        "reading that can run is a setting (named with ours), so that anyone can put it back.",
        "",
        f"The measured difference is literal minus ours: the mean over {runs} common seeds (0 to {runs - 1}), with a",
        "95% bootstrap interval; higher is better in every measure. No correction is made for the many comparisons.",
        "Everything is at default settings but UCLS-L, and DGPQ in River Swim, whose defaults do not learn there: they",
        "have what their sweeps found, on other seeds. It was made by",
        "",
        "```sh",
        f"ucls departures --runs {runs} --out docs/departures.md",
        "```",
        "",
        made_at(facts),
    ]
    for departure, its in zip(departures, differences, strict=True):
        lines += ["", *section(departure, [_sentence(one) for one in its])]
    return "\n".join([*lines, ""])


def section(departure: Departure, measured: Sequence[str]) -> list[str]:
    """The lines of one departure: what the text says, what is done instead, why, and what was measured."""
    said = {"The text": departure.literal, "Ours": departure.ours, "Why": departure.why}
    lines = [f"## {_title(departure.where)}", "", *(f"- {name}: {words}." for name, words in said.items()), ""]
    if not measured:
        return [*lines, f"Not measured: {departure.unmeasured}."]
    return [*lines, "Measured, literal against ours:", "", *(f"- {sentence}" for sentence in measured)]


def _title(where: str) -> str:
    return where[0].upper() + where[1:]


def _sentence(d: Difference) -> str:
    common = d.trial.literal.items() & d.trial.ours.items()
    literal, ours = (
        {k: v for k, v in side.items() if (k, v) not in common} for side in (d.trial.literal, d.trial.ours)
    )
    sides = f"{_words(literal)} against {_words(ours)}"
    sides += f", both with {_words(dict(sorted(common)))}" if common else ""
    text = (
        f"{d.trial.agent}, {DOMAINS[d.trial.env].title}, {d.trial.steps:,} steps, {sides}: "
        f"{d.trial.measure} {_number(d.literal)} against {_number(d.ours)}"
    )
    if d.difference is not None:
        text += f", difference **{number(d.difference.mean, 3)}**"
        if not isnan(d.difference.low):  # a single pair has no interval
            text += f" [{number(d.difference.low, 3)}, {number(d.difference.high, 3)}]"
    lost = f"; {d.diverged[0]} and {d.diverged[1]} of {d.runs} runs diverged, and do not count in the numbers"
    return text + (lost if any(d.diverged) else "")


def _number(value: float | None) -> str:
    return "nothing" if value is None else number(value)


def _words(settings: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in settings.items()) or "default"


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
    pairs = [[rows[cell.id] for cell in _cells(trial, side, runs)] for side in ("literal", "ours")]
    literal, ours = (
        scores([_score(row, trial.measure) for row in side], [row.status == "diverged" for row in side])
        for side in pairs
    )
    pair = paired(literal, ours)
    means = [summarize(side) for side in (literal, ours)]
    lost = means[0].diverged, means[1].diverged
    return Difference(trial, runs, means[0].center, means[1].center, pair and pair.difference, lost)


def _score(row: Row, name: str) -> float:
    """The measure of a run; one that finished no episode counts with the whole of its reward."""
    if row.measures is None:
        raise UserError(
            f"a run of {row.agent} in {row.env} is missing ({row.error or 'stopped'}): the same command goes on"
        )
    value = getattr(row.measures, MEASURES[name])
    return row.measures.reward if value is None else value
