"""Print what was found in a log."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ucls.errors import printable

if TYPE_CHECKING:
    from ucls.evaluation.comparison import Candidate, Comparison, Span
    from ucls.evaluation.logs import EpisodeLog, Problem

COLORS = {"better": "green", "worse": "red", "cannot say": "yellow"}


def show_log(log: "EpisodeLog") -> None:
    """Print the size of a log, and how its columns are interpreted."""
    from ucls.cli.output.tables import console

    to = console()
    lengths = log.lengths
    to.print(
        f"{log.name}: {log.n_episodes:,} episode{'s' * (log.n_episodes > 1)}, "
        f"{log.n_steps:,} step{'s' * (log.n_steps > 1)} ({lengths.min()} to {lengths.max()} each), "
        f"{int(log.truncated.sum()):,} truncated; gamma {log.gamma:g}",
        highlight=False, markup=False,
    )  # fmt: skip
    roles = log.columns.as_data()
    unused = roles.pop("unused", [])
    for role, names in roles.items():
        text = ", ".join(names) if isinstance(names, list) else names
        if role == "action":
            text += f" ({len(log.actions)} actions: {', '.join(map(str, log.actions[:10].tolist()))})"
        to.print(f"  {role.replace('_', ' '):11} {printable(text)}", highlight=False, markup=False)
    if log.probability is None:
        to.print("  probability none: fitted where it is needed", highlight=False, markup=False)
    if unused:
        to.print(f"  not used    {printable(', '.join(unused))}", highlight=False, markup=False)


def show_problems(problems: Sequence["Problem"]) -> None:
    """Print the problems of a log, one line each."""
    from rich.markup import escape

    from ucls.cli.output.tables import console

    to = console()
    for problem in problems:
        word = "[red]error[/]" if problem.error else "[yellow]warning[/]"
        to.print(f"{word}  {escape(printable(problem.text))}", highlight=False)
    if not problems:
        to.print("no problems found", highlight=False)


def show_comparison(found: "Comparison", page: Path | None = None) -> None:
    """Print the answer for every candidate, and what it rests on."""
    from rich.markup import escape

    from ucls.cli.output.tables import console, print_table

    to = console()
    show_log(found.log)
    to.print()
    rows = [["logged policy", _span(found.logged), "", "", ""]]
    for each in found.candidates:
        verdict = f"[{COLORS[each.verdict]}]{each.verdict}[/]"
        rows.append(
            [escape(printable(each.name)), _span(each.value), _span(each.difference), f"{each.p_value:.3g}", verdict]
        )
    title = f"Values over the start states, with {100 * found.confidence:g}% intervals"
    print_table(["policy", "value", "difference", "p", "verdict"], rows, title, to)
    for each in found.candidates:
        _show_candidate(each, found)
    if len(found.candidates) > 1:
        to.print(f"Safe choice: {found.safe}.", highlight=False, markup=False)
    if page is not None:
        to.print(f"report {page}", highlight=False, markup=False)


def _show_candidate(each: "Candidate", found: "Comparison") -> None:
    from ucls.cli.output.tables import console, print_table

    to = console()
    to.print(printable(each.sentence), highlight=False, markup=False)
    for reason in each.because[1:]:
        to.print(f"  also: {printable(reason)}", highlight=False, markup=False)
    rows = [
        [line.name + (" (used)" if line.name in each.estimator else ""), _span(line.value), _span(line.difference)]
        for line in each.agreement
    ]
    print_table(["estimator", "value", "difference"], rows, f"{printable(each.name)}: agreement of estimators", to)
    log = found.log
    about = [
        f"{found.basis}, {found.n_features} features; mean length {log.lengths.mean():.3g} steps"
        + (f", horizon of the discount {1 / (1 - log.gamma):.3g}" if log.gamma < 1 else ""),
        f"policies differ in {100 * each.support.difference:.3g}% of the actions; the log never shows "
        f"{100 * each.support.never:.3g}% of those of {each.name}, rarely {100 * each.support.rare:.3g}%"
        + (f"; {where}" if (where := each.support.where(log.columns.state)) else ""),
    ]
    if each.effective_sample_size is not None and each.largest_weight is not None:
        about.append(
            f"importance weights ({found.propensities} probabilities): effective sample size "
            f"{each.effective_sample_size:,.3g} of {log.n_episodes:,} episodes, largest weight "
            f"{100 * each.largest_weight:.3g}% of all"
        )
    tests = ", ".join(f"{check.name} p = {check.p_value:.2g}{' FAILED' * check.failed}" for check in each.checks)
    about.append(f"tests of the assumptions: {tests or 'none possible'}")
    for line in about:
        to.print(f"  {printable(line)}", highlight=False, markup=False)
    for point in each.at:
        where = ", ".join(f"{x:g}" for x in point.state)
        to.print(
            f"  at ({where}): logged {_span(point.logged)}, new {_span(point.new)}, "
            f"difference {_span(point.difference)}",
            highlight=False, markup=False,
        )  # fmt: skip


def _span(span: "Span") -> str:
    import numpy as np

    if not np.isfinite(span.low):
        return "unknown" if not np.isfinite(span.estimate) else f"{span.estimate:.4g} (unbounded)"
    return f"{span.estimate:.4g} ({span.low:.4g} to {span.high:.4g})"
