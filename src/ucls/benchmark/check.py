"""Verify a file: its tasks are the benchmark's, its runs are complete, and its scores match its runs."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ucls.benchmark import result, scores
from ucls.benchmark.entry import ALGORITHM, Entry
from ucls.benchmark.generated import generated
from ucls.benchmark.result import GENERATED_SET, Entered
from ucls.benchmark.scale import scale
from ucls.benchmark.tasks import CONTINUING, PUBLIC, QUICK_SEEDS, SEEDS, Scale, Task, scale_of
from ucls.errors import UserError

CLOSE = 1e-5  # how far scores that are computed elsewhere may be from those here


def check(path: Path) -> tuple[Entered, str]:
    """Verify a file; returns its content, and whether it is full or quick. Anything wrong is a `UserError`."""
    entered = result.read(path)
    try:
        _check_tasks(entered)
        part = _part(entered)
        _check_runs(entered)
        if not _close(entered.scores, scores.stated(entered)):
            raise UserError("its scores do not match its runs")
    except UserError as error:
        raise UserError(f"{path} cannot be used: {error}") from None
    return entered, part


def _check_tasks(entered: Entered) -> None:
    """Refuse tasks and scales other than those of the benchmark, or those that belong to its digest."""
    own = entered.set == GENERATED_SET
    known = {task.id: task for task in (generated(entered.entry.code) if own else PUBLIC)}
    for task in entered.tasks:
        if known.get(task.id) != task:
            raise UserError(f"its task {task.id} differs from the benchmark's")
        expected = scale(task) if own else scale_of(task)
        if not _same(entered.scales.get(task.id), expected):
            raise UserError(f"its scale of the task {task.id} differs from the benchmark's")
    if len({task.id for task in entered.tasks}) != len(entered.tasks):
        raise UserError("it contains a task twice")


def _part(entered: Entered) -> str:
    """Whether it has all tasks, or all quick ones, with all seeds."""
    ids = {task.id for task in entered.tasks}
    tasks = generated(entered.entry.code) if entered.set == GENERATED_SET else PUBLIC
    parts: tuple[tuple[str, set[str], int], ...] = (
        ("full", {task.id for task in tasks if not task.needs}, SEEDS),
        ("quick", {task.id for task in tasks if task.quick or entered.set == GENERATED_SET}, QUICK_SEEDS),
    )
    for name, wanted, seeds in parts:
        if ids >= wanted and entered.seeds >= seeds:
            return name
    lacking = sorted(parts[1][1] - ids)
    raise UserError(
        f"it is not complete: it lacks the tasks {', '.join(lacking)}"
        if lacking
        else f"it is not complete: it has {entered.seeds} seeds of {QUICK_SEEDS} (quick) or {SEEDS}"
    )


def _check_runs(entered: Entered) -> None:
    """Refuse runs other than one for each task that was not refused and each seed, with its steps and its episodes."""
    tasks: Mapping[str, Task] = {task.id: task for task in entered.tasks}
    if not set(entered.refused) <= set(tasks):
        raise UserError("it lists a refused task that it does not contain")
    wanted = {(id, seed) for id in tasks if id not in entered.refused for seed in range(entered.seeds)}
    there = [(run.task, run.seed) for run in entered.runs]
    if len(there) != len(set(there)) or set(there) != wanted:
        raise UserError(f"it must have {len(wanted)} runs, one for each task and seed, and has {len(there)} runs")
    for run in entered.runs:
        task = tasks[run.task]
        steps = run.steps == task.steps or (not run.sound and run.steps <= task.steps)
        greedy = len(run.greedy_returns) == (task.episodes if run.sound else len(run.greedy_returns))
        curve = bool(len(run.rewards)) == (task.per == CONTINUING) or not run.sound
        if not (steps and greedy and curve):
            raise UserError(f"its run of {run.task} with seed {run.seed} is not complete")


def _same(one: Scale | None, other: Scale) -> bool:
    return one is not None and _close([one.random, one.best], [other.random, other.best])


def _close(one: Any, other: Any) -> bool:
    """Return whether two pieces of data are equal, up to small differences between numbers."""
    if isinstance(other, dict):
        return isinstance(one, dict) and one.keys() == other.keys() and all(_close(one[k], other[k]) for k in other)
    if isinstance(other, list):
        return isinstance(one, list) and len(one) == len(other) and all(map(_close, one, other))
    number = isinstance(one, int | float) and not isinstance(one, bool)
    return number and math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def code_now(entry: Entry) -> str | None:
    """Return the current digest of a built-in algorithm's code; None for any other, which a check must not import."""
    from ucls.algorithms import ALGORITHMS
    from ucls.benchmark.entry import entry_of

    return entry_of(entry.name).code if entry.kind == ALGORITHM and entry.name in ALGORITHMS else None
