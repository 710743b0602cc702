"""`ucls evaluate-log` and `ucls diagnose`: what a log says, and what happens inside a run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ucls.cli import show
from ucls.cli.options import Settings
from ucls.cli.study import Json


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

    evaluated = logfile.evaluate(file, p, lambda_, estimator, factor, features, rows, eta)
    if as_json:
        print(json.dumps({**logfile.as_data(evaluated), "p": p, "estimator": estimator, "factor": factor}))
    else:
        show.show_evaluation(evaluated, f"{file.name}: values with {100 * (1 - p):g}% intervals, {estimator}")


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
    diagnoses = diagnostics.diagnose(env, agent, steps, range(seed, seed + runs), given, density, points)
    if out is not None:
        from ucls.figures.diagnosis import write_diagnosis

        title = " ".join([agent, *(f"{name}={value}" for name, value in given.items()), "in", env])
        write_diagnosis(title, diagnoses, density, out)
    if as_json:
        print(json.dumps(diagnostics.as_data(diagnoses)))
    else:
        show.show_diagnosis(diagnoses, density, out)
