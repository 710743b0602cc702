"""Run a study: tune settings if needed, then make the runs that have no result yet.

This is the driver of a study: it gives cells to a runner, and is the only process that writes to the store.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ucls._util import compiling as _compiling
from ucls.core.metrics import Metrics
from ucls.errors import UserError
from ucls.study import running
from ucls.study.declaration.declare import Member, Study, sweep_study
from ucls.study.declaration.optuna import search
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.declaration.sweep import Sweep, Winner, judge, sweep_cells
from ucls.study.display import Watch, show_progress
from ucls.study.outcome import Outcome, Tally
from ucls.study.runners.base import Runner
from ucls.study.runners.local import run_local
from ucls.study.storage.partial import CHECKPOINT_SECONDS, Checkpoints, discard
from ucls.study.storage.records import Row
from ucls.study.storage.store import Store
from ucls.train.signals import stopping


def run_study(
    store: Store,
    study: Study,
    runner: Runner = run_local,
    quiet: bool = False,
    checkpoint_interval: float = CHECKPOINT_SECONDS,
) -> Tally:
    """Run a study; a second call resumes an interrupted one and does nothing otherwise."""
    if study.tuned:
        tally, study = tune(store, study, runner, quiet, checkpoint_interval)
        if tally.stopped:
            return tally
    return _run(store, study, runner, quiet, checkpoint_interval)


def tune(
    store: Store,
    study: Study,
    runner: Runner = run_local,
    quiet: bool = False,
    checkpoint_interval: float = CHECKPOINT_SECONDS,
) -> tuple[Tally, Study]:
    """Tune the settings of a study and add the runs with the best ones; if it is stopped, nothing is chosen yet."""
    named = sweep_study(study)
    tally = _run(store, named, runner, quiet, checkpoint_interval)
    tried: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for tuned in [t for t in study.tuned if t.sweep.sampler == "optuna" and not tally.stopped]:
        # What is tried next depends on what was found, so runs join the study of the sweep as they are asked for.
        def score(settings: dict[str, Any], sweep: Sweep = tuned.sweep) -> float | None:
            nonlocal named, tally
            members = [Member(f"{sweep.label} {settings}", cell) for cell in sweep_cells(sweep, settings)]
            named = named._replace(members=(*named.members, *members))
            if not tally.stopped:
                tally = _run(store, named, runner, quiet, checkpoint_interval)
            rows = {row.id: row for row in store.rows(named.name)}
            return judge(sweep, _finder(rows), [settings])[0].score

        tried[tuned.sweep.label, tuned.sweep.env] = search(tuned.sweep, score)
    complete = study if tally.stopped else with_winners(store, study, tried)
    declare(store, complete)
    return tally, complete


def with_winners(
    store: Store, study: Study, tried: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]] = MappingProxyType({})
) -> Study:
    """Return the study with the reported runs of every sweep's winner; the store keeps the choice and all scores."""
    rows = {row.id: row for row in store.rows(f"{study.name}/sweep")}
    members = list(study.members)
    for tuned in study.tuned:
        winner = choose(tuned.sweep, rows, tried.get((tuned.sweep.label, tuned.sweep.env)))
        store.choose(study.name, winner)
        members += tuned.members(winner.settings)
    return study._replace(members=tuple(members))


def _finder(rows: Mapping[str, Row]) -> Callable[[RunSpec], tuple[Metrics, bool] | None]:
    def find(cell: RunSpec) -> tuple[Metrics, bool] | None:
        row = rows.get(cell.id)
        return None if row is None or row.metrics is None else (row.metrics, row.status == "diverged")

    return find


def choose(sweep: Sweep, rows: Mapping[str, Row], tried: Sequence[Mapping[str, Any]] | None = None) -> Winner:
    """Return the best settings of a sweep, by its runs in a store."""
    trials = judge(sweep, _finder(rows), tried)
    if trials[0].score is None:
        raise UserError(f"the sweep of {sweep.label} in {sweep.env} has no successful run: see `ucls study status`")
    s = sweep
    return Winner(s.label, s.agent, s.env, s.metric, s.steps, s.runs, trials[0].settings, trials)


def declare(store: Store, study: Study) -> None:
    """Declare a study in the store without running it."""
    members: list[Member] = list(study.members)
    store.declare(study.name, members, study.definition, study.baseline, study.metric)


def _run(store: Store, study: Study, runner: Runner, quiet: bool, checkpoint_interval: float) -> Tally:
    declare(store, study)
    cells = store.waiting(study.name)
    if not cells:
        return Tally(0)
    with _compiling.silence(quiet), show_progress(study.name, sum(cell.steps for cell in cells), quiet) as watch:
        return _give(store, cells, runner, watch, Checkpoints(store.partial, checkpoint_interval, study.time_limit))


def _give(store: Store, cells: Sequence[RunSpec], runner: Runner, watch: Watch, checkpoints: Checkpoints) -> Tally:
    """Give runs, which the store must contain, to a runner, and store every outcome as it arrives.

    Ctrl-C (or SIGTERM) stops the workers, which save checkpoints of unfinished cells beside the store.
    """
    known = {cell.id: cell for cell in cells}
    tally = Tally(len(known))
    trouble: UserError | None = None
    with stopping("unfinished runs") as stop:
        for outcome in runner(list(known.values()), checkpoints, stop):
            if trouble is None:
                try:
                    _write(store, outcome)
                except UserError as error:  # usually a full disk: the workers still save checkpoints
                    trouble = error
                    stop.set()
                else:
                    tally = tally.after(known[outcome.id], outcome)
                    watch(tally, known[outcome.id], outcome)
    if trouble is not None:
        kept = f"{tally.done:,} of {tally.cells:,} runs are finished and saved"
        raise UserError(f"{trouble}; {kept}; the same command resumes")
    _tidy(store)
    return tally._replace(stopped=stop.is_set())


def _write(store: Store, outcome: Outcome) -> None:
    if outcome.result is not None and outcome.about is not None:
        store.finish(outcome.id, outcome.result, outcome.about)
        discard(store.partial, outcome.id)
    elif outcome.error:
        store.fail(outcome.id, outcome.error, outcome.traceback, outcome.attempts)
    running.forget(store.partial, outcome.id)


def _tidy(store: Store) -> None:
    """Remove the folder of unfinished runs if none is left; hidden files are temporary ones of a killed process."""
    if store.partial.is_dir() and all(file.name.startswith(".") for file in store.partial.iterdir()):
        shutil.rmtree(store.partial, ignore_errors=True)
