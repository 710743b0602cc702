"""The figures of a report: the chart, a static image for pages without scripts, that of a reference, and numbers."""

import base64
from collections.abc import Sequence
from html import escape

from ucls.paper.drawing.draw import NOTHING
from ucls.paper.drawing.geometry import fewest, plain
from ucls.paper.drawing.plot import Plot
from ucls.paper.report.markup import anchor, table
from ucls.paper.report.numbers import picture, tables_of
from ucls.paper.report.sides import Reference

PICTURES, LEAST = 600_000, 20_000  # bytes of pictures for readers without scripts: of all at most, of one about
REFERENCES = 700_000  # bytes of a reference's pictures, of all at most
BESIDE = 2  # panels that leave room for a picture beside them

HINT = (
    '<p class="hint">Point at a chart, or move along it with the arrow keys, to read its numbers. '
    "Click a name to hide its line, double-click to see it alone.</p>"
)


def charts(plots: Sequence[Plot], reference: Reference) -> list[str]:
    """Return every figure as HTML, with images as far as the size of the page allows."""
    left, room, parts = PICTURES, REFERENCES, []
    for index, plot in enumerate(plots):
        image = picture(plot, left) if left > LEAST else None
        left -= len(image or "")
        other = _address(reference.pictures.get(plot.name), room)
        room -= len(other)
        parts.append(_chart(index, plot, image, other, reference.name))
    return parts


def _address(image: bytes | None, most: int) -> str:
    address = f"data:image/png;base64,{base64.b64encode(image).decode()}" if image else ""
    return address if len(address) <= most else ""


def _chart(index: int, plot: Plot, image: str | None, other: str, name: str) -> str:
    alt = escape(f"{plot.title}. {plot.caption}")
    still = f'<img src="{image}" alt="{alt}">' if image else "<p>The chart needs scripts; its numbers are below.</p>"
    note = escape("; ".join(filter(None, (plot.note.rstrip("."), fewest(plot)))))
    here = f'<div class="panels"></div><noscript>{still}</noscript>'
    if other:
        title, kind = escape(name), "pair beside" if len(plot.panels) <= BESIDE else "pair"
        here = f"""<div class="{kind}"><div><h4>This run</h4>{here}</div>
<details open><summary>The same from {title}</summary><img src="{other}" alt="{alt} From {title}."></details></div>"""
    return f"""<figure class="plot" id="{anchor(plot.name)}" data-index="{index}"><h3>{escape(plot.title)}</h3>
<div class="legend" role="group" aria-label="lines shown"></div>{here}
<figcaption>{escape(plot.caption)}<small>{note}</small></figcaption>
<details><summary>Numbers</summary>{_numbers(plot)}</details></figure>"""


def _numbers(plot: Plot) -> str:
    parts = []
    for panel in plot.panels:
        tables = "".join(table(heads, rows) for heads, rows in tables_of(panel)) or f"<p>{NOTHING}</p>"
        best = "" if panel.optimum is None else f"; {escape(panel.optimum_label)} {plain(panel.optimum)}"
        parts.append(f"<h4>{escape(panel.title)}: {escape(panel.y)}{best}</h4>{tables}")
    return "".join(parts)
