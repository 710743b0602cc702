"""Write a report: one HTML file that needs nothing else."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ucls._html import asset, write_document
from ucls.figures.draw import NOTHING
from ucls.figures.geometry import NONE, fewest, plain
from ucls.figures.plot import Plot
from ucls.report.data import embedded
from ucls.report.numbers import picture, tables_of
from ucls.report.verdict import Verdict

Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]

PICTURES, LEAST = 600_000, 20_000  # bytes of pictures for readers without scripts: of all at most, of one about

HINT = (
    '<p class="hint">Point at a chart, or move along it with the arrow keys, to read its numbers. '
    "Click a name to hide its line, double-click to see it alone.</p>"
)

FOLD = 3


def write_report(
    path: Path,
    title: str,
    lead: str,
    claims: Sequence[Mapping[str, Any]],
    plots: Sequence[Plot],
    tables: Sequence[Table],
    facts: Mapping[str, Any],
) -> None:
    """Write claims with their verdicts, figures, tables and facts into one HTML file that opens without a network.

    A claim has the keys number, claim, measured, effect, kind (a `Verdict`), verdict (the same in words, and more of
    them), why, and figure: the name of one of the plots, or None.
    """
    colours = sorted({line.colour for plot in plots for panel in plot.panels for line in panel.lines})
    style = asset("ucls.report", "page.css") + "".join(_paint(i, colour) for i, colour in enumerate(colours))
    body = f"""<header>
<h1>{escape(title)}</h1>
{"".join(f"<p>{escape(part)}</p>" for part in lead.split(chr(10) * 2) if part.strip())}
</header>
<main>
{_claims(claims, plots)}
{_figures(plots)}
{_tables(tables)}
{_facts(facts)}
</main>"""
    write_document(path, title, body, style, asset("ucls.report", "chart.js"), embedded(plots, colours))


def _paint(index: int, colour: str) -> str:
    """A class for a colour, and a lighter one for dark screens where it would be lost."""
    if not re.fullmatch("#[0-9A-Fa-f]{6}", colour):
        raise ValueError(f"a line's colour is written #RRGGBB, not {colour!r}")
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    light = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255
    white = max(0.0, 0.5 - light) * 1.1
    lifted = "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)
    return f"\n.c{index}{{--c:{colour}}}@media screen and (prefers-color-scheme:dark){{.c{index}{{--c:{lifted}}}}}"


def _anchor(name: str) -> str:
    return "figure-" + re.sub(r"[^A-Za-z0-9_-]+", "-", name.removeprefix("figure-"))


def _claims(claims: Sequence[Mapping[str, Any]], plots: Sequence[Plot]) -> str:
    if not claims:
        return ""
    titles = {plot.name: plot.title for plot in plots}
    kinds: list[Verdict] = [claim["kind"] for claim in claims]
    rows = []
    for claim, kind in zip(claims, kinds, strict=True):
        name = claim.get("figure")
        link = f' <a href="#{_anchor(name)}" title="{escape(titles[name])}">figure</a>' if name in titles else ""
        why = f'<p class="why">{escape(str(claim["why"]))}</p>' if claim.get("why") else ""
        rows.append(
            f'<tr data-kind="{kind.value}"><td class="number">{escape(str(claim["number"]))}</td>'
            f'<td data-head="claim">{escape(str(claim["claim"]))}{link}</td>'
            f'<td data-head="measured">{_lines(claim["measured"])}</td>'
            f'<td data-head="effect">{_lines(claim["effect"])}</td>'
            f'<td data-head="verdict"><span class="badge {kind.value.split()[0]}"><span aria-hidden="true">{kind.mark}'
            f"</span> {escape(str(claim['verdict']))}</span>{why}</td></tr>"
        )
    buttons = "".join(
        f'<button type="button" data-kind="{word}" aria-pressed="false"><b>{count}</b> {word}</button>'
        for word, count in ((kind.value, kinds.count(kind)) for kind in Verdict)
        if count
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("#", "claim", "measured", "effect", "verdict"))
    return f"""<section id="claims"><h2>Claims</h2>
