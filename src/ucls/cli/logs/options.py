"""Options of the commands that read logs."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

LogFile = Annotated[
    str, typer.Argument(metavar="LOG", help="A log with one row per step: .csv, .parquet, .npz or minari:ID.")
]
Gamma = Annotated[float | None, typer.Option(help="Discount per step; 0.99 by default.")]
State = Annotated[str | None, typer.Option(help="Columns of the state, separated by commas.")]
Action = Annotated[str | None, typer.Option(help="Column of the action.")]
Reward = Annotated[str | None, typer.Option(help="Column of the reward.")]
Episode = Annotated[str | None, typer.Option(help="Column that says which episode a row belongs to.")]
Step = Annotated[str | None, typer.Option(help="Column with the number of the step within its episode.")]
Probability = Annotated[
    str | None, typer.Option(help="Column with the probability with which the logged action was taken.")
]
TerminatedColumn = Annotated[str | None, typer.Option("--terminated", help="Column that marks terminations.")]
TruncatedColumn = Annotated[
    str | None, typer.Option("--truncated", help="Column that marks truncations, such as time limits.")
]
Ends = Annotated[str | None, typer.Option(help="How episodes end if no column says so: terminated or truncated.")]
Confidence = Annotated[float, typer.Option(help="Confidence level of the intervals.")]


def columns_of(**roles: str | None) -> Mapping[str, Any]:
    """The columns that were named."""
    return {role: name for role, name in roles.items() if name is not None}
