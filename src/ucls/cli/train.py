"""`ucls train`: train one agent, save it, resume it."""

import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucls.cli.input.options import (
    AlgorithmOfRun,
    Environment,
    FeaturesName,
    High,
    Json,
    Low,
    Settings,
    numbers_of,
    path_of,
)
from ucls.cli.output import show
from ucls.cli.output.streams import print_json
from ucls.settings import word_of

if TYPE_CHECKING:
    from ucls.train.train import Order


def train(
    env: Environment,
    agent: AlgorithmOfRun = None,
    steps: Annotated[int, typer.Option(min=1, max=10**15, help="Number of steps.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed.")] = 0,
    out: Annotated[
        str | None,
        typer.Option(help="Folder in which to save the agent and its results; by default that of --resume."),
    ] = None,
    settings: Settings = None,
    features: FeaturesName = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    discount: Annotated[
        float | None, typer.Option(help="Discount in third-party environments; 0.99 by default.")
    ] = None,
    low: Low = None,
    high: High = None,
    resume: Annotated[str | None, typer.Option(help="Resume the run in this folder or file.")] = None,
    checkpoint_interval: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Seconds between checkpoints in --out; 0: none.")
    ] = 300.0,
    as_json: Json = False,
) -> None:
    """Train an agent in an environment.

    With --out, Ctrl-C saves the run and prints the command that resumes it; a killed run resumes from its last
    checkpoint.
    """
    from ucls.settings import parse
    from ucls.train.train import Order
    from ucls.train.train import train as carry_out

    bounds = numbers_of("--low", low), numbers_of("--high", high)
    order = Order(env, agent, steps, seed, parse(settings or []), features, dtype, discount, *bounds)
    source, folder = path_of("--resume", resume), path_of("--out", out)
    if folder is None and source is not None and source.is_dir():
        folder = source
    result = carry_out(order, folder, source, checkpoint_interval, _say)
    if as_json:
        print_json(result)
    elif not result["stopped"]:
        show.show_run(result)
    if result["stopped"]:
        _say(how_to_resume(order, result))
        raise typer.Exit(128 + result["stopped"])
    if result["diverged"]:
        raise typer.Exit(1)


def how_to_resume(order: "Order", result: dict[str, Any]) -> str:
    """Say, in one line, where a stopped run is saved and which command resumes it."""
    left = order.steps - result["new_steps"]
    ending = f"stopped after {result['new_steps']:,} of {order.steps:,} steps"
    if result["out"] is None:
        return f"{ending}; nothing was saved: use --out DIR to save a run that is stopped"
    if result["diverged"] or not left:
        return f"{ending}; saved in {result['out']}"
    words = ["ucls", "train", order.env, *(["--algo", order.agent] if order.agent is not None else [])]
    words += [word for name, value in order.env_settings.items() for word in ("--set", f"env.{name}={word_of(value)}")]
    words += ["--steps", str(left), "--resume", result["out"], "--out", result["out"]]
    return f"{ending}; saved in {result['out']}, resume with: {shlex.join(words)}"


def _say(line: str) -> None:
    print(f"ucls: {line}", file=sys.stderr)