<div class="filter" role="group" aria-label="show claims by verdict">
<button type="button" data-kind="" aria-pressed="true"><b>{len(claims)}</b> all</button>{buttons}</div>
<table class="claims"><thead><tr>{heads}</tr></thead><tbody>
{chr(10).join(rows)}
</tbody></table></section>"""


def _lines(value: Any) -> str:
    """A cell of one line, or of many with all but the first three folded away."""
    lines = [f"<div>{escape(line)}</div>" for line in _cell(value).split("\n")]
    if len(lines) <= FOLD + 1:
        return "".join(lines)
    rest = "".join(lines[FOLD:])
    return f"{''.join(lines[:FOLD])}<details><summary>and {len(lines) - FOLD} more</summary>{rest}</details>"


def _figures(plots: Sequence[Plot]) -> str:
    if not plots:
        return ""
    links = "".join(f'<li><a href="#{_anchor(plot.name)}">{escape(plot.title)}</a></li>' for plot in plots)
    contents = f"<nav aria-label='figures'><ol>{links}</ol></nav>" if len(plots) > 1 else ""
    left, parts = PICTURES, []
    for index, plot in enumerate(plots):
        image = picture(plot, left) if left > LEAST else None
        left -= len(image or "")
        parts.append(_figure(index, plot, image))
    return f'<section id="figures"><h2>Figures</h2>{HINT}{contents}\n{chr(10).join(parts)}</section>'


def _figure(index: int, plot: Plot, image: str | None) -> str:
    alt = escape(f"{plot.title}. {plot.caption}")
    still = f'<img src="{image}" alt="{alt}">' if image else "<p>The chart needs scripts; its numbers are below.</p>"
    numbers = []
    for panel in plot.panels:
        tables = "".join(_table(heads, rows) for heads, rows in tables_of(panel)) or f"<p>{NOTHING}</p>"
        best = "" if panel.optimum is None else f"; {escape(panel.optimum_label)} {plain(panel.optimum)}"
        numbers.append(f"<h4>{escape(panel.title)}: {escape(panel.y)}{best}</h4>{tables}")
    note = escape("; ".join(filter(None, (plot.note.rstrip("."), fewest(plot)))))
    return f"""<figure class="plot" id="{_anchor(plot.name)}" data-index="{index}"><h3>{escape(plot.title)}</h3>
<div class="legend" role="group" aria-label="lines shown"></div><div class="panels"></div><noscript>{still}</noscript>
<figcaption>{escape(plot.caption)}<small>{note}</small></figcaption>
<details><summary>Numbers</summary>{"".join(numbers)}</details></figure>"""


def _tables(tables: Sequence[Table]) -> str:
    if not tables:
        return ""
    parts = [f"<h3>{escape(title)}</h3>{_table(heads, rows)}" for title, heads, rows in tables]
    return f'<section id="tables"><h2>Tables</h2>{"".join(parts)}</section>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that scrolls by itself where the page is too narrow, also by keyboard."""
    top = "".join(f'<th scope="col">{escape(str(head))}</th>' for head in heads)
    body = "".join("<tr>" + "".join(_td(value) for value in row) + "</tr>" for row in rows)
    label = escape(f"table: {', '.join(map(str, heads[:3]))}")
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def _td(value: Any) -> str:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return f"<td{' class=number' if numeric else ''}>{escape(_cell(value))}</td>"


def _cell(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return plain(value) if isinstance(value, float) else str(value)


def _facts(facts: Mapping[str, Any]) -> str:
    if not facts:
        return ""
    items = "".join(f"<div><dt>{escape(str(name))}</dt><dd>{_fact(value)}</dd></div>" for name, value in facts.items())
    return f'<section id="facts"><h2>How this was made</h2><dl>{items}</dl></section>'


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(name))} {_fact(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_fact(inner) for inner in value)
    return escape(_cell(value))
