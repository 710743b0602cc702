"""`ucls explain`: maps of what an agent is unsure of, as a page for a browser."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ucls.cli.options import (
    AlgorithmOfRun,
    EnvironmentOfRun,
    FeaturesName,
    RunOrEnvironment,
    Settings,
    numbers_of,
    path_of,
)


def explain(
    what: RunOrEnvironment,
    agent: AlgorithmOfRun = None,
    steps: Annotated[int | None, typer.Option(min=0, max=10**9, help="Steps to learn first: 20,000, or 0.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the run.")] = 0,
    env: EnvironmentOfRun = None,
    out: Annotated[str, typer.Option(help="The page to write.")] = "maps.html",
    settings: Settings = None,
    features: FeaturesName = None,
    low: Annotated[str | None, typer.Option(help="Lower bounds of the observation, with commas.")] = None,
    high: Annotated[str | None, typer.Option(help="Upper bounds of the observation, with commas.")] = None,
    through: Annotated[str | None, typer.Option(help="The state that planes go through, with commas.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """See what an agent expects, does not know, finds noisy and would do, state by state and over time.

    Of a run that `ucls train --out` kept, or of a new one in an environment.
    """
    from ucls._html import refuse_page
    from ucls.cli.subject import subject_of
    from ucls.core.progress import Progress

    page = path_of("--out", out) or Path(out)
    refuse_page(page)
    learner, more, _ = subject_of(what, agent, steps, seed, env, settings, low, high, features)
    with Progress(more) as bar:
        written = learner.explain(page, more, numbers_of("--through", through), lambda done: bar.update(done, 0, 0.0))
    print(written)
    if open_page:
        import webbrowser

        if not webbrowser.open(written.absolute().as_uri()):
            print("ucls: there is no browser to open it with", file=sys.stderr)
