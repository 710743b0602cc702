"""`ucls evaluate`: the returns of a saved agent in episodes without learning."""

from typing import Annotated, Any

import typer

from ucls.cli.input import complete
from ucls.cli.input.options import AlgorithmOfRun, FeaturesName, Json, Settings
from ucls.cli.output.streams import print_json
from ucls.errors import UserError


def evaluate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder of a saved run, or an agent's file.")],
    episodes: Annotated[int, typer.Option(min=1, max=10**9, help="Number of episodes.")] = 10,
    env: Annotated[
        str | None,
        typer.Option(help="The environment, if it cannot be recreated from the run.", autocompletion=complete.envs),
    ] = None,
    agent: AlgorithmOfRun = None,
    settings: Settings = None,
    features: FeaturesName = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the evaluation.")] = 0,
    explore: Annotated[
        bool, typer.Option("--explore", help="Follow the exploring policy instead of the greedy one.")
    ] = False,
    max_steps: Annotated[
        int | None, typer.Option(min=1, max=10**15, help="Truncate episodes after this many steps.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Evaluate a saved agent: the mean return over several episodes, with a confidence interval.

    The agent does not learn meanwhile. RUN is the folder of `ucls train --out` or the file of `Agent.save`.
    """
    from ucls.agent.evaluate import evaluate_policy
    from ucls.cli.input.subject import subject_of
    from ucls.core.saving import checkpoint
    from ucls.gym.spaces import id_of
    from ucls.train.run_folder import checkpoint_of
    from ucls.train.same_env import where_saved

    if not checkpoint.found(run).exists():
        raise UserError(f"there is no run at {run}: give the folder of `ucls train --out` or the file of an agent")
    subject, _, name = subject_of(str(checkpoint.found(run)), agent, None, 0, env, settings, None, None, features)
    if subject.env is None:
        where = where_saved(checkpoint.load(checkpoint_of(checkpoint.found(run)))[0])
        raise UserError(
            f"{run} was trained in {where}; a file may not select such code: name it with --env, and its settings "
            "with --set env.NAME=VALUE"
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
        "n_truncated": found.n_truncated,
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
        ("episodes", f"{told['episodes']:,}, mean length {told['mean_length']:.6g} steps"),
        ("return", f"mean {told['mean']:.6g}, {interval_in_words(told['low'], told['high'])}"),
        ("", f"standard deviation {told['std']:.6g}"),
    ]
    for name, text in rows:
        console.print(f"  {name:9} {text}", markup=False)
