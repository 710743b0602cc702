"""The `ucls` command. Heavy imports wait until a command needs them, so that `--help` answers at once."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ucls import cli_paper, cli_study
from ucls.cli_study import Json
from ucls.errors import UserError

app = typer.Typer(
    help="Explore by optimism: Upper-Confidence Least-Squares, its rivals, and the domains they are compared on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(cli_study.app, name="study")
app.add_typer(cli_paper.app)

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
