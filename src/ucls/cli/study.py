"""The `ucls study` commands: declare, run, resume, inspect, compare, export."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ucls.cli.input import complete
from ucls.cli.input.options import DryRun, Jobs, Json, Ray, Slurm
from ucls.cli.output import show_study
from ucls.cli.output.streams import print_json
from ucls.errors import UserError, printable

if TYPE_CHECKING:
    from ucls.study import Study
    from ucls.study.forecast import Forecast
    from ucls.study.storage.records import Row

app = typer.Typer(
    help="Run studies: many runs in one store, which resume after any interruption.", no_args_is_help=True
)

Named = Annotated[
    str,
    typer.Argument(
        metavar="FILE_OR_NAME",
        help="A TOML file, or the name of a study in the store.",
        autocompletion=complete.studies,
    ),
]
StorePath = Annotated[Path, typer.Option("--store", help="The SQLite file with the results.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Use seeds 0 to N - 1 instead of the study's.")]
Steps = Annotated[int | None, typer.Option(min=1, help="Steps per run, instead of the study's.")]
TimeLimit = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Stop a run that takes longer than this; no limit by default."),
]

DEFAULT_STORE = Path("out/studies.sqlite")


@app.command("list")
def list_studies(store: StorePath = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the studies in a store."""
    from ucls.study import Store

    with Store(store) as opened:
        studies = opened.studies()
    if as_json:
        print_json([{"name": name, **study._asdict()} for name, study in studies.items()])
        return
    show_study.show_studies(studies)


@app.command()
def show(
    study: Named, store: StorePath = DEFAULT_STORE, runs: Runs = None, steps: Steps = None, as_json: Json = False
) -> None:
    """Show the groups of runs of a study."""
    from ucls.study.forecast import groups_of

    declared = _kept(study, store) if runs is None and steps is None else None
    declared = declared or _declared(study, store, runs, steps)
    groups = groups_of(declared)
    if as_json:
        about = {"name": declared.name, "baseline": declared.baseline}
        print_json({**about, "groups": [group._asdict() for group in groups]})
        return
    show_study.show_groups(declared.name, groups)


