"""`ucls watch`: a film of an agent, with what it is unsure of beside the picture."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ucls.cli.options import AlgorithmOfRun, EnvironmentOfRun, FeaturesName, RunOrEnvironment, Settings, path_of


def watch(
    what: RunOrEnvironment,
    agent: AlgorithmOfRun = None,
    steps: Annotated[int | None, typer.Option(min=0, max=10**9, help="Steps to learn first: 20,000, or 0.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the run, and of the episodes.")] = 0,
    env: EnvironmentOfRun = None,
    out: Annotated[str, typer.Option(help="The film to write: .gif or .mp4.")] = "watch.gif",
    settings: Settings = None,
    features: FeaturesName = None,
    low: Annotated[str | None, typer.Option(help="Lower bounds of the observation, with commas.")] = None,
    high: Annotated[str | None, typer.Option(help="Upper bounds of the observation, with commas.")] = None,
    episodes: Annotated[int, typer.Option(min=1, max=1000, help="Episodes to show.")] = 1,
    greedy: Annotated[
        bool, typer.Option("--greedy/--explore", help="Act by the best means, as evaluations do; or as it explores.")
    ] = True,
    fps: Annotated[int, typer.Option(min=1, max=50, help="Frames a second.")] = 20,
    every: Annotated[int, typer.Option(min=1, max=10**6, help="Show every so many steps.")] = 1,
    most_steps: Annotated[int, typer.Option(min=1, max=10**6, help="Steps after which an episode is cut.")] = 500,
) -> None:
    """Watch an agent act, with the interval of every action beside the picture.

    Of a run that `ucls train --out` kept, or of a new one in an environment. It acts greedily, as in an evaluation,
    unless told to explore.
    """
    from ucls.cli.subject import subject_of
    from ucls.explain.clip import refuse_clip

    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # pictures need no window
    film = path_of("--out", out) or Path(out)
    refuse_clip(film)
    learner, more, _ = subject_of(what, agent, steps, seed, env, settings, low, high, features)
    written = learner.watch(
        film,
        episodes,
        more,
        deterministic=greedy,
        seed=seed,
        fps=fps,
        every=every,
        most_steps=most_steps,
        progress_bar=True,
    )
    print(written)
