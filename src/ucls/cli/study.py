"""The `ucls study` commands: declare, run, resume, look, compare, export."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ucls.errors import UserError

app = typer.Typer(help="Run studies: many runs, kept in a store, that survive anything.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Named = Annotated[str, typer.Argument(metavar="FILE_OR_NAME", help="A TOML file, or the name of a study in the store.")]
StorePath = Annotated[Path, typer.Option("--store", help="The file that keeps the runs.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Seeds 0 to N - 1 in place of the study's own.")]
Steps = Annotated[int | None, typer.Option(min=1, help="Steps a run in place of the study's own.")]

DEFAULT_STORE = Path("out/studies.sqlite")
STATES = ("done", "diverged", "damaged", "failed", "waiting")


@app.command("list")
def list_studies(store: StorePath = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the studies in a store."""
    from ucls.study import Store

    with Store(store) as opened:
        studies = opened.studies()
    rows = [{"name": name, **{key: s[key] for key in ("cells", "done", "sound")}} for name, s in studies.items()]
    if as_json:
        print(json.dumps(rows))
        return
    names = [row["name"] + ("" if row["sound"] else " (damaged)") for row in rows]
    body = [[name, f"{row['cells']:,}", f"{row['done']:,}"] for name, row in zip(names, rows, strict=True)]
    _table(["study", "cells", "done"], body)


@app.command()
def show(
    study: Named, store: StorePath = DEFAULT_STORE, runs: Runs = None, steps: Steps = None, as_json: Json = False
) -> None:
    """Show what a study consists of."""
    from ucls.study.forecast import groups_of

    declared = _declared(study, store, runs, steps)
    groups = groups_of(declared)
    if as_json:
        print(json.dumps({"name": declared.name, "baseline": declared.baseline, "groups": groups}))
        return
    print(f"{declared.name}: {sum(g['runs'] for g in groups):,} runs")
    heads = ["label", "environment", "runs", "steps", "settings"]
    _table(heads, [[g["label"], g["env"], str(g["runs"]), f"{g['steps']:,}", g["settings"]] for g in groups])


@app.command()
def run(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    runs: Runs = None,
    steps: Steps = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores by default.")] = None,
    ray: Annotated[str | None, typer.Option(help="Run on Ray: `local`, or the address of a cluster.")] = None,
    slurm: Annotated[str | None, typer.Option(help="Run as job arrays in this Slurm partition.")] = None,
    checkpoint: Annotated[float, typer.Option(min=0, help="Seconds between checkpoints inside a run.")] = 120.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run and for how long.")] = False,
    as_json: Json = False,
) -> None:
    """Run what a store lacks of a study; a second call goes on where the first was stopped."""
    from ucls.study import Store, conduct
    from ucls.study.forecast import forecast
    from ucls.study.runners import runner_of

    declared = _declared(study, store, runs, steps)
    if dry_run:
        say_forecast(forecast(declared, store, jobs), as_json)
        return
    runner = runner_of(jobs, ray, slurm)
    with Store(store, write=True) as opened:
        tally = conduct(opened, declared, runner, quiet=as_json, checkpoint_every=checkpoint)
        counts = _counts(opened.rows(declared.name))
    found = {"name": declared.name, "store": str(store), "ran": tally.done, "stopped": tally.stopped, **counts}
    if as_json:
        print(json.dumps(found))
    else:
        _say_counts(found)
    if tally.stopped:
        raise typer.Exit(130)
    if counts["failed"]:
        raise typer.Exit(1)


@app.command()
def sweep(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    steps: Steps = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores by default.")] = None,
    as_json: Json = False,
) -> None:
    """Find the best settings of each algorithm on tuning seeds, and print the choice."""
    from ucls.settings import listed
    from ucls.study import Store
    from ucls.study.conduct import tune
    from ucls.study.runners.local import local_runner

    declared = _declared(study, store, None, steps)
    if not declared.tuned:
        raise UserError(f"{study} has nothing to tune: give it a [sweep] table and lists or ranges in `set`")
    with Store(store, write=True) as opened:
        tally, _ = tune(opened, declared, local_runner(jobs), quiet=as_json)
        choices = opened.choices(declared.name)
    if as_json:
        print(json.dumps(choices))
    else:
        rows = [[c["label"], c["env"], listed(c["settings"]), f"{c['trials'][0]['score']:.5g}"] for c in choices]
        _table(["label", "environment", "best settings", choices[0]["measure"] if choices else "score"], rows)
    if tally.stopped:
        raise typer.Exit(130)


@app.command()
def status(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    errors: Annotated[bool, typer.Option(help="With tracebacks.")] = False,
    as_json: Json = False,
) -> None:
    """Say how far a study is, and what failed."""
    from ucls.study import Store

    with Store(store) as opened:
        name = _name(study)
        opened.study(name)
        counts, failures = _counts(opened.rows(name)), opened.failures(name)
    if as_json:
        print(json.dumps({"name": name, **counts, "failures": failures}))
        return
    _say_counts({"name": name, "store": str(store), **counts})
    for failure in failures:
        print(f"failed: {failure['agent']} on {failure['env']}, seed {failure['seed']}: {failure['error']}")
        if errors:
            print(failure["traceback"])


