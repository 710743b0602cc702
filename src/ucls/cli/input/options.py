"""Options that several commands share, and how their values are parsed."""

from pathlib import Path
from typing import Annotated

import typer

from ucls.cli.input import complete
from ucls.errors import UserError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")]
Ray = Annotated[str | None, typer.Option(help="Run on Ray: `local` or the address of a cluster.")]
Slurm = Annotated[str | None, typer.Option(help="Run as job arrays in this Slurm partition.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would run and how long it would take.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the algorithm, the features or the environment."),
]

# `gym.registry` turns the name into an environment.
Environment = Annotated[
    str,
    typer.Argument(
        help="An id from `ucls envs`, any Gymnasium id, module:id or module:factory.",
        autocompletion=complete.envs,
    ),
]
EnvironmentOfRun = Annotated[
    str | None,
    typer.Option(
        help="The environment of a saved run, if it cannot be recreated from it.", autocompletion=complete.envs
    ),
]
RunOrEnvironment = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A saved run (folder or file), or an environment in which to train a new agent.",
        autocompletion=complete.envs,
    ),
]
AlgorithmName = Annotated[
    str,
    typer.Option(
        "--algo",
        help="A name from `ucls algorithms`, or your own module.",
        autocompletion=complete.algorithms,
    ),
]
AlgorithmOfRun = Annotated[
    str | None,
    typer.Option(
        "--algo",
        help="The algorithm of a new agent, by default ucls-plan, or ucls-deep for images and for more than three "
        "components; for a saved run of your own algorithm, its module.",
        autocompletion=complete.algorithms,
    ),
]
FeaturesName = Annotated[
    str | None,
    typer.Option(
        help="A name from `ucls features`, or your own module; chosen by default.", autocompletion=complete.features
    ),
]
Low = Annotated[str | None, typer.Option(help="Lower bounds of the observation, separated by commas.")]
High = Annotated[str | None, typer.Option(help="Upper bounds of the observation, separated by commas.")]
StepsFirst = Annotated[
    int | None,
    typer.Option(min=0, max=10**9, help="Steps to train first; 20,000 for a new agent, 0 for a saved run."),
]


def path_of(option: str, text: str | None) -> Path | None:
    """Parse a path. Refuse an empty one: it is an unset shell variable, not the working directory."""
    if text is not None and (not text.strip() or "\0" in text):
        raise UserError(f"{option} cannot be {text!r}: give a path")
    return None if text is None else Path(text)


def numbers_of(option: str, text: str | None) -> list[float] | None:
    """Parse numbers separated by commas; `none` stands for a missing one."""
    if text is None:
        return None
    try:
        return [float("nan" if word.strip().lower() == "none" else word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"{option} cannot be {text!r}: give numbers separated by commas") from None
