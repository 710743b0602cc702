"""Run an entry: an algorithm by a study, so that it resumes and can be distributed; an object by `objects`."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ucls
from ucls.benchmark import objects, scores
from ucls.benchmark.entry import OBJECT, Entry
from ucls.benchmark.generated import generated
from ucls.benchmark.result import BINS, GENERATED_SET, PUBLIC_SET, Entered, Run
from ucls.benchmark.scale import scale
from ucls.benchmark.tasks import CONTINUING, PUBLIC, STEPS, VERSION, Task, chosen, installed, scale_of
from ucls.errors import UserError, without_notices
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.runners.base import Runner
from ucls.study.runners.local import run_local
from ucls.study.storage.result import CPU, Circumstance, Result

NOTHING = np.zeros(0)


class Order(NamedTuple):
    """What to run: the entry, the set of tasks, the tasks, and the number of seeds."""

    entry: Entry
    set: str
    tasks: tuple[Task, ...]
    seeds: int


def order(entry: Entry, generate: bool, quick: bool, only: Sequence[str], seeds: int) -> tuple[Order, list[str]]:
    """The order, and the ids of tasks that are left out because a package is missing."""
    tasks = chosen(generated(entry.code) if generate else PUBLIC, quick and not generate, only)
    there, missing = installed(tasks)
    if not there:
        raise UserError(f"none of these tasks can run here: pip install {' '.join({task.needs for task in tasks})}")
    return Order(entry, GENERATED_SET if generate else PUBLIC_SET, there, seeds), [task.id for task in missing]


def execute(order: Order, store: Path, runner: Runner = run_local, jobs: int | None = None, quiet: bool = False) -> Any:
    """Make the missing runs; return the content of the file, or None if it was stopped before the end."""
    if order.entry.kind == OBJECT:
        runs = objects.execute(order.entry, order.tasks, order.seeds, store.with_suffix(".objects"), jobs, quiet)
        return entered(order, runs, {})
    study, refused = study_of(order)
    runs: list[Run] = []
    if study.members:
        with Store(store, write=True) as opened:
            if run_study(opened, study, runner, quiet=quiet).stopped:
                return None
            runs = runs_of(opened, study, {task.id for task in order.tasks if task.per == CONTINUING})
    return entered(order, runs, refused)


@without_notices()
def study_of(order: Order) -> tuple[Study, dict[str, str]]:
    """Return the study of an entry, and the reasons why it cannot run in some tasks."""
    members, refused = [], {}
    entry = order.entry
    for task in order.tasks:
        settings = {**entry.settings, **{f"env.{name}": value for name, value in task.settings.items()}}
        asked: dict[str, Any] = {"steps": task.steps, "seeds": range(order.seeds), "settings": settings}
        try:
            cells = make_run_specs(task.env, entry.name, resolution=max(1, task.steps // BINS), **asked)
        except UserError as error:
            refused[task.id] = str(error)[:2000]
            continue
        more = {"n_eval_episodes": task.episodes, "eval_max_steps": STEPS}
        members += [Member(task.id, cell._replace(**more)) for cell in cells]
    if refused and not members:
        raise UserError(f"{entry.label} runs in no task: {next(iter(refused.values()))}")
    return Study(f"benchmark {VERSION} {order.set}: {entry.label}", tuple(members)), refused


def runs_of(store: Store, study: Study, continuing: Collection[str]) -> list[Run]:
    """The runs of a study that are finished or failed; of continuing tasks rewards are kept."""
    runs = []
    for row in store.each_row(study.name):
        account = store.account(row.id)
        if account is not None:
            runs.append(_run(row.label, row.seed, *account, continuing=row.label in continuing))
        elif row.status == "failed":
            error = " ".join((row.error or "it failed").split())[:500]
            runs.append(Run(row.label, row.seed, 0, False, error, 0.0, "", "", "", *(NOTHING,) * 5))
    return runs


def _run(task: str, seed: int, result: Result, about: Circumstance, continuing: bool) -> Run:
    arrays = result.arrays
    curve = arrays["curve"] if continuing else NOTHING
    greedy = [arrays.get(name, NOTHING) for name in ("greedy_steps", "greedy_returns")]
    machine = about.machine.partition(" ")[2]  # without its name
    cpu = float(arrays.get(CPU, NOTHING).sum())
    diverged = result.diverged or not len(greedy[0])
    episodes = arrays["episode_steps"], arrays["episode_returns"]
    words = machine, about.versions, about.finished
    return Run(task, seed, result.steps, diverged, "", cpu, *words, *episodes, curve, *greedy)


def entered(order: Order, runs: Sequence[Run], refused: dict[str, str]) -> Entered:
    """Return the content of the file, with the scales of its tasks and the scores of its runs."""
    of = scale if order.set == GENERATED_SET else scale_of
    scales = {task.id: of(task) for task in order.tasks}
    kept = tuple(_as_written(run) for run in runs)
    found = Entered(order.entry, order.set, ucls.__version__, order.tasks, scales, order.seeds, refused, kept, {})
    return found._replace(scores=scores.stated(found))


def _as_written(run: Run) -> Run:
    """Return a run with the digits that a file has, because scores are computed from those."""
    short = {name: getattr(run, name).astype(np.float32) for name in ("returns", "rewards", "greedy_returns")}
    return run._replace(**{name: array.astype(np.float64) for name, array in short.items()})
