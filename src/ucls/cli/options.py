"""Options that several commands have, and how their words are read."""

from pathlib import Path
from typing import Annotated

import typer

from ucls.errors import UserError

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the agent, the features or the environment."),
]

# What stands where an environment is named; `runs.naming` makes it.
ENVIRONMENT = "An id from `ucls envs` or of any Gymnasium environment, module:id or module:factory."


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
