"""`ucls explain`: an HTML page with maps of values and uncertainty."""

import sys
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
    numbers_of,
    path_of,
)


def explain(
    what: RunOrEnvironment,
    agent: AlgorithmOfRun = None,
    steps: StepsFirst = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed of a new agent.")] = 0,
    env: EnvironmentOfRun = None,
    out: Annotated[str, typer.Option(help="The HTML page to write.")] = "maps.html",
    settings: Settings = None,
    features: FeaturesName = None,
    low: Low = None,
    high: High = None,
    slice_at: Annotated[
        str | None, typer.Option(help="The state through which to slice more than two dimensions, separated by commas.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write an HTML page that maps values, prior weight, noise, visits and chosen actions over training.

    TARGET is a saved run, or an environment in which to train a new agent.
    """
    from ucls._util.html import refuse_page
    from ucls.cli.input.subject import subject_of
    from ucls.core.progress import Progress

    page = path_of("--out", out) or Path(out)
    refuse_page(page)
    learner, more, _ = subject_of(what, agent, steps, seed, env, settings, low, high, features)
    with Progress(more) as bar:
        written = learner.explain(page, more, numbers_of("--slice-at", slice_at), lambda done: bar.update(done, 0, 0.0))
    print(written)
    if open_page:
        import webbrowser

        if not webbrowser.open(written.absolute().as_uri()):
            print("ucls: no browser was found to open the page", file=sys.stderr)
