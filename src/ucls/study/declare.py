"""Declare a study: in Python from labelled cells, or in a small TOML file. The one door to pydantic and tomllib."""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ucls.errors import UserError, unknown
from ucls.study.cell import Cell, make_cells
from ucls.study.result import Measures
from ucls.study.sweep import TUNING, Range, Sweep, candidates, sweep_cells


class Member(NamedTuple):
    """A cell of a study, and what it is called there; the runs of one label in one environment are a group."""

    label: str
    cell: Cell


class Study(NamedTuple):
    """A tuple of labelled cells; `baseline` is the label that others are compared with, by `measure`.

    `tuned` are the groups whose settings a sweep finds first, `definition` is the text that it was read from.
    """

    name: str
    members: tuple[Member, ...]
    baseline: str | None = None
    measure: str | None = None
    tuned: "tuple[Tuned, ...]" = ()
    definition: str = ""


class Tuned(NamedTuple):
    """A group whose settings come from a sweep: the sweep, and the seeds that its winner is reported on."""

    sweep: Sweep
    seeds: tuple[int, ...]

    def members(self, settings: Mapping[str, Any]) -> tuple[Member, ...]:
        """The reported runs of the winner."""
        s = self.sweep
        given = {**s.fixed, **settings}
        cells = make_cells(
            s.env, s.agent, steps=s.steps, seeds=self.seeds, settings=given, dtype=s.dtype, features=s.features
        )
        return tuple(Member(s.label, cell) for cell in cells)


def sweep_study(study: Study) -> Study:
    """The tuning runs of a study that can be named beforehand, as a study of their own."""
    members = [
        Member(f"{t.sweep.label} {_words(settings)}", cell)
        for t in study.tuned
        if t.sweep.sampler == "random"
        for settings in candidates(t.sweep)
        for cell in sweep_cells(t.sweep, settings)
    ]
    return Study(f"{study.name}/sweep", tuple(members), measure=study.measure)


def parse_seeds(text: str | int | list[int]) -> tuple[int, ...]:
    """Read seeds: a number, a list, or ranges such as "0-19, 30".

    >>> parse_seeds("0-3, 7")
    (0, 1, 2, 3, 7)
    """
    single = [text] if isinstance(text, int) else text if isinstance(text, list) else []
    ranges = [range(seed, seed + 1) for seed in single]
    for part in text.split(",") if isinstance(text, str) else ():
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if not match:
            raise UserError(f'seeds cannot be {text!r}: write "0-19", a number or a list')
        ranges.append(range(int(match[1]), int(match[2] or match[1]) + 1))
    inside = all(seeds.start >= 0 and seeds.stop <= TUNING for seeds in ranges)  # before a mistyped range fills memory
    found = [seed for seeds in ranges for seed in seeds] if inside else []
    if not found or len(set(found)) < len(found):
        raise UserError(f"seeds cannot be {text!r}: give different ones, from 0 and below {TUNING:,}")
    return tuple(found)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Run(_Strict):
    agent: str
    env: str | list[str]
    set: dict[str, Any] = {}
    label: str | None = None
    steps: int | None = Field(None, ge=1)
    seeds: str | int | list[int] | None = None
    features: str | None = None
    dtype: str = "float64"
    resolution: int | None = Field(None, ge=1)
    probe: str = ""
    keep: bool = False


class _Sweep(_Strict):
    runs: int = Field(3, ge=1)
    size: int = Field(0, ge=0)
    measure: str | None = None
    sampler: Literal["random", "optuna"] = "random"


class _Study(_Strict):
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")
    steps: int = Field(50_000, ge=1)
    seeds: str | int | list[int] = "0-29"
    baseline: str | None = None
    measure: str | None = None
    sweep: _Sweep | None = None
    run: list[_Run] = Field(min_length=1)


