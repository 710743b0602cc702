"""The commands that reproduce the paper: `ucls paper`, `sweeps`, `departures` and `coverage`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ucls.cli import show, study
from ucls.cli.streams import print_json
from ucls.cli.study import Json
from ucls.errors import UserError

app = typer.Typer()


@app.command()
def paper(
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            "--figure",
            help="Only 1, 2, 3, 5 to 9, mountain-car, theorem, learned, choices, causes, one-setting, beyond or "
            "beyond-bars; or, made only when asked for, deep-sea, beyond-parts, beyond-map or beyond-long.",
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs per curve, each with the full number of steps.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few runs and steps; the default.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocol; 1.5 days on two cores.")] = False,
    slow_runs: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most this many runs per curve that takes a minute per run or appears only in a table."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the figures and the report.")] = Path("out/paper"),
    store: Annotated[Path | None, typer.Option(help="Store for the runs; by default OUT/runs.sqlite.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    ray: Annotated[str | None, typer.Option(help="Run on Ray: `local` or the address of a cluster.")] = None,
    slurm: Annotated[str | None, typer.Option(help="Run as job arrays in this Slurm partition.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run and how long it would take.")
    ] = False,
    no_run: Annotated[bool, typer.Option("--no-run", help="Use only the runs that the store already has.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Fill the marks <!-- verdicts -->, ... of this page and of PAGE-*.md beside it.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Folder to write each part to, as data: --assemble makes pages of them.")
    ] = None,
    assemble: Annotated[
        Path | None, typer.Option(help="Run nothing: fill --page from the parts that --export wrote to this folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Reproduce the paper: run missing experiments, draw the figures, test the claims, write a report."""
    from ucls.paper import pages, sections
    from ucls.paper import reproduce as reproduction
    from ucls.paper.contents import parts_of, titles_of
    from ucls.paper.groups import scale_of
    from ucls.study import Store
    from ucls.study.runners import runner_of

    if sum((quick, full, runs is not None)) > 1:
        raise UserError("--quick, --full and --runs are mutually exclusive: give one")
    if slow_runs is not None and runs is None and not full:
        raise UserError("--slow-runs requires --runs or --full: a quick reproduction has one run of each anyway")
    if assemble is not None:
        if page is None:
            raise UserError("--assemble requires --page, the page to fill")
        reproduction.fill_from(assemble, page, out)
        print(f"filled {page} from the parts in {assemble}")
        return
    if export is not None:
        if not (full or runs):
            raise UserError("--export requires --runs or --full")
        sections.refuse_unnamed()
    if page is not None:
        if page.is_file() and pages.data_of(page) and (figure or not (full or runs)):
            raise UserError(f"{page} is of the shipped reproduction: give --runs or --full, and no --figure")
        pages.marked(page, titles_of(parts_of(figure or ())))
    scale, kept = scale_of(runs, full, slow_runs), store or out / "runs.sqlite"
    asked = figure or []
    before = reproduction.expected(asked, scale, kept, jobs)
    if dry_run:
        study.print_forecast(before, as_json)
        return
    if not (as_json or no_run):
        minutes = f"about {before.minutes:,.0f} minutes with {before.jobs} processes ({before.basis})"
        print(f"{before.missing:,} runs to go, {minutes}; stop at any time, the same command resumes", file=sys.stderr)
    with Store(kept, write=True) as opened:
        runner = None if no_run else runner_of(jobs, ray, slurm)
        made = reproduction.reproduce(out, scale, asked, opened, runner, quiet=as_json)
        if export is not None and made.complete:
            reproduction.export(export, scale, asked, opened)
    if page is not None:
        pages.fill(page, made, out)
    if as_json:
        print_json([claim.as_data() for claim in made.claims])
    else:
        show.show_claims(made, out)
    if not made.complete:
        raise typer.Exit(1)


@app.command()
def sweeps(
    store: Annotated[Path, typer.Option(help="Store for the runs.")] = Path("out/sweeps.sqlite"),
    out: Annotated[Path, typer.Option(help="File for the best settings.")] = Path("out/winners.json"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only the sweeps of this name, or `room`: those with room for every tile. Other winners stay."
        ),
    ] = None,
) -> None:
    """Tune the paper's baselines and write the best settings."""
    from ucls.paper.groups import winners
    from ucls.paper.sweeps import chosen_sweeps, tune
    from ucls.study import Store
    from ucls.study.runners.local import local_runner

    chosen_sweeps(only or ())
    with Store(store, write=True) as opened:
        complete = tune(opened, local_runner(jobs), out, only=only or (), known=winners() if only else {})
    if not complete:
        print(f"stopped early: {out} was not written; the same command resumes", file=sys.stderr)
        raise typer.Exit(1)
    print(f"wrote {out}")


@app.command()
def departures(
    runs: Annotated[int, typer.Option(min=1, help="Seeds per side of a comparison.")] = 20,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("out/departures.md"),
    store: Annotated[Path, typer.Option(help="Store for the runs.")] = Path("out/departures.sqlite"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
) -> None:
    """Measure the effect of each deviation from the paper, compared with the literal interpretation."""
    from ucls.paper.departures import measure, write_page
    from ucls.paper.readings import DEPARTURES
    from ucls.study import Store
    from ucls.study.runners.local import local_runner

    with Store(store, write=True) as opened:
        measured = measure(DEPARTURES, runs, opened, local_runner(jobs))
    write_page(DEPARTURES, measured, runs, out)
    print(f"wrote {out}")


@app.command()
def coverage(
    runs: Annotated[int | None, typer.Option(min=2, help="Random walks per chain; 400, or 40 with --quick.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and cases: about a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page, its figures and its data.")] = Path("out/coverage"),
    as_json: Json = False,
) -> None:
    """Measure the coverage of the intervals of every estimator, on chains with known values."""
    from ucls.evaluation.coverage import as_data, cases
    from ucls.paper.coverage import make

    with show.counting("coverage", len(cases(quick)), quiet=as_json) as tick:
        rows = make(runs or (40 if quick else 400), quick, out, tick)
    if as_json:
        print_json(as_data(rows))
    else:
        print(f"wrote {out / 'coverage.md'}")
