"""The `ucls` command. Heavy imports wait until a command needs them, so that `--help` answers at once."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ucls import cli_study
from ucls.errors import UserError

app = typer.Typer(
    help="Explore by optimism: Upper-Confidence Least-Squares, its rivals, and the domains they are compared on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(cli_study.app, name="study")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the agent, the features or the environment."),
]


@app.command()
def envs(as_json: Json = False) -> None:
    """List the environments with their settings and defaults."""
    from ucls.envs import ENVIRONMENTS, make_world, module_of
    from ucls.settings import describe, shown

    rows = []
    for id in ENVIRONMENTS:
        module: Any = module_of(id)
        defaults = shown(make_world(id).env)
        settings = [{**_about(s), "default": defaults[s.name]} for s in describe(module.Env)]
        features = {"name": module.FEATURES[0], **module.FEATURES[1]}
        rows.append(
            {
                "id": id,
                "about": _headline(module),
                "actions": module.ACTIONS,
                "features": features,
                "settings": settings,
            }
        )
    _listing(rows, "id", as_json)


@app.command()
def agents(as_json: Json = False) -> None:
    """List the algorithms with their settings and defaults."""
    from ucls.algorithms import ALGORITHMS, algorithm_module
    from ucls.settings import describe

    rows = []
    for name in ALGORITHMS:
        module: Any = algorithm_module(name)
        bounds = hasattr(module, "interval")
        settings = [_about(s) for s in describe(module.Hyper)]
        rows.append({"name": name, "about": _headline(module), "bounds": bounds, "settings": settings})
    _listing(rows, "name", as_json)


@app.command()
def train(
    env: Annotated[str, typer.Argument(help="An id from `ucls envs`, or of any Gymnasium environment.")],
    agent: Annotated[str, typer.Option(help="A name from `ucls agents`, or a module of your own.")] = "ucls",
    steps: Annotated[int, typer.Option(min=1, help="Steps to take.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the agent and the results.")] = None,
    settings: Settings = None,
    features: Annotated[str | None, typer.Option(help="tiles, one_hot or scaled; there is a default.")] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    discount: Annotated[float | None, typer.Option(help="Discount in an environment that gives none: 0.99.")] = None,
    low: Annotated[str | None, typer.Option(help="Lower bounds of the observation, with commas.")] = None,
    high: Annotated[str | None, typer.Option(help="Upper bounds of the observation, with commas.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on from the folder or file of an earlier run.")] = None,
    as_json: Json = False,
) -> None:
    """Let an agent learn in an environment."""
    from ucls import training

    order = training.Order(env, agent, steps, seed, training.read_settings(settings), features, dtype, discount)
    order = order.with_bounds(low, high)
    result = training.train(order, out, resume)
    if as_json:
        print(json.dumps(result))
    else:
        training.print_summary(result)
    if result["diverged"]:
        raise typer.Exit(1)


@app.command()
def paper(
    figure: Annotated[
        list[str] | None, typer.Option(help="Only 1, 2, 3, 5 to 9, mountain-car, theorem, choices or causes.")
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of every line, with all the steps.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few runs and steps: the default.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocol: about a day on two cores.")] = False,
    heavy_runs: Annotated[
        int | None, typer.Option(min=1, help="At most so many of what takes a minute a run or is only in a table.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the figures and the report.")] = Path("out/paper"),
    store: Annotated[Path | None, typer.Option(help="Where runs are kept: OUT/runs.sqlite.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores by default.")] = None,
    ray: Annotated[str | None, typer.Option(help="Run on Ray: `local`, or the address of a cluster.")] = None,
    slurm: Annotated[str | None, typer.Option(help="Run as job arrays in this Slurm partition.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run and for how long.")] = False,
    no_run: Annotated[bool, typer.Option("--no-run", help="Draw and judge what the store has.")] = False,
    page: Annotated[Path | None, typer.Option(help="Fill the marks <!-- verdicts -->, ... of this page.")] = None,
    as_json: Json = False,
) -> None:
    """Reproduce the paper: run what is missing, draw its figures, judge its claims, write a report."""
    from ucls import paper as reproduction
    from ucls.paper import account
    from ucls.paper.groups import scale_of
    from ucls.study import Store
    from ucls.study.where import runner_of

    if sum((quick, full, runs is not None)) > 1:
        raise UserError("--quick, --full and --runs exclude each other: give one")
    if heavy_runs is not None and runs is None and not full:
        raise UserError("--heavy-runs goes with --runs or --full: a quick look has one of each anyway")
    if page is not None:
        account.marked(page, reproduction.titles(figure or ()))
    scale, kept = scale_of(runs, full, heavy_runs), store or out / "runs.sqlite"
    asked = figure or []
    before = reproduction.expected(asked, scale, kept, jobs)
    if dry_run:
        cli_study.say_forecast(before, as_json)
        return
    if not (as_json or no_run):
        minutes = f"about {before['minutes']:,.0f} minutes with {before['jobs']} processes ({before['basis']})"
        print(f"{before['missing']:,} runs to go, {minutes}; it can be stopped and goes on", file=sys.stderr)
    with Store(kept, write=True) as opened:
        runner = None if no_run else runner_of(jobs, ray, slurm)
        found = reproduction.reproduce(out, scale, asked, opened, runner, quiet=as_json)
    if page is not None:
        account.fill(page, found, out)
    if as_json:
        print(json.dumps([claim.as_data() for claim in found.claims]))
    else:
        account.print_claims(found, out)
    if not found.complete:
        raise typer.Exit(1)


@app.command()
def sweeps(
    store: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("out/sweeps.sqlite"),
    out: Annotated[Path, typer.Option(help="The file of winners to write.")] = Path("out/winners.json"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores by default.")] = None,
) -> None:
    """Run the sweeps that tune the paper's competitors, and write what they find."""
    from ucls.paper.sweeps import tune
    from ucls.study import Store
    from ucls.study.local import local

    with Store(store, write=True) as opened:
        complete = tune(opened, local(jobs), out)
    if not complete:
        print(f"stopped before the end: {out} was not written, the same command goes on", file=sys.stderr)
        raise typer.Exit(1)
    print(f"wrote {out}")


