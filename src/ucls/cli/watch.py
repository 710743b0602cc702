"""`ucls record-video`: a video of an agent, with its confidence intervals beside the picture."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ucls.cli.input.options import (
    AlgorithmOfRun,
    EnvironmentOfRun,
    FeaturesName,
    High,
    Low,
    RunOrEnvironment,
    Settings,
    StepsFirst,
    path_of,
)


def record_video(
    what: RunOrEnvironment,
    agent: AlgorithmOfRun = None,
    steps: StepsFirst = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Random seed of a new agent, and of the episodes.")
    ] = 0,
    env: EnvironmentOfRun = None,
    out: Annotated[str, typer.Option(help="The video to write: .gif or .mp4.")] = "video.gif",
    settings: Settings = None,
    features: FeaturesName = None,
    low: Low = None,
    high: High = None,
    episodes: Annotated[int, typer.Option(min=1, max=1000, help="Number of episodes.")] = 1,
    greedy: Annotated[
        bool,
        typer.Option("--greedy/--explore", help="Follow the greedy policy, as in an evaluation, or the exploring one."),
    ] = True,
    fps: Annotated[int, typer.Option(min=1, max=50, help="Frames per second.")] = 20,
    every: Annotated[int, typer.Option(min=1, max=10**6, help="Show every Nth step.")] = 1,
    max_steps: Annotated[int, typer.Option(min=1, max=10**6, help="Truncate episodes after this many steps.")] = 500,
) -> None:
    """Record a video of an agent, with the confidence interval of every action beside the picture.

    TARGET is a saved run, or an environment in which to train a new agent.
    """
    from ucls.agent.explain.clip import refuse_clip
    from ucls.cli.input.subject import subject_of

    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # pictures need no window
    video = path_of("--out", out) or Path(out)
    refuse_clip(video)
    learner, more, _ = subject_of(what, agent, steps, seed, env, settings, low, high, features)
    written = learner.record_video(
        video,
        episodes,
        more,
        deterministic=greedy,
        seed=seed,
        fps=fps,
        every=every,
        max_steps=max_steps,
        progress_bar=True,
    )
    print(written)
