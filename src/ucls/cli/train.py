"""`ucls train`: one run, kept and gone on with."""

import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucls.algorithms import DEFAULT
from ucls.cli import show
from ucls.cli.options import AlgorithmName, Environment, FeaturesName, Settings, numbers_of, path_of
from ucls.cli.streams import print_json
from ucls.cli.study import Json
from ucls.settings import word_of

if TYPE_CHECKING:
    from ucls.train.train import Order


def train(
    env: Environment,
    agent: AlgorithmName = DEFAULT,
    steps: Annotated[int, typer.Option(min=1, max=10**15, help="Steps to take.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the run.")] = 0,
    out: Annotated[str | None, typer.Option(help="Folder for the agent and the results.")] = None,
    settings: Settings = None,
    features: FeaturesName = None,
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
    from ucls.settings import parse
    from ucls.train.train import Order
    from ucls.train.train import train as carry_out

    bounds = numbers_of("--low", low), numbers_of("--high", high)
    order = Order(env, agent, steps, seed, parse(settings or []), features, dtype, discount, *bounds)
    result = carry_out(order, path_of("--out", out), path_of("--resume", resume), checkpoint_every, _say)
    if as_json:
        print_json(result)
    elif not result["stopped"]:
        show.show_run(result)
    if result["stopped"]:
        _say(how_to_go_on(order, result))
        raise typer.Exit(128 + result["stopped"])
    if result["diverged"]:
        raise typer.Exit(1)


def how_to_go_on(order: "Order", result: dict[str, Any]) -> str:
    """Say, in one line, where a run that was stopped is kept and which command goes on with it."""
    left = order.steps - result["new_steps"]
    ending = f"stopped after {result['new_steps']:,} of {order.steps:,} steps"
    if result["out"] is None:
        return f"{ending}; nothing was kept: give --out DIR to keep a run that is stopped"
    if result["diverged"] or not left:
        return f"{ending}; kept in {result['out']}"
    words = ["ucls", "train", order.env, *(["--algo", order.agent] if order.agent != DEFAULT else [])]
    words += [word for name, value in order.env_settings.items() for word in ("--set", f"env.{name}={word_of(value)}")]
    words += ["--steps", str(left), "--resume", result["out"], "--out", result["out"]]
    return f"{ending}; kept in {result['out']}, go on with: {shlex.join(words)}"


def _say(line: str) -> None:
    print(f"ucls: {line}", file=sys.stderr)
