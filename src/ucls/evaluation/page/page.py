"""The page: the answer in one sentence, then what it rests on."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from ucls._util.html import asset, write_document
from ucls.evaluation.comparison.result import Candidate, Comparison, Span
from ucls.evaluation.page import plots

TESTS = {  # what every test of an assumption compares
    "returns": "the fitted value of the logged policy and its mean return",
    "features": "the difference with these features and with others",
    "stationarity": "TD errors in the first and in the second half of the episodes",
    "lambda": "the difference with lambda 0 and with the largest lambda",
    "estimators": "LSTD-Q and doubly robust estimation",
}
CLASSES = {"better": "good", "worse": "bad", "cannot say": "unsure"}


def write_report(found: Comparison, path: Path) -> Path:
    """Write a comparison to an HTML file that needs nothing else."""
    names = ", ".join(each.name for each in found.candidates)
    title = f"Is {names} better than the logged policy?" if len(found.candidates) == 1 else f"Comparison of {names}"
    body = f"""<header><h1>{escape(title)}</h1>{_answers(found)}</header>
<main>
{"".join(_candidate(each, found) for each in found.candidates)}
<section><h2>Returns of the logged policy over time</h2>
<p>Means of consecutive episodes with standard errors. A trend means that the environment or the policy changed.</p>
{plots.over_time(found.log)}</section>
{_facts(found)}
</main>"""
    write_document(path, title, body, asset("ucls.evaluation.page", "page.css"), "", found.as_data())
    return path


def _answers(found: Comparison) -> str:
    cards = []
    for each in found.candidates:
        more = "".join(f"<li>{escape(reason)}</li>" for reason in each.because[1:])
        more = f"<p>Also:</p><ul>{more}</ul>" if more else ""
        cards.append(f'<div class="answer {CLASSES[each.verdict]}"><p>{escape(each.sentence)}</p>{more}</div>')
    if len(cards) > 1:
        correction = "Intervals are corrected for the number of candidates by Holm's method."
        cards.append(f"<p>Safe choice: <strong>{escape(found.safe)}</strong>. {correction}</p>")
    return "".join(cards)


def _candidate(each: Candidate, found: Comparison) -> str:
    rows = [["logged policy", _span(found.logged)], [each.name, _span(each.value)]]
    return f"""<section><h2>{escape(each.name)}</h2>
<h3>Difference from the logged policy</h3>
<p>The answer uses {escape(each.estimator)}; the others should agree with it.</p>
{plots.intervals(each.agreement, each.difference, each.confidence)}
<h3>Values over the start states</h3>
{table(["policy", f"value ({100 * found.confidence:g}% interval)"], rows)}{_points(each)}
<h3>Overlap of the two policies</h3>
<p>{_overlap(each, found)}</p>
{plots.actions(each.shares)}
<h3>Where the policies differ, and where data are missing</h3>
<p>The darker a cell, the more the policies differ in it. Red outlines: its rows lack an action of the new policy, which
in cells with few rows may be chance; the verdict uses larger regions. Dashed: no data.</p>
{plots.map_of(each.grid)}
<h3>Tests of the assumptions</h3>
{_checks(each)}</section>"""


def _points(each: Candidate) -> str:
    if not each.at:
        return ""
    rows = [
        [", ".join(f"{x:g}" for x in point.state), _span(point.logged), _span(point.new), _span(point.difference)]
        for point in each.at
    ]
    return table(["state", "logged", "new", "difference"], rows)


def _overlap(each: Candidate, found: Comparison) -> str:
    support = each.support
    text = (
        f"The policies differ in {100 * support.difference:.3g}% of the actions. The log never shows "
        f"{100 * support.never:.3g}% of the new policy's actions in their region of the state space, and "
        f"{100 * support.rare:.3g}% only rarely."
    )
    if where := support.where(found.log.columns.state):
        text += f" They are missing {where}."
    if each.effective_sample_size is not None and each.largest_weight is not None:
        text += (
            f" For importance sampling the {found.log.n_episodes:,} episodes are worth "
            f"{each.effective_sample_size:,.3g} ({found.propensities} probabilities; the largest weight is "
            f"{100 * each.largest_weight:.3g}% of all)."
        )
    return escape(text)


def _checks(each: Candidate) -> str:
    if not each.checks:
        return "<p>None was possible with this log.</p>"
    rows = [
        [check.name, TESTS[check.name], f"{check.p_value:.2g}", check.meaning if check.failed else "no contradiction"]
        for check in each.checks
    ]
    return table(["test", "compares", "p-value", "result"], rows)


def _facts(found: Comparison) -> str:
    log = found.log
    rows = [
        ["log", f"{log.name}: {log.n_episodes:,} episodes, {log.n_steps:,} steps"],
        ["episodes", f"{log.lengths.min()} to {log.lengths.max()} steps, mean {log.lengths.mean():.3g}; "
                     f"{int(log.truncated.sum()):,} truncated"],
        ["discount", f"{log.gamma:g}" + (f", a horizon of {1 / (1 - log.gamma):.3g} steps" if log.gamma < 1 else "")],
        ["features", f"{found.basis}, {found.n_features} in all"],
        ["probabilities", found.propensities + ("" if found.calibration_error is None else
                          f", calibration error {found.calibration_error:.2g}")],
    ]  # fmt: skip
    rows += [
        [role.replace("_", " "), ", ".join(names) if isinstance(names, list) else names]
        for role, names in log.columns.as_data().items()
    ]
    return f"<section><h2>The log</h2>{table(['', ''], rows)}</section>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head) if any(head) else ""
    cells = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table>{f"<tr>{top}</tr>" if top else ""}{cells}</table></div>'


def _span(span: Span) -> str:
    if not np.isfinite(span.low):
        return "not determined"
    return f"{span.estimate:.4g} ({span.low:.4g} to {span.high:.4g})"
