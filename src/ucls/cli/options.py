"""Options that several commands have, and how their words are read."""

from pathlib import Path
from typing import Annotated

import typer

from ucls.cli import complete
from ucls.errors import UserError

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the agent, the features or the environment."),
]

# What stands where an environment is named; `runs.naming` makes it.
Environment = Annotated[
    str,
    typer.Argument(
        help="An id from `ucls envs` or of any Gymnasium environment, module:id or module:factory.",
        autocompletion=complete.envs,
    ),
]
EnvironmentOfRun = Annotated[
    str | None,
    typer.Option(help="The environment of a run in one that is not ours, by its name.", autocompletion=complete.envs),
]
RunOrEnvironment = Annotated[
    str,
    typer.Argument(
        help="A run's folder or file; or an environment, to learn in it first.", autocompletion=complete.envs
    ),
]
AlgorithmName = Annotated[
    str,
    typer.Option(
        "--algo",
        help="A name from `ucls algorithms`, or a module of your own.",
        autocompletion=complete.algorithms,
    ),
]
AlgorithmOfRun = Annotated[
    str | None,
    typer.Option(
        "--algo",
        help="The module of the algorithm, for a run with one of your own; or the agent of a new run (ucls-exact).",
        autocompletion=complete.algorithms,
    ),
]
FeaturesName = Annotated[
    str | None,
    typer.Option(help="A name from `ucls features`; there is a default.", autocompletion=complete.features),
]


def path_of(option: str, text: str | None) -> Path | None:
    """A path; an empty one is a variable that somebody forgot to set, not the folder one is in."""
    if text is not None and (not text.strip() or "\0" in text):
        raise UserError(f"{option} cannot be {text!r}: give a path")
    return None if text is None else Path(text)


def numbers_of(option: str, text: str | None) -> list[float] | None:
    """Numbers with commas between them; `none` stands for one that is not given."""
    if text is None:
        return None
    try:
        return [float("nan" if word.strip().lower() == "none" else word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"{option} cannot be {text!r}: give numbers with commas between them") from None
