"""Describe a study without running it: its groups, and how long the missing runs would take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ucls.core.config import resolve_plan
from ucls.core.memory import allocation_of
from ucls.envs import ENVIRONMENTS
from ucls.settings import listed
from ucls.study.declaration.declare import Study, sweep_study
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.runners.cores import cores
from ucls.study.storage.store import Store, is_there
from ucls.train.open_run import plan_anywhere

CAR = {"ucls": 800, "ucls-exact": 1_700, "gv-ucb": 800, "lspi-rmax": 1_000, "lstd-sm": 1_500, "lstd-cg": 200}
# Typical steps per second with default settings; speeds measured in the store take precedence.
TYPICAL = {
    "ucls/RiverSwim-v0": {
        "ucls": 20_000,
        "ucls-exact": 12_000,
        "gv-ucb": 20_000,
        "lspi-rmax": 25_000,
        "lstd-sm": 25_000,
        "lstd-cg": 1_500,
    },
    "ucls/PuddleWorld-v0": {
        "ucls": 5_000,
        "ucls-exact": 4_500,
        "gv-ucb": 4_500,
        "lspi-rmax": 6_000,
        "lstd-sm": 10_000,
        "lstd-cg": 400,
    },
    "ucls/SparseMountainCar-v0": CAR,
    "ucls/MountainCar-v0": CAR,
}
LINEAR = {"ucbootstrap": 40_000}
FAST = 100_000
SHELL = 5_000  # at most, in a third-party environment, whose steps run in Python
# Seconds until a worker takes its first step, kernels compiled already: to start and import, and to link the loop of
# each kind of run (docs/performance.md, "the first step"). Compiling kernels for the first time takes half a minute.
START, LINK = 3.0, 5.0


class RunGroup(NamedTuple):
    """The runs of one label in one environment; `settings` distinguish it from others of its algorithm, as text."""

    label: str
    env: str
    agent: str
    runs: int
    steps: int
    settings: str


class GroupForecast(NamedTuple):
    """How many runs of a group are missing and finished, and the expected seconds of the missing ones.

    `known` says whether that speed was measured here. `memory` is what the arrays of one run take, in bytes.
    """

    label: str
    env: str
    agent: str
    missing: int
    done: int
    seconds: float
    speed: float
    known: bool
    memory: int


class Forecast(NamedTuple):
    """The cost of running a study: runs, minutes with `jobs` processes, and the basis of the speeds."""

    name: str
    groups: list[GroupForecast]
    missing: int
    minutes: float
    start_seconds: float
    jobs: int
    basis: str


def groups_of(study: Study) -> list[RunGroup]:
    """The groups of a study, in its order."""
    cells: dict[tuple[str, str], list[RunSpec]] = {}
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for label, cell in study.members:
        cells.setdefault((label, cell.env), []).append(cell)
    for some in cells.values():
        alike.setdefault((some[0].agent, some[0].env), []).append(dict(some[-1].settings))
    for t in study.tuned:
        alike.setdefault((t.sweep.agent, t.sweep.env), []).append({})
    groups = {}
    for (label, env), some in cells.items():
        agent, others = some[0].agent, alike[some[0].agent, env]
        own = {name: value for name, value in some[-1].settings if any(o.get(name) != value for o in others)}
        groups[label, env] = RunGroup(label, env, agent, len(some), some[-1].steps, listed(own) or "default")
    for sweep, seeds in study.tuned:
        names = "tuned: " + ", ".join(sweep.space)
        groups[sweep.label, sweep.env] = RunGroup(sweep.label, sweep.env, sweep.agent, len(seeds), sweep.steps, names)
    return list(groups.values())


def forecast(study: Study, path: Path, jobs: int | None) -> Forecast:
    """Estimate what running a study would do and how long it would take on this machine."""
    groups = _expected(study, path)
    jobs = jobs or cores()
    missing = sum(group.missing for group in groups)
    workers = max(1, min(jobs, missing))
    work = sum(group.seconds for group in groups) / workers
    longest = max((group.seconds / group.missing for group in groups if group.missing), default=0.0)
    kinds = {(group.agent, group.env) for group in groups if group.missing}
    start = START + LINK * -(-len(kinds) // workers) if missing else 0.0
    measured = all(group.known for group in groups)
    basis = "measured speeds" if measured else "some speeds are typical values, not measured here"
    return Forecast(study.name, groups, missing, (start + max(work, longest)) / 60, start, jobs, basis)


def _expected(study: Study, path: Path) -> list[GroupForecast]:
    """Return the missing and finished runs of each group, those of tuned settings last."""
    done: set[str] = set()
    speeds: dict[tuple[str, str], tuple[float, int]] = {}
    if is_there(path):
        with Store(path) as store:
            speeds, done = store.speeds(), store.finished()
    groups: dict[tuple[str, str], GroupForecast] = {}

    def add(label: str, agent: str, env: str, steps: int, missing: int, done: int = 0, cell: Any = None) -> None:
        speed, known = speed_of(agent, env, speeds)
        group = groups.get((label, env))
        if group is None:
            group = GroupForecast(label, env, agent, 0, 0, 0.0, speed, known, memory_of(cell) if cell else 0)
        seconds = group.seconds + missing * steps / speed
        groups[label, env] = group._replace(missing=group.missing + missing, done=group.done + done, seconds=seconds)

    seen: set[str] = set()
    for label, cell in (*sweep_study(study).members, *study.members):
        if (id := cell.id) not in seen:
            seen.add(id)
            add(label, cell.agent, cell.env, cell.steps, int(id not in done), int(id in done), cell)
    for sweep, seeds in study.tuned:
        add(f"{sweep.label} (best settings)", sweep.agent, sweep.env, sweep.steps, len(seeds))
    return list(groups.values())


def memory_of(cell: RunSpec) -> int:
    """Return the bytes that the arrays of a run take at its end, as declared by its algorithm."""
    around: dict[str, Any] = {"low": cell.low or None, "high": cell.high or None, "discount": cell.discount}
    asked: dict[str, Any] = {"settings": dict(cell.settings), "features": cell.features, "dtype": cell.dtype}
    outline = plan_anywhere(cell.env, cell.agent, **asked, **around)
    return 8 * allocation_of(resolve_plan(outline.plan), cell.steps)


def speed_of(agent: str, env: str, measured: Mapping[tuple[str, str], tuple[float, int]]) -> tuple[float, bool]:
    """Steps per second of an algorithm in an environment, and whether they were measured here."""
    if (agent, env) in measured:
        return measured[agent, env][0], True
    most = FAST if env in ENVIRONMENTS else SHELL
    return float(min(most, TYPICAL.get(env, {}).get(agent, LINEAR.get(agent, FAST)))), False
