"""The numbers of a figure in words and tables, for readers who see no chart and for pages whose script does not run."""

import base64
import tempfile
from pathlib import Path

import numpy as np

from ucls.paper.drawing.geometry import NONE, plain, shown
from ucls.paper.drawing.plot import Line, Panel, Plot

COLUMNS, POINTS = 5, 14  # places shown of a curve, and of a line that has few


def tables_of(panel: Panel) -> list[tuple[list[str], list[list[str]]]]:
    """Heads and rows for the lines of a panel: one table for all lines that share their places."""
    groups: dict[tuple[float, ...], list[Line]] = {}
    for line in shown(panel):
        groups.setdefault(tuple(line.at), []).append(line)
    tables = []
    for at, lines in groups.items():
        chosen = _chosen(len(at))
        heads = [panel.x, *(plain(at[i]) for i in chosen), "runs"]
        rows = [[line.label, *(_value(line, i) for i in chosen), _runs(line)] for line in lines]
        tables.append((heads, rows))
    return tables


def _chosen(places: int) -> list[int]:
    if places <= POINTS:
        return list(range(places))
    return [round(places * (k + 1) / COLUMNS) - 1 for k in range(COLUMNS)]


def _value(line: Line, i: int) -> str:
    text = plain(line.center[i])
    if line.low is None or line.high is None or not np.isfinite([line.center[i], line.low[i]]).all():
        return text
    return f"{text} ({plain(line.low[i])} to {plain(line.high[i])})"


def _runs(line: Line) -> str:
    return NONE if line.runs is None or not len(line.runs) else f"{int(np.max(line.runs)):,}"


def picture(plot: Plot, most: int) -> str | None:
    """The printed figure as the address of an image inside the page, unless that is longer than `most`."""
    from ucls.paper.drawing.draw import draw

    with tempfile.TemporaryDirectory() as folder:
        (file,) = draw(plot, Path(folder) / "figure", (".png",), dpi=80)
        address = f"data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}"
    return address if len(address) <= most else None
