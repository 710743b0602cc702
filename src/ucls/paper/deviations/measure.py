"""The measured effect of deviations: the literal interpretation compared with the default on the same seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from ucls._util.files import write_atomic
from ucls.errors import UserError
from ucls.paper._markdown import csv_text
from ucls.paper.numbers import number
from ucls.paper.runs.domains import DOMAINS, PUDDLE, SPARSE, as_read, dtype_of
from ucls.stats import Estimate, paired, scores, summarize
from ucls.study import Member, RunSpec, Store, Study, make_run_specs, run_study
from ucls.study.runners.base import Runner
from ucls.study.storage.records import Row

METRICS = {
    "final reward per step": "final_reward_per_step",
    "episodes": "episodes",
    "final return": "final_return",
}


@dataclass(frozen=True)
class Trial:
    """One measurement of a deviation: the literal interpretation against the default, in one environment."""

    agent: str
    env: str
    literal: dict[str, Any]
    metric: str
    steps: int = 50_000
    default: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Deviation:
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
    deviations: Sequence[Deviation], runs: int, store: Store, runner: Runner, quiet: bool = False
) -> list[list[Difference]]:
    """Run every trial of every deviation on seeds 0 to runs - 1."""
    groups = {
        (id(t), side): _cells(t, side, runs) for d in deviations for t in d.trials for side in ("literal", "default")
    }
    cells = {cell.id: cell for group in groups.values() for cell in group}
    slow_first = sorted(cells.values(), key=lambda cell: (cell.env != SPARSE, cell.env != PUDDLE, cell))
    study = Study("deviations", tuple(Member(cell.agent, cell) for cell in slow_first))
    run_study(store, study, runner, quiet)
    rows = {row.id: row for row in store.rows(study.name)}
    return [[_difference(trial, runs, rows) for trial in deviation.trials] for deviation in deviations]


def write(deviations: Sequence[Deviation], differences: list[list[Difference]], path: Path) -> None:
    """Write every measurement as a row of a CSV file."""
    text = csv_text(HEADS, [[row[head] for head in HEADS] for row in measurements(deviations, differences)])
    write_atomic(path, lambda file: file.write_text(text))


def measurements(deviations: Sequence[Deviation], differences: list[list[Difference]]) -> list[dict[str, str]]:
    """Every measurement as a row of text."""
    pairs = zip(deviations, differences, strict=True)
    return [_measurement(deviation, one) for deviation, found in pairs for one in found]


HEADS = [
    *("deviation", "algorithm", "domain", "steps", "literal", "default", "both", "metric"),
    *("literal mean", "default mean", "difference", "low", "high", "runs"),
    *("literal runs diverged", "default runs diverged"),
]


def _measurement(deviation: Deviation, found: Difference) -> dict[str, str]:
    trial = found.trial
    both = trial.literal.items() & trial.default.items()
    sides = [{k: v for k, v in side.items() if (k, v) not in both} for side in (trial.literal, trial.default)]
    apart = [] if found.difference is None else [number(value, 3) for value in found.difference if not isnan(value)]
    cells = [
        *(deviation.where, trial.agent, DOMAINS[trial.env].title, str(trial.steps)),
        *(*map(_words, sides), _words(dict(sorted(both)), none=""), trial.metric),
        *("" if mean is None else number(mean) for mean in (found.literal, found.default)),
        *(*apart, "", "", "")[:3],
        *map(str, (found.runs, *found.diverged)),
    ]
    return dict(zip(HEADS, cells, strict=True))


def _words(settings: Mapping[str, Any], none: str = "default") -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or none


def _cells(trial: Trial, side: str, runs: int) -> tuple[RunSpec, ...]:
    return make_run_specs(
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
        scores([_score(row, trial.metric) for row in side], [row.status == "diverged" for row in side])
        for side in pairs
    )
    pair = paired(literal, default)
    means = [summarize(side) for side in (literal, default)]
    lost = means[0].diverged, means[1].diverged
    return Difference(trial, runs, means[0].center, means[1].center, pair and pair.difference, lost)


def _score(row: Row, name: str) -> float:
    """Return the metric of a run; if it finished no episode, the total reward counts."""
    if row.metrics is None:
        raise UserError(
            f"a run of {row.agent} in {row.env} is missing ({row.error or 'stopped'}): repeat the command to resume"
        )
    value = getattr(row.metrics, METRICS[name])
    return row.metrics.reward if value is None else value