@app.command()
def compare(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    measure: Annotated[str | None, typer.Option(help="What to compare by; the environment's own by default.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The label to compare with.")] = None,
    as_json: Json = False,
) -> None:
    """Compare the labels of a study in each environment, on common seeds."""
    from ucls.study import Store
    from ucls.study.compare import compare_study

    with Store(store) as opened:
        name = _name(study)
        about = opened.study(name)
        rows = opened.rows(name)
    groups = compare_study(rows, measure or about["measure"], baseline or about["baseline"])
    if as_json:
        print(json.dumps([group._asdict() for group in groups]))
        return
    from ucls.study.compare import print_comparison

    print_comparison(groups)


@app.command()
def export(
    study: Named,
    store: StorePath = DEFAULT_STORE,
    out: Annotated[Path | None, typer.Option(help="The file to write; the standard output for csv.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    results_only: Annotated[bool, typer.Option("--results-only", help="Without times and machines.")] = False,
) -> None:
    """Write a row for every finished run, sorted by id."""
    from ucls.study import Store
    from ucls.study.export import export_csv, export_parquet

    if format not in ("csv", "parquet"):
        raise UserError(f"--format cannot be {format!r}: give csv or parquet")
    with Store(store) as opened:
        name = _name(study)
        opened.study(name)
        text = export_csv(opened, name, results_only)
    if out is None:
        if format == "parquet":
            raise UserError("parquet is not text: give --out FILE")
        sys.stdout.write(text)
        return
    from ucls._files import write_atomic

    try:
        if format == "parquet":
            export_parquet(text, out)
        else:
            write_atomic(out, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}: give another --out") from None


@app.command()
def retry(study: Named, store: StorePath = DEFAULT_STORE) -> None:
    """Let the failed runs of a study wait again; `run` then tries them once more."""
    from ucls.study import Store

    with Store(store, write=True) as opened:
        name = _name(study)
        opened.study(name)
        print(f"{opened.retry(name)} runs wait again: `ucls study run {study}`")


@app.command()
def rescue(new: Annotated[Path, typer.Argument(help="The store to make.")], store: StorePath = DEFAULT_STORE) -> None:
    """Copy what is sound in a damaged store into a new one."""
    from ucls.study.rescue import rescue as copy

    found = copy(store, new)
    print(f"{new}: of {store}, {found.results:,} results and these studies: {', '.join(found.studies) or 'none'}")


def _declared(study: str, store: Path, runs: int | None, steps: int | None) -> Any:
    """A study from its file, or from the definition that a store keeps under its name."""
    from ucls.study import Store, parse_study, read_study
    from ucls.study.store import is_there

    if _is_file(study):
        return read_study(Path(study), runs, steps)
    if not is_there(store):
        raise UserError(f"{study!r} is not a file, and there is no store at {store}: give a TOML file")
    with Store(store) as opened:
        definition = opened.study(study)["definition"]
    if not definition:
        raise UserError(f"the study {study!r} was not declared in a file: run it from where it came")
    return parse_study(definition, study, runs, steps)


def _name(study: str) -> str:
    """The name of a study that is given as such, or as its file."""
    from ucls.study.declare import name_of

    return name_of(Path(study)) if _is_file(study) else study


def _is_file(study: str) -> bool:
    """Whether a study is given as its file; a name may be longer than any file's."""
    try:
        return Path(study).suffix == ".toml" or Path(study).is_file()
    except (OSError, ValueError):
        return False


def _counts(rows: list[Any]) -> dict[str, int]:
    seen: dict[str, str] = {row.id: row.status for row in rows}
    found = {"cells": len(seen), **dict.fromkeys(STATES, 0)}
    for state in seen.values():
        found[state] += 1
    return found


def _say_counts(found: dict[str, Any]) -> None:
    parts = [f"{found[state]:,} {state}" for state in STATES if found[state]]
    print(f"{found['name']}: {found['cells']:,} cells: {', '.join(parts) or 'none'} ({found['store']})")
    if found["damaged"]:
        print("damaged results are not used: `ucls study run` makes them again")
    if found.get("stopped"):
        print("stopped: the same command goes on")


def say_forecast(found: dict[str, Any], as_json: bool) -> None:
    """Print what would run and for how long."""
    if as_json:
        print(json.dumps(found))
        return
    heads = ["label", "environment", "to run", "done", "steps/s", "minutes"]
    body = [
        [g["label"], g["env"], f"{g['missing']:,}", f"{g['done']:,}", f"{g['speed']:,.0f}", f"{g['seconds'] / 60:,.1f}"]
        for g in found["groups"]
    ]
    _table(heads, body)
    processes = f"{found['jobs']} process{'es' if found['jobs'] > 1 else ''}"
    time = f"about {found['minutes']:,.1f} minutes with {processes}, of which {found['start_seconds']:.0f} s to start"
    print(f"{found['missing']:,} runs, {time} ({found['basis']})")


def _table(heads: list[str], rows: list[list[str]]) -> None:
    from rich.markup import escape

    from ucls.tables import print_table

    print_table(heads, [list(map(escape, row)) for row in rows])
