"""`ucls evaluate`: how good an agent that was kept is, in episodes that it does not learn from."""

from typing import Annotated, Any

import typer

from ucls.cli import complete
from ucls.cli.options import AlgorithmOfRun, FeaturesName, Settings
from ucls.cli.streams import print_json
from ucls.cli.study import Json
from ucls.errors import UserError


def evaluate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, or the file of an agent.")],
    episodes: Annotated[int, typer.Option(min=1, max=10**9, help="How many episodes.")] = 10,
    env: Annotated[
        str | None,
        typer.Option(help="The environment, by its name, if the run does not tell.", autocompletion=complete.envs),
    ] = None,
    agent: AlgorithmOfRun = None,
    settings: Settings = None,
    features: FeaturesName = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the evaluation.")] = 0,
    explore: Annotated[bool, typer.Option("--explore", help="Act as it explores, not by the best mean.")] = False,
    max_steps: Annotated[
        int | None, typer.Option(min=1, max=10**15, help="Steps after which an episode is cut off.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how good an agent is: the returns of some episodes, with an interval.

    Of a run that `ucls train --out` kept, or of an agent's file.
    """
    from ucls import checkpoint
    from ucls.agent.evaluate import evaluate_policy
    from ucls.cli.subject import subject_of
    from ucls.gym.spaces import id_of

    if not checkpoint.found(run).exists():
        raise UserError(f"there is no run at {run}: give the folder of `ucls train --out`, or the file of an agent")
    subject, _, name = subject_of(str(checkpoint.found(run)), agent, None, 0, env, settings, None, None, features)
    if subject.env is None:
        raise UserError(
            f"{run} was in an environment that cannot be recreated from the file: name it by --env, its settings by "
            "--set env.X=Y"
        )
    found = evaluate_policy(
        subject, n_eval_episodes=episodes, deterministic=not explore, seed=seed, max_steps=max_steps
    )
    low, high = found.interval()[1:]
    told: dict[str, Any] = {
        "env": name or id_of(subject.env),
        "agent": subject.plan.agent,
        "steps": subject.steps,
        "seed": seed,
        "deterministic": not explore,
        "episodes": len(found.returns),
        "mean": found.mean,
        "std": found.std,
        "low": low,
        "high": high,
        "confidence": 0.95,
        "mean_length": float(found.lengths.mean()),
        "cut": found.cut,
        "returns": found.returns.tolist(),
        "lengths": found.lengths.tolist(),
    }
    if as_json:
        print_json(told)
    else:
        _show(told)


def _show(told: dict[str, Any]) -> None:
    from rich.console import Console

    from ucls.stats.summary import interval_in_words

    console = Console(highlight=False)
    console.print(f"[bold]{told['agent']}[/] on [bold]{told['env']}[/], after {told['steps']:,} steps")
    rows = [
        ("episodes", f"{told['episodes']:,}, of {told['mean_length']:.6g} steps on average"),
        ("return", f"{told['mean']:.6g} on average, {interval_in_words(told['low'], told['high'])}"),
        ("", f"{told['std']:.6g} is their standard deviation"),
    ]
    for name, text in rows:
        console.print(f"  {name:9} {text}", markup=False)