@app.command()
def departures(
    runs: Annotated[int, typer.Option(min=1, help="Seeds for each side of a comparison.")] = 5,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("out/departures.md"),
    store: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("out/departures.sqlite"),
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores by default.")] = None,
) -> None:
    """Measure what each departure from the paper's text changes: the literal reading against ours."""
    from ucls.paper.departures import measure, write_page
    from ucls.paper.readings import DEPARTURES
    from ucls.study import Store
    from ucls.study.local import local

    with Store(store, write=True) as opened:
        found = measure(DEPARTURES, runs, opened, local(jobs))
    write_page(DEPARTURES, found, runs, out)
    print(f"wrote {out}")


@app.command("evaluate-log")
def evaluate_log(
    file: Annotated[Path, typer.Argument(help="CSV with columns reward, discount, NAME..., NAME_next...; or .npz.")],
    p: Annotated[float, typer.Option("--p", help="Intervals hold with probability 1 - p.")] = 0.1,
    lambda_: Annotated[float, typer.Option("--lambda", help="Decay of the eligibility trace.")] = 0.9,
    estimator: Annotated[str, typer.Option(help="Of the variance: leave_one_out, robust, ...")] = "leave_one_out",
    factor: Annotated[str, typer.Option(help="chebyshev (Theorem 1) or normal (narrower).")] = "chebyshev",
    features: Annotated[str, typer.Option(help="columns, affine (and a constant) or one_hot.")] = "columns",
    eta: Annotated[float, typer.Option(help="Added to the diagonal of A.")] = 0.0,
    rows: Annotated[int, typer.Option(min=1, help="How many of the x met most often to show.")] = 10,
    as_json: Json = False,
) -> None:
    """Estimate the values of the policy that made a log of transitions, with confidence intervals.

    Columns: reward; discount (0 ends an episode); features NAME and NAME_next; optionally start (1 after a cutoff) and
    rho (importance ratio).
    """
    from ucls.evaluation import logfile

    found = logfile.evaluate(file, p, lambda_, estimator, factor, features, rows, eta)
    if as_json:
        print(json.dumps({**logfile.as_data(found), "p": p, "estimator": estimator, "factor": factor}))
    else:
        logfile.print_evaluated(found, f"{file.name}: values with {100 * (1 - p):g}% intervals, {estimator}")


