"""The `ucls` command. Heavy imports wait until a command needs them, so that `--help` answers at once."""

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import ucls
from ucls.algorithms import DEFAULT
from ucls.cli import paper, show, study
from ucls.cli.study import Json
from ucls.errors import Notice, UserError

# What the parser of the command line raises: the class above its BadParameter, which has no public name.
USAGE: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    help="Explore by optimism: Upper-Confidence Least-Squares, its rivals, and the domains they are compared on.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.add_typer(study.app, name="study")
app.add_typer(paper.app)

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the agent, the features or the environment."),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ucls {ucls.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version, and no more.")
    ] = False,
) -> None:
    """Take what stands before a command."""


@app.command()
def envs(as_json: Json = False) -> None:
    """List the environments with their settings and defaults."""
    from ucls.envs import ENVIRONMENTS, make_world, module_of
    from ucls.settings import describe

    rows = []
    for id in ENVIRONMENTS:
        module: Any = module_of(id)
        defaults = make_world(id).settings
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
    agent: Annotated[str, typer.Option(help="A name from `ucls agents`, or a module of your own.")] = DEFAULT,
    steps: Annotated[int, typer.Option(min=1, max=10**15, help="Steps to take.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the run.")] = 0,
    out: Annotated[str | None, typer.Option(help="Folder for the agent and the results.")] = None,
    settings: Settings = None,
    features: Annotated[str | None, typer.Option(help="tiles, one_hot or scaled; there is a default.")] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    discount: Annotated[float | None, typer.Option(help="Discount in an environment that gives none: 0.99.")] = None,
    low: Annotated[str | None, typer.Option(help="Lower bounds of the observation, with commas.")] = None,
    high: Annotated[str | None, typer.Option(help="Upper bounds of the observation, with commas.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on from the folder or file of an earlier run.")] = None,
    checkpoint_every: Annotated[float, typer.Option(min=0, help="Minutes between checkpoints in --out; 0: none.")] = 5,
    as_json: Json = False,
) -> None:
    """Let an agent learn in an environment.

    With --out, Ctrl-C keeps what was learned and says how to go on; a kill costs what was learned since the last
    checkpoint.
    """
    from ucls.runs import train

    order = train.Order(env, agent, steps, seed, train.read_settings(settings), features, dtype, discount)
    order = order.with_bounds(low, high)
    result = train.train(order, _path("--out", out), _path("--resume", resume), checkpoint_every)
    if as_json:
        print(json.dumps(result))
    elif not result["stopped"]:
        train.print_summary(result)
    if result["stopped"]:
        print(f"ucls: {train.how_to_go_on(order, result)}", file=sys.stderr)
        raise typer.Exit(128 + result["stopped"])
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
        show.show_evaluation(found, f"{file.name}: values with {100 * (1 - p):g}% intervals, {estimator}")


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
        show.show_diagnosis(found, density, out)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what a bug report needs: versions, machine, caches, and whether kernels compile and agree with Python."""
    from ucls.cli.doctor import examine

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


def _path(option: str, text: str | None) -> Path | None:
    """A path; an empty one is a variable that somebody forgot to set, not the folder one is in."""
    if text is not None and (not text.strip() or "\0" in text):
        raise UserError(f"{option} cannot be {text!r}: give a path")
    return None if text is None else Path(text)


def main() -> None:
    """Run the command; what the user can mend is one line on the error stream and exit code 2.

    Exit code 1 is for what went wrong after that: values that diverged, a disk that is full.
    """
    sys.path.append(str(Path.cwd()))  # so that `--agent my_module` finds a module in the folder one is in
    warnings.formatwarning = _in_one_line
    try:
        raise SystemExit(app(standalone_mode=False) or 0)
    except UserError as error:
        _end(str(error), 2)
    except USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            raise SystemExit(2) from None
        _end(error.format_message(), 2)
    except BrokenPipeError:  # whoever read the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except OSError as error:
        _end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except (KeyboardInterrupt, typer.Abort):
        _end("stopped", 130)


def _in_one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A notice is for the person who runs the command: its words are enough."""
    place = "" if issubclass(category, Notice) else f"{filename}:{lineno}: {category.__name__}: "
    return f"ucls: {place}{message}\n"


def _end(message: str, code: int) -> NoReturn:
    print(f"ucls: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(code) from None
