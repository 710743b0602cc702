"""Options of the commands that read logs."""

import functools
import inspect
from collections.abc import Callable, Mapping
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


COLUMNS = {
    "state": State, "action": Action, "reward": Reward, "episode": Episode, "step": Step, "probability": Probability,
    "terminated": TerminatedColumn, "truncated": TruncatedColumn,
}  # fmt: skip


def reads_log(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a log is read; it gets them as `gamma`, `columns` and `ends`."""
    own = inspect.signature(command)
    shared = {"gamma": Gamma, **COLUMNS, "ends": Ends}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        columns: Mapping[str, Any] = {role: name for role in COLUMNS if (name := given.pop(role)) is not None}
        command(**given, columns=columns)

    parts = [part for name, part in own.parameters.items() if name not in ("gamma", "columns", "ends")]
    kind = inspect.Parameter.KEYWORD_ONLY
    options = [inspect.Parameter(name, kind, default=None, annotation=each) for name, each in shared.items()]
    run.__signature__ = own.replace(parameters=[part.replace(kind=kind) for part in parts] + options)  # pyright: ignore[reportAttributeAccessIssue]
    return run