@app.command()
def run(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    runs: Runs = None,
    steps: Steps = None,
    jobs: Jobs = None,
    ray: Ray = None,
    slurm: Slurm = None,
    checkpoint_interval: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Seconds between checkpoints of a run.")
    ] = 120.0,
    time_limit: TimeLimit = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run the missing runs of a study; repeat the command to resume an interrupted study."""
    from ucls.study import Store, run_study
    from ucls.study.forecast import forecast
    from ucls.study.runners import runner_of

    declared = _limited(_declared(study, store, runs, steps), time_limit)
    if dry_run:
        print_forecast(forecast(declared, store, jobs), as_json)
        return
    runner = runner_of(jobs, ray, slurm)
    with Store(store, write=True) as opened:
        tally = run_study(opened, declared, runner, quiet=as_json, checkpoint_interval=checkpoint_interval)
        counts = _counts(opened.each_row(declared.name))
    if as_json:
        about = {"name": declared.name, "store": str(store), "ran": tally.done, "stopped": tally.stopped}
        print_json({**about, **counts})
    else:
        show_study.show_counts(declared.name, store, counts, tally.stopped)
    if tally.stopped:
        raise typer.Exit(130)
    if counts["failed"]:
        raise typer.Exit(1)


@app.command()
def tune(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    steps: Steps = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Candidates that Optuna tries, instead of what the file says.")
    ] = None,
    jobs: Jobs = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> None:
    """Tune the settings of each algorithm on the tuning seeds and print the best; repeat the command to resume."""
    from ucls.study import Store
    from ucls.study.declaration.sweep import effort_in_words
    from ucls.study.run_study import tune as run_tuning
    from ucls.study.runners.local import local_runner

    declared = _limited(_declared(study, store, None, steps), time_limit)
    if not declared.tuned:
        raise UserError(f"{study} has nothing to tune: add a [sweep] table, and lists or ranges in `set`")
    if trials is not None:
        tuned = [each._replace(sweep=each.sweep._replace(size=trials, sampler="optuna")) for each in declared.tuned]
        declared = declared._replace(tuned=tuple(tuned))
    with Store(store, write=True) as opened:
        tally, _ = run_tuning(opened, declared, local_runner(jobs), quiet=as_json)
        winners = opened.choices(declared.name)
    if as_json:
        print_json([winner.as_data() for winner in winners], sort_keys=True)
    else:
        show_study.show_winners(winners)
        print(*effort_in_words(winners), sep="\n")
    if tally.stopped:
        raise typer.Exit(130)


@app.command()
def status(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    tracebacks: Annotated[bool, typer.Option(help="Print the traceback of every failed run.")] = False,
    as_json: Json = False,
) -> None:
    """Show the progress of a study, its failed runs, and runs that take unusually long."""
    from ucls.study import Store
    from ucls.study.slow import running_cells

    with Store(store) as opened:
        name = _name(study)
        opened.study(name)
        counts, failures = _counts(opened.each_row(name)), opened.failures(name)
        running = running_cells(opened, name)
    if as_json:
        now = [{**cell._asdict(), "slow": cell.slow} for cell in running]
        print_json({"name": name, **counts, "failures": [failure._asdict() for failure in failures], "running": now})
        return
    show_study.show_counts(name, store, counts)
    show_study.show_running(running)
    show_study.show_failures(failures, tracebacks=tracebacks)


@app.command()
def compare(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    metric: Annotated[str | None, typer.Option(help="The metric to compare; by default the environment's.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The label to compare with.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write an HTML page with figures too.")] = None,
    as_json: Json = False,
) -> None:
    """Compare the labels of a study in each environment, on common seeds, and say which are better."""
    from ucls._util.html import refuse_page
    from ucls.study import Store
    from ucls.study.compare import collect_samples, compare_samples
    from ucls.study.declaration.sweep import effort_in_words
    from ucls.study.verdicts import verdicts_of

    if out is not None:
        refuse_page(out)
    with Store(store) as opened:
        name = _name(study)
        about = opened.study(name)
        samples = collect_samples(opened.each_row(name), metric or about.metric)
        effort = effort_in_words(opened.choices(name))
    groups = compare_samples(samples, baseline or about.baseline)
    verdicts = verdicts_of(samples, baseline or about.baseline)
    if out is not None:
        from ucls.study.page import write_page

        write_page(out, name, samples, groups, verdicts, effort)
    if as_json:
        data = {"groups": groups, "verdicts": verdicts}
        print_json({kind: [each._asdict() for each in some] for kind, some in data.items()})
        return
    show_study.show_comparison(groups)
    show_study.show_verdicts(verdicts)
    for line in effort:
        print(printable(line))
    if out is not None:
        print(f"wrote {out}")


@app.command()
def export(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    out: Annotated[Path | None, typer.Option(help="The file to write; csv goes to standard output by default.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    results_only: Annotated[bool, typer.Option("--results-only", help="Leave out times and machines.")] = False,
) -> None:
    """Export one row per finished run, sorted by id."""
    from ucls.study import Store
    from ucls.study.storage.export import export_csv, export_parquet, refuse_other_files

    if format not in ("csv", "parquet"):
        raise UserError(f"--format cannot be {format!r}: give csv or parquet")
    with Store(store) as opened:
        name = _name(study)
        opened.study(name)
        text = export_csv(opened, name, results_only)
    if out is None:
        if format == "parquet":
            raise UserError("parquet is not text: give --out FILE")
        sys.stdout.write(_lines_shown(text) if _is_terminal() else text)
        return
    from ucls._util.files import write_atomic

    try:
        refuse_other_files(out)
        if format == "parquet":
            export_parquet(text, out)
        else:
            write_atomic(out, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}: give another --out") from None


@app.command()
def retry(study: Named, store: StorePath = DEFAULT_STORE) -> None:
    """Reset the failed runs of a study, so that `run` tries them again."""
    from ucls.study import Store

    with Store(store, write=True) as opened:
        name = _name(study)
        opened.study(name)
        print(f"{opened.retry(name)} failed runs reset; now use `ucls study run {study}`")


@app.command()
def recover(
    new: Annotated[Path, typer.Argument(help="The new store to create.")], store: StorePath = DEFAULT_STORE
) -> None:
    """Copy the intact results of a corrupted store into a new one."""
    from ucls.study.storage.rescue import recover as copy

    recovered = copy(store, new)
    studies = printable(", ".join(recovered.studies)) or "none"
    print(f"recovered {recovered.results:,} results from {store} into {new}; studies: {studies}")


def _declared(study: str, store: Path, runs: int | None, steps: int | None) -> "Study":
    """Read a study from its file, or from its definition in the store."""
    from ucls.study import Store, parse_study, read_study
    from ucls.study.storage.store import is_there

    if _is_file(study):
        return read_study(Path(study), runs, steps)
    if not is_there(store):
        raise UserError(f"{study!r} is not a file, and there is no store at {store}: give a TOML file")
    with Store(store) as opened:
        definition = opened.study(study).definition
    if not definition:
        raise UserError(f"the study {study!r} was not declared in a file: run the script that created it")
    return parse_study(definition, study, runs, steps)


def _limited(study: "Study", time_limit: float | None) -> "Study":
    """Apply the time limit of the command line, if there is one."""
    from ucls.study.declaration.toml import LONGEST, SHORTEST

    if time_limit is None:
        return study
    if not SHORTEST <= time_limit <= LONGEST:
        raise UserError(f"--time-limit cannot be {time_limit:g}: give from {SHORTEST:g} to {LONGEST:,.0f} seconds")
    return study._replace(time_limit=time_limit)


def _kept(study: str, store: Path) -> "Study | None":
    """Read a study from its store, which imports nothing; None if it is given as a file or not tuned yet."""
    from ucls.study import Member, Store, Study
    from ucls.study.storage.store import is_there

    if _is_file(study) or not is_there(store):
        return None
    with Store(store) as opened:
        about = opened.study(study)
        members = tuple(Member(label, cell) for label, cell in opened.members(study))
    return Study(study, members, about.baseline, about.metric) if members else None


def _name(study: str) -> str:
    """Return the name of a study that is given by name or as a file."""
    from ucls.study.declaration.declare import name_of

    return name_of(Path(study)) if _is_file(study) else study


def _is_file(study: str) -> bool:
    """Whether a study is given as a file; a name may be longer than any file name."""
    try:
        return Path(study).suffix == ".toml" or Path(study).is_file()
    except (OSError, ValueError):
        return False


def _counts(rows: "Iterable[Row]") -> dict[str, int]:
    seen: set[bytes] = set()
    states: Counter[str] = Counter()
    for row in rows:  # a run that has two labels counts once
        if (id := bytes.fromhex(row.id)) not in seen:
            seen.add(id)
            states[row.status] += 1
    return {"runs": states.total(), **{state: states[state] for state in show_study.STATES}}


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _lines_shown(text: str) -> str:
    """Make every line of a text printable."""
    return "\n".join(map(printable, text.split("\n")))


def print_forecast(forecast: "Forecast", as_json: bool) -> None:
    """Print what would run and how long it would take, as text or JSON."""
    if as_json:
        print_json({**forecast._asdict(), "groups": [group._asdict() for group in forecast.groups]})
    else:
        show_study.show_forecast(forecast)