def read_study(path: Path, runs: int | None = None, steps: int | None = None) -> Study:
    """Read a study from a TOML file; `runs` and `steps`, if given, are used in place of those in it."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    return parse_study(text, str(path), runs, steps)


def name_of(path: Path) -> str:
    """The name that a TOML file gives its study."""
    return read_study(path).name


def parse_study(text: str, source: str = "study", runs: int | None = None, steps: int | None = None) -> Study:
    """Make a study from TOML text.

    >>> study = parse_study('''name = "tiny"
    ... steps = 2000
    ... seeds = "0-1"
    ... [[run]]
    ... agent = "ucls"
    ... env = "ucls/RiverSwim-v0"
    ... set = { p = [0.01, 0.1] }''')
    >>> [(member.label, member.cell.seed) for member in study.members]
    [('ucls p=0.01', 0), ('ucls p=0.01', 1), ('ucls p=0.1', 0), ('ucls p=0.1', 1)]
    """
    try:
        table = _Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source} is not TOML: {error}") from None
    except ValidationError as error:
        raise UserError(_complaint(error, text, source)) from None
    if table.measure is not None and table.measure not in Measures._fields:
        raise UserError(
            f"{source}, line {_line(text, ('measure',))}: {unknown('measure', table.measure, Measures._fields)}"
        )
    members: list[Member] = []
    tuned: list[Tuned] = []
    for i, run in enumerate(table.run):
        try:
            for part in _expand(run, table, runs, steps):
                (tuned.append(part) if isinstance(part, Tuned) else members.extend(part))
        except UserError as error:
            named = re.search(r"'([\w.]+)'", str(error))
            words = [named[1]] if named else []
            raise UserError(f"{source}, line {_line(text, ('run', i, *words))}: {error}") from None
    labels = {member.label for member in members} | {t.sweep.label for t in tuned}
    if table.baseline is not None and table.baseline not in labels:
        where = _line(text, ("baseline",))
        raise UserError(f"{source}, line {where}: {unknown('label', table.baseline, sorted(labels))}")
    return Study(table.name, tuple(members), table.baseline, table.measure, tuple(tuned), text)


def _expand(run: _Run, table: _Study, runs: int | None, steps: int | None) -> Iterator[tuple[Member, ...] | Tuned]:
    """The groups of a `[[run]]`: one for each environment and each point of the grid, or one to tune for each."""
    seeds = parse_seeds(run.seeds if run.seeds is not None else table.seeds)
    seeds = tuple(range(runs)) if runs else seeds
    steps = steps or run.steps or table.steps
    varied = {name: _values(name, value) for name, value in run.set.items() if isinstance(value, list | dict)}
    fixed = {name: value for name, value in run.set.items() if name not in varied}
    label = run.label or run.agent
    for env in [run.env] if isinstance(run.env, str) else run.env:
        named: dict[str, Any] = {"dtype": run.dtype, "features": run.features}
        if table.sweep is not None and varied:
            measure = table.sweep.measure or table.measure or default_measure(env, fixed)
            sizes = {"steps": steps, "size": table.sweep.size, "runs": table.sweep.runs}
            sampler = table.sweep.sampler
            sweep = Sweep(label, run.agent, env, varied, fixed, measure=measure, sampler=sampler, **sizes, **named)
            for settings in candidates(sweep)[:1] if sampler == "optuna" else candidates(sweep):
                sweep_cells(sweep, settings)
            yield Tuned(sweep, seeds)
            continue
        for values in itertools.product(*varied.values()):
            point = dict(zip(varied, values, strict=True))
            kept: dict[str, Any] = {"resolution": run.resolution, "probe": run.probe, "keep": run.keep}
            cells = make_cells(env, run.agent, steps=steps, seeds=seeds, settings={**fixed, **point}, **named, **kept)
            full = f"{label} {_words(point)}" if point else label
            yield tuple(Member(full, cell) for cell in cells)


def default_measure(env: str, settings: Mapping[str, Any] = {}) -> str:
    """What runs in an environment are compared by, if nobody says otherwise."""
    from ucls.envs import make_world, module_of
    from ucls.settings import describe

    module: Any = module_of(env)
    known = {setting.name for setting in describe(module.Env)}
    world = make_world(
        env, {name.removeprefix("env."): v for name, v in settings.items() if name.removeprefix("env.") in known}
    )
    return module.measure(world.env)


def _values(name: str, value: Any) -> Any:
    """A grid as it is; a range from `{ low = ..., high = ... }`."""
    if isinstance(value, list):
        if not value:
            raise UserError(f"setting {name!r} has an empty list: give it values")
        return value
    allowed = {"low", "high", "log", "whole"}
    if not {"low", "high"} <= value.keys() <= allowed:
        raise UserError(f"setting {name!r} cannot be {value!r}: a range has low and high, and may have log and whole")
    found = Range(**{"log": False, **value})
    if not found.low < found.high or (found.log and found.low <= 0):
        raise UserError(f"setting {name!r} has no range from {found.low} to {found.high}")
    return found


def _words(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())


def _complaint(error: ValidationError, text: str, source: str) -> str:
    """The first thing that is wrong, in one line with its place."""
    first = error.errors()[0]
    where = tuple(part for part in first["loc"] if part not in ("str", "int") and not str(part).startswith("list["))
    key = str(where[-1]) if where else ""
    if first["type"] == "extra_forbidden":
        models: dict[str, type[BaseModel]] = {"run": _Run, "sweep": _Sweep}
        model = models.get(str(where[0]), _Study) if len(where) > 1 else _Study
        said = str(unknown("key", key, model.model_fields))
    elif first["type"] == "missing":
        said = f"the key {key!r} is missing"
    else:
        said = f"{key!r} is wrong: {first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{source}, line {_line(text, where)}: {said}"


def _line(text: str, where: tuple[Any, ...]) -> int:
    """The line of a key, `("run", 1, "agent")` for one in the second `[[run]]`; the table's line if it is not there."""
    lines = text.splitlines()
    start, end, keys = 0, len(lines), [part for part in where if isinstance(part, str)]
    if where and where[0] in ("run", "sweep"):
        heads = [i for i, line in enumerate(lines) if re.match(rf"\s*\[\[?\s*{where[0]}\s*\]", line)]
        nth = where[1] if len(where) > 1 and isinstance(where[1], int) else 0
        if nth < len(heads):
            start = heads[nth]
            after = [i for i in range(start + 1, len(lines)) if re.match(r"\s*\[\[?\s*(run|sweep)\s*\]", lines[i])]
            end, keys = (after[0] if after else len(lines)), keys[1:]
    for key in reversed(keys):
        for i in range(start, end):
            if re.search(rf"(^|[\s{{,.\"]){re.escape(key)}\"?\s*=|\"{re.escape(key)}\"", lines[i]):
                return i + 1
    return start + 1
