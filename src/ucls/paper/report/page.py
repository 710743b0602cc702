"""Write a report as one self-contained HTML file."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ucls._util.html import asset, write_document
from ucls.paper.drawing.plot import Plot
from ucls.paper.report.charts import HINT, charts
from ucls.paper.report.claims import claims_section
from ucls.paper.report.data import embedded
from ucls.paper.report.markup import anchor, cell, table
from ucls.paper.report.sides import NOTHING, Opening, Reference

Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]


def write_report(
    path: Path,
    title: str,
    lead: str,
    claims: Sequence[Mapping[str, Any]],
    plots: Sequence[Plot],
    tables: Sequence[Table],
    facts: Mapping[str, Any],
    opening: Opening = Opening(),
    reference: Reference = NOTHING,
) -> None:
    """Write figures, findings, claims with their verdicts, tables and facts into one HTML file that needs no network.

    A claim has the keys number, claim, measured, effect, kind (a `Verdict`), verdict (the same in words, and more of
    them), why, and figure: the name of one of the plots, or None. It may have a title, and checks, which have what,
    found, holds and runs. The claims of a reference are like it.
    """
    colors = sorted({line.color for plot in plots for panel in plot.panels for line in panel.lines})
    style = asset("ucls.paper.report", "page.css") + "".join(_paint(i, color) for i, color in enumerate(colors))
    first, *rest = charts(plots, reference) or [""]
    body = f"""<header>
<h1>{escape(title)}</h1>
{"".join(f"<p>{escape(part)}</p>" for part in lead.split(chr(10) * 2) if part.strip())}
</header>
<main>
{_first(first)}
{_findings(opening)}
{_figures(plots[1:], rest)}
{claims_section(claims, plots, reference)}
{_details(tables, facts)}
</main>"""
    write_document(path, title, body, style, asset("ucls.paper.report", "chart.js"), embedded(plots, colors))


def _paint(index: int, color: str) -> str:
    """Return the CSS of a class for a color, and a lighter color for dark screens where it would be hard to see."""
    if not re.fullmatch("#[0-9A-Fa-f]{6}", color):
        raise ValueError(f"a line's color is written #RRGGBB, not {color!r}")
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    light = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255
    white = max(0.0, 0.5 - light) * 1.1
    lifted = "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)
    return f"\n.c{index}{{--c:{color}}}@media screen and (prefers-color-scheme:dark){{.c{index}{{--c:{lifted}}}}}"


def _first(chart: str) -> str:
    return f'<section id="first">{HINT}{chart}</section>' if chart else ""


def _findings(opening: Opening) -> str:
    if not any(opening):
        return ""
    said = "".join(f"<li>{escape(finding)}</li>" for finding in opening.findings)
    took = f"<p>{escape(opening.took)}</p>" if opening.took else ""
    commands = "".join(
        f"<li><code>{escape(command)}</code> {escape(words)}</li>" for command, words in opening.commands
    )
    more = f'<p>For more:</p><ul class="commands">{commands}</ul>' if commands else ""
    return f'<section id="findings"><h2>Findings</h2><ul>{said}</ul>{took}{more}</section>'


def _figures(plots: Sequence[Plot], parts: Sequence[str]) -> str:
    if not plots:
        return ""
    links = "".join(f'<li><a href="#{anchor(plot.name)}">{escape(plot.title)}</a></li>' for plot in plots)
    contents = f"<nav aria-label='figures'><ol>{links}</ol></nav>" if len(plots) > 1 else ""
    return f'<section id="figures"><h2>More figures</h2>{contents}\n{chr(10).join(parts)}</section>'


def _details(tables: Sequence[Table], facts: Mapping[str, Any]) -> str:
    parts = "".join(f"<h3>{escape(title)}</h3>{table(heads, rows)}" for title, heads, rows in tables)
    shown = f'<section id="tables"><h2>Tables</h2>{parts}</section>' if tables else ""
    return shown + _facts(facts)


def _facts(facts: Mapping[str, Any]) -> str:
    if not facts:
        return ""
    items = "".join(f"<div><dt>{escape(str(name))}</dt><dd>{_fact(value)}</dd></div>" for name, value in facts.items())
    return f'<section id="facts"><h2>Provenance</h2><dl>{items}</dl></section>'


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{escape(str(name))} {_fact(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_fact(inner) for inner in value)
    return escape(cell(value))
