"""`ucls evaluate-log` and `ucls diagnose`: what a log says, and what happens inside a run."""

from pathlib import Path
from typing import Annotated

import typer

from ucls.algorithms import DEFAULT
from ucls.cli import complete, show
from ucls.cli.options import Environment, Settings, numbers_of
from ucls.cli.streams import print_json
from ucls.cli.study import Json


def evaluate_log(
    file: Annotated[Path, typer.Argument(help="CSV with columns reward, discount, NAME..., NAME_next...; or .npz.")],
    p: Annotated[float, typer.Option("--p", help="Intervals hold with probability 1 - p.")] = 0.1,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="Decay of the eligibility trace; 0.9, less if ratios need it.")
    ] = None,
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

    evaluated = logfile.evaluate(file, p, lambda_, estimator, factor, features, rows, eta)
    if as_json:
        print_json({**logfile.as_data(evaluated), "p": p, "estimator": estimator, "factor": factor})
    else:
        show.show_evaluation(evaluated, f"{file.name}: values with {100 * (1 - p):g}% intervals, {estimator}")


def diagnose(
    env: Environment,
    agent: Annotated[
        str,
        typer.Option("--algo", help="An algorithm that has confidence bounds.", autocompletion=complete.algorithms),
    ] = DEFAULT,
    steps: Annotated[int, typer.Option(min=1, help="Steps of each run.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Runs, with seeds one after another.")] = 1,
    settings: Settings = None,
    density: Annotated[str | None, typer.Option(help="Where to look: start, uniform or optimal; visited.")] = None,
    points: Annotated[int, typer.Option(min=1, help="Readings along a run.")] = 30,
    low: Annotated[str | None, typer.Option(help="Lower bounds of the observation, with commas.")] = None,
    high: Annotated[str | None, typer.Option(help="Upper bounds of the observation, with commas.")] = None,
    discount: Annotated[float | None, typer.Option(help="Discount in an environment that gives none: 0.99.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the figure and the numbers.")] = None,
    as_json: Json = False,
) -> None:
    """Say why an agent learns or fails: its optimism, radius, value error and regret along a run.

    In an environment that is not ours, what can be read without its optimum.
    """
    from ucls import diagnostics
    from ucls.settings import listed, parse

    given = parse(settings or [])
    around = {"low": numbers_of("--low", low), "high": numbers_of("--high", high), "discount": discount}
    seeds = range(seed, seed + runs)
    diagnoses = diagnostics.diagnose(env, agent, steps, seeds, given, density, points, **around)
    where = density or diagnostics.default_density(env)
    if out is not None:
        from ucls.figures.diagnosis import write_diagnosis

        title = " ".join([agent, *([listed(given, " ")] if given else []), "in", env])
        write_diagnosis(title, diagnoses, where, out)
    if as_json:
        print_json(diagnostics.as_data(diagnoses))
    elif where == diagnostics.VISITED:
        show.show_visited(diagnoses, env, out)
    else:
        show.show_diagnosis(diagnoses, where, out)
