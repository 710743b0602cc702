"""Declare a study: in Python from labeled run specifications, or in a small TOML file, which `toml` reads."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from ucls._util.notebook import table
from ucls.core.metrics import Metrics
from ucls.envs import default_metric
from ucls.errors import UserError, about, unknown
from ucls.settings import listed
from ucls.study.declaration.run_spec import STEPS, RunSpec, make_run_specs
from ucls.study.declaration.sweep import CELLS, TUNING, Range, Sweep, candidates, count, sweep_cells
from ucls.study.declaration.toml import RunTable, StudyTable, check_table, line_of, parse_table, read_text


class Member(NamedTuple):
    """A run of a study with its label; the runs of one label in one environment are a group."""

    label: str
    cell: RunSpec


class Study(NamedTuple):
    """A tuple of labeled run specifications; `baseline` is the label that others are compared with, by `metric`.

    `tuned` are the groups whose settings a sweep finds first, `definition` is the text that it was read from, and
    `time_limit` the number of seconds that a run may take without interruption, None for no limit.
    """

    name: str
    members: tuple[Member, ...]
    baseline: str | None = None
    metric: str | None = None
    tuned: "tuple[Tuned, ...]" = ()
    definition: str = ""
    time_limit: float | None = None

    def _repr_html_(self) -> str:
        """For notebooks: how many runs each label has in each environment."""
        counts = Counter((member.label, member.cell.env, member.cell.steps) for member in self.members)
        rows = [(label, env, f"{steps:,}", runs) for (label, env, steps), runs in counts.items()]
        return f"<p>{escape(self.name)}</p>" + table(rows, ["label", "environment", "steps", "runs"])


class Tuned(NamedTuple):
    """A group whose settings come from a sweep: the sweep, and the seeds of the reported runs."""

    sweep: Sweep
    seeds: tuple[int, ...]

    def members(self, settings: Mapping[str, Any]) -> tuple[Member, ...]:
        """The reported runs of the winner."""
        return tuple(Member(self.sweep.label, cell) for cell in self.sweep.cells(settings, self.seeds))


def sweep_study(study: Study) -> Study:
    """Return the tuning runs of a study that are known in advance, as a study of their own."""
    members = [
        Member(f"{t.sweep.label} {listed(settings, ' ')}", cell)
        for t in study.tuned
        if t.sweep.sampler == "random"
        for settings in candidates(t.sweep)
        for cell in sweep_cells(t.sweep, settings)
    ]
    return Study(f"{study.name}/sweep", tuple(members), metric=study.metric, time_limit=study.time_limit)


@about("seeds")
def parse_seeds(text: str | int | list[int]) -> tuple[int, ...]:
    """Read seeds: a number, a list, or ranges such as "0-19, 30".

    >>> parse_seeds("0-3, 7")
    (0, 1, 2, 3, 7)
    """
    quoted = f"{text!r:.60}"
    single = [text] if isinstance(text, int) else text if isinstance(text, list) else []
    ranges = [range(seed, seed + 1) for seed in single]
    for part in text.split(",") if isinstance(text, str) else ():
        match = re.fullmatch(r"\s*([0-9]{1,20})\s*(?:-\s*([0-9]{1,20})\s*)?", part)
        if not match:
            raise UserError(f'seeds cannot be {quoted}: write "0-19", a number or a list')
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    if not all(0 <= some.start < some.stop <= TUNING for some in ranges):
        raise UserError(f"seeds cannot be {quoted}: seeds go from 0 to {TUNING - 1:,}, ranges from low to high")
    if (count := sum(map(len, ranges))) > CELLS:  # before a mistyped range fills memory
        raise UserError(f"seeds cannot be {quoted}: that is {count:,} seeds, and a study has at most {CELLS:,} runs")
    seeds = tuple(seed for some in ranges for seed in some)
    if not seeds or len(set(seeds)) < len(seeds):
        raise UserError(f"seeds cannot be {quoted}: give at least one seed, and none twice")
    return seeds


def read_study(path: Path, runs: int | None = None, steps: int | None = None) -> Study:
    """Read a study from a TOML file; `runs` and `steps`, if given, are used in place of those in it."""
    return parse_study(read_text(path), str(path), runs, steps)


def name_of(path: Path) -> str:
    """The name that a TOML file gives its study; nothing that it names is imported."""
    text = read_text(path)
    return check_table(parse_table(text, str(path)), text, str(path)).name


def parse_study(text: str, source: str = "study", runs: int | None = None, steps: int | None = None) -> Study:
    """Make a study from TOML text.

    >>> study = parse_study('''name = "tiny"
    ... steps = 2000
    ... seeds = "0-1"
    ... [[run]]
    ... algorithm = "ucls"
    ... env = "ucls/RiverSwim-v0"
    ... set = { p = [0.01, 0.1] }''')
    >>> [(member.label, member.cell.seed) for member in study.members]
    [('ucls p=0.01', 0), ('ucls p=0.01', 1), ('ucls p=0.1', 0), ('ucls p=0.1', 1)]
    """
    if (runs or 1) > CELLS or (steps or 1) > STEPS:
        raise UserError(f"a study has at most {CELLS:,} runs, of at most {STEPS:,} steps")
    table = check_table(parse_table(text, source), text, source)
    for named, where in ((table.metric, ("metric",)), (table.sweep and table.sweep.metric, ("sweep", "metric"))):
        if named is not None and named not in Metrics._fields:
            raise _at(text, source, where, unknown("metric", named, Metrics._fields))
    members: list[Member] = []
    tuned: list[Tuned] = []
    seen: set[Member] = set()
    total = 0
    for i, run in enumerate(table.run):
        try:
            total += _size(run, table, runs)
            if total > CELLS:
                raise UserError(
                    f"that makes {total:,} runs, but a study has at most {CELLS:,}: list fewer values", "set"
                )
            for part in _expand(run, table, runs, steps):
                (tuned.append(part) if isinstance(part, Tuned) else members.extend(_once(part, seen)))
        except UserError as error:
            raise _at(text, source, _place(i, run, error.key), error) from None
    labels = {member.label for member in members} | {t.sweep.label for t in tuned}
    if table.baseline is not None and table.baseline not in labels:
        raise _at(text, source, ("baseline",), unknown("label", table.baseline, sorted(labels)))
    return Study(table.name, tuple(members), table.baseline, table.metric, tuple(tuned), text, table.time_limit)


def _at(text: str, source: str, where: tuple[Any, ...], error: UserError) -> UserError:
    return UserError(f"{source}, line {line_of(text, where)}: {error}")


def _place(i: int, run: RunTable, key: str) -> tuple[Any, ...]:
    """Return the place of the key or the setting that an error is about; of its table, if it is about none."""
    if key == "size" or (key == "seeds" and run.seeds is None):
        return ("sweep", "size") if key == "size" else ("seeds",)
    name = next((name for name in run.set if key in (name, name.rpartition(".")[2])), None)
    if name is not None:
        return ("run", i, "set", name, *name.split("."))  # one key, or a table of them
    return ("run", i, key) if key in RunTable.model_fields else ("run", i)


def _seeds(run: RunTable, table: StudyTable, runs: int | None) -> tuple[int, ...]:
    seeds = parse_seeds(run.seeds if run.seeds is not None else table.seeds)
    return tuple(range(runs)) if runs else seeds


def _words(value: Any) -> list[str]:
    """Return the words in the value of a key: one, some, or none."""
    some = value if isinstance(value, list) else [value]
    return [word for word in some if isinstance(word, str) and word]


def _size(run: RunTable, table: StudyTable, runs: int | None) -> int:
    """Return how many runs a `[[run]]` table makes, before any is made."""
    seeds, pairs = len(_seeds(run, table, runs)), len(_words(run.algorithm)) * len(_words(run.env))
    varied = _find_varied(run, table.sweep is not None)
    if table.sweep is not None and varied:
        return pairs * (seeds + count(varied, table.sweep.size) * table.sweep.runs)
    return pairs * seeds * math.prod(len(values) for values in varied.values())


def _find_varied(run: RunTable, swept: bool) -> dict[str, Any]:
    """Return the settings that have several values."""
    varied = {}
    for name, value in run.set.items():
        if isinstance(value, list | dict):
            with about(name):
                varied[name] = _values(name, value)
    for name, values in varied.items():
        if isinstance(values, Range) and not swept:
            raise UserError(f"setting {name!r} is a range, which requires a [sweep] table", name)
    return varied


def _expand(run: RunTable, table: StudyTable, runs: int | None, steps: int | None) -> Iterator[Any]:
    """The groups of a `[[run]]`: one for each agent, environment and point of the grid, or one to tune for each."""
    seeds = _seeds(run, table, runs)
    steps = steps or run.steps or table.steps
    varied = _find_varied(run, table.sweep is not None)
    fixed = {name: value for name, value in run.set.items() if name not in varied}
    named: dict[str, Any] = {name: getattr(run, name) for name in ("dtype", "features", "low", "high", "discount")}
    for agent, env in itertools.product(_words(run.algorithm), _words(run.env)):
        label = run.label or agent
        if run.label and isinstance(run.algorithm, list):
            label = f"{run.label} {agent}"
        if table.sweep is not None and varied:
            metric = table.sweep.metric or table.metric or default_metric(env, fixed)
            sizes = {"steps": steps, "size": table.sweep.size, "runs": table.sweep.runs}
            sampler = table.sweep.sampler
            sweep = Sweep(label, agent, env, varied, fixed, metric=metric, sampler=sampler, **sizes, **named)
            for settings in candidates(sweep)[:1] if sampler == "optuna" else candidates(sweep):
                sweep_cells(sweep, settings)
            yield Tuned(sweep, seeds)
            continue
        for values in itertools.product(*varied.values()):
            point = dict(zip(varied, values, strict=True))
            keep: dict[str, Any] = {"resolution": run.resolution, "probe": run.probe, "keep": run.keep}
            cells = make_run_specs(env, agent, steps=steps, seeds=seeds, settings={**fixed, **point}, **named, **keep)
            full = f"{label} {listed(point, ' ')}" if point else label
            yield tuple(Member(full, cell) for cell in cells)


def _once(members: tuple[Member, ...], seen: set[Member]) -> tuple[Member, ...]:
    """Yield each run of a group once: the same run twice would count as two."""
    for member in members:
        if member in seen:
            where = f"{member.label!r} in {member.cell.env}, seed {member.cell.seed}"
            raise UserError(f"the run {where} is declared twice: remove one, or give them labels", "label")
        seen.add(member)
    return members


def _values(name: str, value: Any) -> Any:
    """Return a grid unchanged, and a range from `{ low = ..., high = ... }`."""
    if isinstance(value, list):
        if not value:
            raise UserError(f"setting {name!r} is an empty list: add values")
        return value
    allowed = {"low": float, "high": float, "log": bool, "whole": bool}
    if not {"low", "high"} <= value.keys() <= allowed.keys():
        raise UserError(
            f"setting {name!r} cannot be {value!r:.60}: a range has low and high, and optionally log and whole"
        )
    numbers = {key: float(v) if allowed[key] is float and type(v) is int else v for key, v in value.items()}
    for key, kind in allowed.items():
        if key in numbers and type(numbers[key]) is not kind:
            raise UserError(f"setting {name!r} has a range whose {key} cannot be {numbers[key]!r:.60}")
    spread = Range(**{"log": False, **value})
    if not spread.low < spread.high or (spread.log and spread.low <= 0):
        raise UserError(f"setting {name!r} has an invalid range from {spread.low} to {spread.high}")
    return spread
