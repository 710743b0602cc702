"""`ucls evaluate-log` and `ucls diagnose`."""

from pathlib import Path
from typing import Annotated

import typer

from ucls.algorithms import DEFAULT
from ucls.cli.input import complete
from ucls.cli.input.options import Environment, High, Json, Low, Settings, numbers_of
from ucls.cli.output import show
from ucls.cli.output.streams import print_json


def evaluate_log(
    file: Annotated[Path, typer.Argument(help="CSV with columns reward, discount, NAME..., NAME_next...; or .npz.")],
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.9,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="Trace decay; by default 0.9, or less for large ratios.")
    ] = None,
    estimator: Annotated[str, typer.Option(help="Variance estimator: leave_one_out, robust, ...")] = "leave_one_out",
    factor: Annotated[str, typer.Option(help="chebyshev (Theorem 1) or normal (narrower).")] = "chebyshev",
    features: Annotated[str, typer.Option(help="columns, affine (columns and a constant) or one_hot.")] = "columns",
    eta: Annotated[float, typer.Option(help="Regularization, added to the diagonal of A.")] = 0.0,
    rows: Annotated[int, typer.Option(min=1, help="Number of feature vectors to show, most frequent first.")] = 10,
    as_json: Json = False,
) -> None:
    """Estimate state values, with confidence intervals, from a log of transitions of a fixed policy.

    Columns: reward; discount (0 at termination); features NAME and NAME_next; optionally start (1 in the first
    transition of an episode) and rho (importance ratio).
    """
    from ucls.evaluation.logs import logfile

    evaluated = logfile.evaluate(file, confidence, lambda_, estimator, factor, features, rows, eta)
    if as_json:
        print_json({**logfile.as_data(evaluated), "confidence": confidence, "estimator": estimator, "factor": factor})
    else:
        show.show_evaluation(evaluated, f"{file.name}: values with {100 * confidence:g}% intervals, {estimator}")


def diagnose(
    env: Environment,
    agent: Annotated[
        str,
        typer.Option(
            "--algo", help="An algorithm that computes confidence bounds.", autocompletion=complete.algorithms
        ),
    ] = DEFAULT,
    steps: Annotated[int, typer.Option(min=1, help="Steps per run.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the first run.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs, with consecutive seeds.")] = 1,
    settings: Settings = None,
    distribution: Annotated[
        str | None, typer.Option(help="State distribution: start, uniform or optimal; visited elsewhere.")
    ] = None,
    measurements: Annotated[int, typer.Option(min=1, help="Number of measurements during a run.")] = 30,
    low: Low = None,
    high: High = None,
    discount: Annotated[
        float | None, typer.Option(help="Discount in third-party environments; 0.99 by default.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the figure and the data.")] = None,
    as_json: Json = False,
) -> None:
    """Diagnose why an agent learns or fails: measure optimism, radius, value error and regret during a run.

    In a third-party environment, whose optimum is unknown, estimates are compared with collected returns instead.
    """
    from ucls import diagnostics
    from ucls.settings import listed, parse

    given = parse(settings or [])
    around = {"low": numbers_of("--low", low), "high": numbers_of("--high", high), "discount": discount}
    seeds = range(seed, seed + runs)
    diagnoses = diagnostics.diagnose(env, agent, steps, seeds, given, distribution, measurements, **around)
    where = distribution or diagnostics.default_distribution(env)
    if out is not None:
        from ucls.diagnostics.figure import write_diagnosis

        title = " ".join([agent, *([listed(given, " ")] if given else []), "in", env])
        write_diagnosis(title, diagnoses, where, out)
    if as_json:
        print_json(diagnostics.as_data(diagnoses))
    elif where == diagnostics.VISITED:
        show.show_visited(diagnoses, env, out)
    else:
        show.show_diagnosis(diagnoses, where, out)
