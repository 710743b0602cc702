"""`ucls check`: test an algorithm, features or an environment against its contract."""

import re
from typing import Annotated

import typer

from ucls.cli.input import complete
from ucls.cli.input.options import High, Json, Low, Settings, numbers_of
from ucls.cli.output.streams import print_json
from ucls.errors import UserError


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="An algorithm or features, by name or your own module, or an environment.",
            autocompletion=complete.algorithms_and_envs,
        ),
    ],
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="An environment in which to test an algorithm; may be repeated.", autocompletion=complete.envs
        ),
    ] = None,
    low: Low = None,
    high: High = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Test an algorithm, features or an environment against its contract and report what fails."""
    from ucls.gym.registry import open_env
    from ucls.settings import parse
    from ucls.testing import examine_algorithm, examine_environment, examine_features
    from ucls.testing.algorithm import WORLDS
    from ucls.testing.features import is_features

    if "/" in name or ":" in name or re.search(r"-v\d+$", name):
        made, others = open_env(name, parse(settings or []))
        if others:
            raise UserError(f"setting {next(iter(others))!r} is not a setting of the environment: write env.NAME=VALUE")
        verdicts = examine_environment(made, numbers_of("--low", low), numbers_of("--high", high))
    elif settings:
        raise UserError("--set applies to environments only: others are checked with their default settings")
    elif is_features(name):
        verdicts = examine_features(name)
    else:
        verdicts = examine_algorithm(name, env or WORLDS)
    rows = []
    for words, broken in verdicts:
        rows.append({"check": words, "passed": broken is None, "error": broken and str(broken)})
        if not as_json:
            print(f"passed  {words}" if broken is None else f"failed  {words}: {broken}", flush=True)
    if as_json:
        print_json(rows)
    if not all(row["passed"] for row in rows):
        raise typer.Exit(1)
