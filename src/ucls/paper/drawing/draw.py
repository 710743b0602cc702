"""Draw a figure in the style of a paper."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.files import write_atomic
from ucls._util.palette import INK, SOFT
from ucls._util.style import STYLE, undated
from ucls.paper.drawing.geometry import Entry, extent, few, fewest, legend, plain, runs_of, shown, thinned, ticks
from ucls.paper.drawing.plot import Line, Panel, Plot

NOTHING = "no finished run"
WIDTHS = {1: 4.4, 2: 6.2, 3: 7.4}  # inches, for so many panels beside each other: text is 8 points in print
DODGE = 2.5  # points between the whiskers of neighboring lines


def draw(plot: Plot, path: Path, formats: Sequence[str] = (".png", ".svg"), dpi: int = 200) -> list[Path]:
    """Draw a figure into `path` with each of the endings, and return the files: the same for the same numbers."""
    import matplotlib
    from matplotlib.figure import Figure

    plot = plot._replace(panels=plot.panels or (Panel(plot.title, "", "", ()),))
    columns = _columns(len(plot.panels))
    rows = math.ceil(len(plot.panels) / columns)
    handles = _handles(legend(plot), plot.panels)
    right = columns == 1 and len(handles) > 6
    width = WIDTHS[columns + right]
    beside = 1 if right else _beside(handles, width)
    notes = textwrap.wrap("; ".join(filter(None, (plot.note.rstrip("."), fewest(plot)))), int(width * 20))
    above = 0 if right else math.ceil(len(handles) / beside)
    height = max(2.3 * rows, 0.17 * len(handles) * right) + 0.17 * above + 0.13 * len(notes)
    files = [path.with_name(path.name + ending) for ending in formats]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, panel in zip(grid, plot.panels, strict=False):
            _panel(axes, panel, 15 * width / columns)
        for axes in grid[len(plot.panels) :]:
            axes.set_axis_off()
        if handles:
            place = "outside right center" if right else "outside upper center"
            figure.legend(handles=handles, loc=place, ncols=beside, frameon=False, handlelength=1.8)
        if notes:
            figure.supxlabel("\n".join(notes), x=0.01, ha="left", fontsize=6.5, color=SOFT)
        for file in files:
            write_atomic(file, lambda target: figure.savefig(target, dpi=dpi, metadata=undated(target)))
    return files


def _columns(panels: int) -> int:
    return panels if panels < 4 else 2 if panels == 4 else 3


def _beside(handles: Sequence[Any], width: float) -> int:
    """Return how many entries of the legend fit beside each other, in rows of about equal length."""
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    fit = max(1, int(width / (0.06 * max(longest, 8) + 0.4)))
    rows = math.ceil(len(handles) / fit)
    return math.ceil(len(handles) / max(rows, 1)) or 1


def _panel(axes: Any, panel: Panel, characters: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    corners = extent(panel)
    title = textwrap.wrap(panel.title, int(characters))
    axes.set_title("\n".join(title), loc="left", color=INK, pad=13)
    axes.text(0, 1.025, runs_of(panel), transform=axes.transAxes, fontsize=7, color=SOFT)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if not shown(panel):
        axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", color=SOFT)
        axes.set(xticks=[], yticks=[])
        return
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    for axis, log, low, high, most in (
        (axes.xaxis, panel.log_x, corners.left, corners.right, 4 if panel.log_x else 7),
        (axes.yaxis, panel.log_y, corners.bottom, corners.top, 7),
    ):
        axis.set_major_locator(FixedLocator(ticks(low, high, log, most)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.grid(alpha=0.25, linewidth=0.5)
    pointed = [line for line in shown(panel) if line.points]
    for order, line in enumerate(shown(panel)):
        if line.points:
            _points(axes, thinned(line), DODGE * (pointed.index(line) - (len(pointed) - 1) / 2))
        else:
            _line(axes, thinned(line), corners.bottom if panel.log_y else -np.inf, 2 + 0.01 * order)
    if panel.optimum is not None:
        axes.axhline(panel.optimum, color=INK, linestyle=(0, (4, 2)), linewidth=1, zorder=3)
        beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7, "color": INK}
        axes.text(1.01, panel.optimum, plain(panel.optimum), **beside)
    axes.set_xlim(corners.left, corners.right)
    axes.set_ylim(corners.bottom, corners.top)


def _line(axes: Any, line: Line, floor: float, order: float) -> None:
    """A curve over its band; thin where not all runs contribute."""
    style = (0, (3, 1.2)) if line.dash else "-"
    if line.low is not None and line.high is not None:
        low = np.maximum(line.low, floor)
        axes.fill_between(line.at, low, line.high, color=line.color, alpha=0.16, linewidth=0, zorder=order - 1)
    some = few(line)
    if some.any():
        axes.plot(line.at, line.center, color=line.color, linewidth=0.7, alpha=0.6, zorder=order, linestyle=style)
    all_runs = np.where(some, np.nan, line.center)
    axes.plot(line.at, all_runs, color=line.color, linewidth=1.4, zorder=order, linestyle=style)


def _points(axes: Any, line: Line, shift: float) -> None:
    """Draw markers with whiskers, shifted a little sideways so that those of several lines do not overlap."""
    from matplotlib.transforms import ScaledTranslation

    place = axes.transData + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans)
    style = "--" if line.dash else "-"
    axes.plot(line.at, line.center, color=line.color, linewidth=0.8, alpha=0.5, linestyle=style, transform=place)
    if line.low is not None and line.high is not None:
        axes.vlines(line.at, line.low, line.high, color=line.color, linewidth=1, transform=place)
    face = "white" if line.dash else line.color
    axes.plot(line.at, line.center, "o", color=line.color, markersize=3.2, markerfacecolor=face, transform=place)


def _handles(entries: Mapping[Entry, bool], panels: Sequence[Panel]) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = []
    for (label, color, dash), points in entries.items():
        style: Any = (0, (3, 1.2)) if dash else "-"
        marker, face = "o" if points else "", "white" if dash else color
        looks = {"linestyle": style, "marker": marker, "markersize": 3.2, "markerfacecolor": face}
        handles.append(Line2D([], [], color=color, linewidth=1.4, label=label, **looks))
    best = dict.fromkeys(panel.optimum_label for panel in panels if panel.optimum is not None and shown(panel))
    return handles + [Line2D([], [], color=INK, linestyle=(0, (4, 2)), linewidth=1, label=label) for label in best]