@app.command()
def coverage(
    runs: Annotated[int | None, typer.Option(min=2, help="Walks of each chain; 400, or 40 if quick.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and cases: about a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the page, its figures and the numbers.")] = Path("out/coverage"),
    as_json: Json = False,
) -> None:
    """Measure how often intervals hold the truth, for every estimator, on chains with known values."""
    from ucls.paper import coverage as page

    found = page.make(runs or (40 if quick else 400), quick, out, quiet=as_json)
    print(json.dumps(found) if as_json else f"wrote {out / 'coverage.md'}")


@app.command()
def diagnose(
    env: Annotated[str, typer.Argument(help="An id from `ucls envs`.")],
    agent: Annotated[str, typer.Option(help="A name from `ucls agents`, of one that has bounds.")] = "ucls",
    steps: Annotated[int, typer.Option(min=1, help="Steps of each run.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Runs, with seeds one after another.")] = 1,
    settings: Settings = None,
    density: Annotated[str, typer.Option(help="Where to look: start, uniform or optimal.")] = "start",
    points: Annotated[int, typer.Option(min=1, help="Readings along a run.")] = 30,
    out: Annotated[Path | None, typer.Option(help="Folder for the figure and the numbers.")] = None,
    as_json: Json = False,
) -> None:
    """Say why an agent learns or fails: its optimism, radius, value error and regret along a run."""
    from ucls import diagnostics
    from ucls.settings import parse

    given = parse(settings or [])
    found = diagnostics.diagnose(env, agent, steps, range(seed, seed + runs), given, density, points)
    if out is not None:
        from ucls.figures.diagnosis import write_diagnosis

        title = " ".join([agent, *(f"{name}={value}" for name, value in given.items()), "in", env])
        write_diagnosis(title, found, density, out)
    if as_json:
        print(json.dumps(diagnostics.as_data(found)))
    else:
        diagnostics.print_verdicts(found, density, out)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what a bug report needs: versions, machine, caches, and whether kernels compile and agree with Python."""
    from ucls.doctor import examine

    found = examine()
    if as_json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:18} {value}")
    if not found["kernels_agree"]:
        raise typer.Exit(1)


def _headline(module: Any) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


def _about(setting: Any) -> dict[str, Any]:
    return {"name": setting.name, "default": setting.default, "takes": str(setting.check), "about": setting.doc}


def _listing(rows: list[dict[str, Any]], key: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for row in rows:
        console.print(f"[bold]{escape(row[key])}[/]  {escape(row['about'])}")
        table = Table(box=None, show_header=False, padding=(0, 2), pad_edge=True)
        for setting in row["settings"]:
            choices = f" ({setting['takes']})" if setting["takes"].startswith("one of") else ""
            table.add_row(f"[cyan]{setting['name']}[/]", str(setting["default"]), escape(setting["about"] + choices))
        console.print(table)
        console.print()


def main() -> None:
    """Run the command; what the user can mend is one line on the error stream and exit code 2."""
    sys.path.append(str(Path.cwd()))  # so that `--agent my_module` finds a module in the folder one is in
    try:
        app()
    except UserError as error:
        print(f"ucls: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("ucls: stopped", file=sys.stderr)
        raise SystemExit(130) from None
