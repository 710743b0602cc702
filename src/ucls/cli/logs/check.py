"""`ucls check-log`: every problem of a log, with its row."""

from collections.abc import Mapping
from typing import Any

import typer

from ucls.cli.input.options import Json
from ucls.cli.logs import options as opt
from ucls.cli.output.streams import print_json


@opt.reads_log
def check_log(
    file: opt.LogFile,
    as_json: Json = False,
    *,
    gamma: float | None,
    columns: Mapping[str, Any],
    ends: str | None,
) -> None:
    """Check a log of episodes: show how its columns are interpreted, and report every problem with its row.

    Exit code 2 means that the log has errors; warnings do not prevent a comparison.
    """
    from ucls.evaluation.logs import check_log as check

    log, problems = check(file, gamma, columns, ends)
    if as_json:
        about: dict[str, Any] = {} if log is None else {
            "episodes": log.n_episodes, "steps": log.n_steps, "gamma": log.gamma, "actions": log.actions.tolist(),
            "truncated": int(log.truncated.sum()), "columns": log.columns.as_data(),
        }  # fmt: skip
        print_json({**about, "problems": [problem._asdict() for problem in problems]})
    else:
        from ucls.cli.logs.show import show_log, show_problems

        if log is not None:
            show_log(log)
        show_problems(problems)
    if log is None:
        raise typer.Exit(2)
