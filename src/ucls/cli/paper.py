"""The `ucls paper` commands: reproduce the paper, tune its baselines, measure deviations and coverage."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ucls.cli import study
from ucls.cli.input.options import DryRun, Jobs, Json, Ray, Slurm
from ucls.cli.output import show
from ucls.cli.output.streams import print_json
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.paper.runs.groups import Scale
    from ucls.study.runners.base import Runner

app = typer.Typer(help="Reproduce the paper: its figures, its claims and its tuning.", no_args_is_help=True)

Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Only 1, 2, 3, 5 to 9, mountain-car, theorem, learned, choices, causes, one-setting, beyond or "
        "beyond-bars; or, only on request, planning, deep-sea, beyond-parts, beyond-map or beyond-long.",
    ),
]
Runs = Annotated[int | None, typer.Option(min=1, help="Runs per curve, each with the full number of steps.")]
Quick = Annotated[bool, typer.Option("--quick", help="Few runs and steps; the default.")]
Full = Annotated[bool, typer.Option("--full", help="The paper's protocol; 1.5 days on two cores.")]
SlowRuns = Annotated[
    int | None,
    typer.Option(min=1, help="Limit on the runs of curves that take a minute per run or appear only in a table."),
]
Out = Annotated[Path, typer.Option(help="Folder for the figures and the report.")]
StorePath = Annotated[Path | None, typer.Option(help="Store for the runs; by default OUT/runs.sqlite.")]


@app.command()
def run(
    only: Only = None,
    runs: Runs = None,
    quick: Quick = False,
    full: Full = False,
    slow_runs: SlowRuns = None,
    out: Out = Path("out/paper"),
    store: StorePath = None,
    jobs: Jobs = None,
    ray: Ray = None,
    slurm: Slurm = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Reproduce the paper: run missing experiments, draw the figures, test the claims, write a report."""
    from ucls.paper.reproduce import expected
    from ucls.study.runners import runner_of

    scale, kept = _scale(runs, quick, full, slow_runs), store or out / "runs.sqlite"
    before = expected(only or [], scale, kept, jobs)
    if dry_run:
        study.print_forecast(before, as_json)
        return
    if not as_json:
        minutes = f"about {before.minutes:,.0f} minutes with {before.jobs} processes ({before.basis})"
        print(f"{before.missing:,} runs to go, {minutes}; stop at any time, the same command resumes", file=sys.stderr)
    _reproduce(only, scale, out, kept, runner_of(jobs, ray, slurm), as_json)


@app.command()
def report(
    only: Only = None,
    runs: Runs = None,
    quick: Quick = False,
    full: Full = False,
    slow_runs: SlowRuns = None,
    out: Out = Path("out/paper"),
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Draw the figures, test the claims and write the report from finished runs, without running anything."""
    _reproduce(only, _scale(runs, quick, full, slow_runs), out, store or out / "runs.sqlite", None, as_json)


def _scale(runs: int | None, quick: bool, full: bool, slow_runs: int | None) -> "Scale":
    from ucls.paper.runs.groups import scale_of

    if sum((quick, full, runs is not None)) > 1:
        raise UserError("--quick, --full and --runs are mutually exclusive: give one")
    if slow_runs is not None and runs is None and not full:
        raise UserError("--slow-runs requires --runs or --full: a quick reproduction has one run of each anyway")
    return scale_of(runs, full, slow_runs)


def _reproduce(
    only: list[str] | None, scale: "Scale", out: Path, store: Path, runner: "Runner | None", as_json: bool
) -> None:
    from ucls.paper.reproduce import reproduce
    from ucls.study import Store

    with Store(store, write=True) as opened:
        made = reproduce(out, scale, only or [], opened, runner, quiet=as_json)
    if as_json:
        print_json([claim.as_data() for claim in made.claims])
    else:
        show.show_claims(made, out)
    if not made.complete:
        raise typer.Exit(1)


@app.command()
def tune(
    store: Annotated[Path, typer.Option(help="Store for the runs.")] = Path("out/sweeps.sqlite"),
    out: Annotated[Path, typer.Option(help="File for the best settings.")] = Path("out/winners.json"),
    jobs: Jobs = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only sweeps of this name, or `room`: those with a collision-free hash table. Other settings stay."
        ),
    ] = None,
) -> None:
    """Tune the paper's baselines and write the best settings."""
    from ucls.paper.runs.groups import winners
    from ucls.paper.runs.sweeps import chosen_sweeps, tune
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
def deviations(
    runs: Annotated[int, typer.Option(min=1, help="Seeds per side of a comparison.")] = 20,
    out: Annotated[Path, typer.Option(help="CSV file for the measurements.")] = Path("out/deviations.csv"),
    store: Annotated[Path, typer.Option(help="Store for the runs.")] = Path("out/deviations.sqlite"),
    jobs: Jobs = None,
) -> None:
    """Measure the effect of each deviation from the paper, compared with the literal interpretation."""
    from ucls.paper.deviations.declared import DEVIATIONS
    from ucls.paper.deviations.measure import measure, write
    from ucls.study import Store
    from ucls.study.runners.local import local_runner

    with Store(store, write=True) as opened:
        measured = measure(DEVIATIONS, runs, opened, local_runner(jobs))
    write(DEVIATIONS, measured, out)
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
