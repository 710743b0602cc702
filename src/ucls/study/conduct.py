"""Conduct a study from its declaration to its last result: tune what is to be tuned, then run what the store lacks."""

from typing import Any

from ucls.errors import UserError
from ucls.study.declare import Member, Study, sweep_study
from ucls.study.display import watching
from ucls.study.drive import Runner, Tally, drive
from ucls.study.local import run_local
from ucls.study.store import Row, Store
from ucls.study.sweep import Sweep, judge
from ucls.study.work import CHECKPOINT_SECONDS


def conduct(
    store: Store,
    study: Study,
    runner: Runner = run_local,
    quiet: bool = False,
    checkpoint_every: float = CHECKPOINT_SECONDS,
) -> Tally:
    """Run a study; a second call goes on where the first was stopped, and does nothing if it was not."""
    if study.tuned:
        tally, study = tune(store, study, runner, quiet, checkpoint_every)
        if tally.stopped:
            return tally
    return _run(store, study, runner, quiet, checkpoint_every)


def tune(
    store: Store,
    study: Study,
    runner: Runner = run_local,
    quiet: bool = False,
    checkpoint_every: float = CHECKPOINT_SECONDS,
) -> tuple[Tally, Study]:
    """Run the sweeps of a study and put their winners into it; if it is stopped, nothing is chosen yet."""
    tally = _run(store, sweep_study(study), runner, quiet, checkpoint_every)
    found = study if tally.stopped else with_winners(store, study)
    _declare(store, found)
    return tally, found


def with_winners(store: Store, study: Study) -> Study:
    """The study with the reported runs of every sweep's winner; the store keeps the choice and the whole table."""
    rows = {row.id: row for row in store.rows(f"{study.name}/sweep")}
    members = list(study.members)
    for tuned in study.tuned:
        table = choose(tuned.sweep, rows)
        store.choose(study.name, tuned.sweep.label, tuned.sweep.env, table)
        members += tuned.members(table["settings"])
    return study._replace(members=tuple(members))


def choose(sweep: Sweep, rows: dict[str, Row]) -> dict[str, Any]:
    """The best settings of a sweep, with every candidate's score, best first."""

    def found(cell: Any) -> Any:
        row = rows.get(cell.id)
        return None if row is None or row.measures is None else (row.measures, row.status == "diverged")

    trials = judge(sweep, found)
    if trials[0].score is None:
        raise UserError(f"the sweep of {sweep.label} in {sweep.env} has no sound run: look at `ucls study status`")
    names = ("label", "agent", "env", "measure", "steps", "runs")
    about = {name: getattr(sweep, name) for name in names}
    return {**about, "settings": trials[0].settings, "trials": [trial._asdict() for trial in trials]}


def _declare(store: Store, study: Study) -> None:
    members: list[Member] = list(study.members)
    store.declare(study.name, members, study.definition, study.baseline, study.measure)


def _run(store: Store, study: Study, runner: Runner, quiet: bool, checkpoint_every: float) -> Tally:
    _declare(store, study)
    cells = store.waiting(study.name)
    if not cells:
        return Tally(0)
    with watching(study.name, sum(cell.steps for cell in cells), quiet) as watch:
        return drive(store, cells, runner, watch, checkpoint_every)
