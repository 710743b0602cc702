"""`ucls compare-log`: is a new policy better than the one that made a log?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ucls.cli.input.options import Json, numbers_of, path_of
from ucls.cli.logs import options as opt
from ucls.cli.output.streams import print_json
from ucls.errors import UserError

ATTITUDES = ("optimistic", "greedy", "cautious")


@opt.reads_log
def compare_log(
    file: opt.LogFile,
    policy: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]POLICY",
            help="A new policy: the file of an agent or the folder of a run (cautious:FILE for its cautious policy), "
            "module:function (states to actions or "
            "probabilities), or columns:PREFIX (probabilities in columns PREFIX + ACTION). Repeat it for several.",
        ),
    ],
    confidence: opt.Confidence = 0.9,
    features: Annotated[
        str | None, typer.Option(help="Features from `ucls features`, or your own module; chosen by default.")
    ] = None,
    at: Annotated[
        list[str] | None, typer.Option(metavar="STATE", help="Also estimate the values in this state, as in 0.5,1.")
    ] = None,
    out: Annotated[str | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Json = False,
    *,
    gamma: float | None,
    columns: Mapping[str, Any],
    ends: str | None,
) -> None:
    """Compare new policies with the one that made a log: better, worse, or cannot say, and by how much.

    The log has one row per step: episode, state columns, action, reward, terminated or truncated and, if known, the
    probability of the action. Columns are recognized by their names. `ucls check-log` checks a log first.

    Example: ucls compare-log log.csv --policy my_rules:new_policy --gamma 0.95 --out report.html
    """
    from ucls.evaluation import compare

    page = path_of("--out", out)
    if page is not None:
        from ucls._util.html import refuse_page

        refuse_page(page)
    states = [numbers_of("--at", text) or [] for text in at or []]
    found = compare(
        file, dict(_policy(text) for text in policy), gamma=gamma, confidence=confidence, features=features, at=states,
        columns=columns, ends=ends,
    )  # fmt: skip
    if page is not None:
        from ucls.evaluation.page import write_report

        write_report(found, page)
    if as_json:
        print_json(found.as_data())
    else:
        from ucls.cli.logs.show import show_comparison

        show_comparison(found, page)


def _agent(path: Path) -> Any:
    from ucls.agent.agent import Agent

    return Agent.load(path)


def _policy(text: str) -> tuple[str, Any]:
    """A policy by name: the file of an agent is loaded, other texts are left to `compare`."""
    name, equals, spec = text.partition("=")
    if not equals:
        name, spec = "", text
    if not spec.strip():
        raise UserError(f"--policy cannot be {text!r}: give a file, module:function or columns:PREFIX")
    if spec.startswith("columns:"):
        return name or spec.removeprefix("columns:").rstrip("_. ") or spec, spec
    from ucls.core.saving import checkpoint

    attitude, colon, path = spec.partition(":")
    if colon and attitude in ATTITUDES and not Path(spec).exists():
        return name or attitude, _agent(checkpoint.found(path)).policy(attitude)
    if Path(spec).exists() or checkpoint.found(spec).exists():
        return name or Path(spec).stem, _agent(checkpoint.found(spec))
    return name or spec.rpartition(":")[2] or spec, spec
