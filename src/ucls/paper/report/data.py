"""Figures as compact data for a page: few places, few digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucls.paper.drawing.geometry import entry_of, extent, few, legend, plain, runs_of, shown, thinned, ticks
from ucls.paper.drawing.plot import Line, Panel, Plot

PLACES, LEAST, NUMBERS = 300, 50, 120_000  # places of a curve at most and at least; numbers on the page, about


def embedded(plots: Sequence[Plot], colors: Sequence[str]) -> list[dict[str, Any]]:
    """Return the data that the script draws; a line's color is an index into `colors`."""
    lines = [line for plot in plots for panel in plot.panels for line in panel.lines]
    arrays = sum(1 + 2 * (line.low is not None) for line in lines)
    places = int(np.clip(NUMBERS / max(arrays, 1), LEAST, PLACES))
    return [_plot(plot, colors, places) for plot in plots]


def _plot(plot: Plot, colors: Sequence[str], places: int) -> dict[str, Any]:
    entries = legend(plot)
    keys = [{**e._asdict(), "color": colors.index(e.color), "points": points} for e, points in entries.items()]
    return {"legend": keys, "panels": [_panel(panel, list(entries), places) for panel in plot.panels]}


def _panel(panel: Panel, entries: Sequence[Any], places: int) -> dict[str, Any]:
    grids: list[list[float | None]] = []
    lines = []
    for line in shown(panel):
        cut = thinned(line, places)
        grid = rounded(cut.at)
        if grid not in grids:
            grids.append(grid)
        about = {"entry": entries.index(entry_of(line)), "points": line.points, "grid": grids.index(grid)}
        lines.append(about | _values(cut))
    corners = extent(panel)
    return {
        "title": panel.title,
        "x": panel.x,
        "y": panel.y,
        "runs": runs_of(panel),
        "logX": panel.log_x,
        "logY": panel.log_y,
        "extent": list(corners),
        "ticksX": _ticks(corners.left, corners.right, panel.log_x),
        "ticksY": _ticks(corners.bottom, corners.top, panel.log_y),
        "optimum": None if panel.optimum is None else [panel.optimum, plain(panel.optimum), panel.optimum_label],
        "grids": grids,
        "lines": lines,
    }


def _values(line: Line) -> dict[str, Any]:
    values: dict[str, Any] = {"mid": rounded(line.center)}
    if line.low is not None and line.high is not None:
        values |= {"low": rounded(line.low), "high": rounded(line.high)}
    if line.runs is not None and len(line.runs):
        counts = [int(count) for count in line.runs]
        values["runs"] = counts if few(line).any() else counts[0]
    return values


def _ticks(low: float, high: float, log: bool) -> list[tuple[float, str]]:
    return [(tick, plain(tick)) for tick in ticks(low, high, log)]


def rounded(values: np.ndarray) -> list[float | None]:
    """Return numbers with five significant digits; None if not finite.

    >>> rounded(np.array([123456.7, 2.0, np.nan]))
    [123460, 2, None]
    """
    return [_short(float(f"{value:.5g}")) if np.isfinite(value) else None for value in np.asarray(values, float)]


def _short(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
