"""Geometry shared by static and interactive figures: axes, ticks, thinning, and numbers of runs."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ucls.paper.drawing.plot import Line, Panel, Plot

NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"  # how an absent number is written, and a negative one begins
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Extent(NamedTuple):
    """The corners of a panel."""

    left: float
    right: float
    bottom: float
    top: float


class Entry(NamedTuple):
    """One entry of a figure's legend: the lines of a name, color and dash, in all panels, are one."""

    label: str
    color: str
    dash: bool


def entry_of(line: Line) -> Entry:
    """The entry of the legend that a line belongs to."""
    return Entry(line.label, line.color, line.dash)


def legend(plot: Plot) -> dict[Entry, bool]:
    """Return the entries, in order of appearance, and whether each consists of points only."""
    entries: dict[Entry, bool] = {}
    for line in (line for panel in plot.panels for line in shown(panel)):
        entry = entry_of(line)
        entries[entry] = line.points and entries.get(entry, True)
    return entries


def shown(panel: Panel) -> list[Line]:
    """The lines that have a finite value somewhere."""
    return [line for line in panel.lines if np.isfinite(line.center).any()]


def thinned(line: Line, most: int = 300) -> Line:
    """At most so many places of a line, evenly spread; the first and the last stay."""
    if len(line.at) <= most:
        return line
    keep = np.linspace(0, len(line.at) - 1, most).round().astype(int)

    def cut(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else np.asarray(values)[keep]

    cuts = {name: cut(getattr(line, name)) for name in ("at", "center", "low", "high", "runs")}
    return line._replace(**cuts)


def few(line: Line) -> np.ndarray:
    """Return where fewer runs are behind a line than at its best place."""
    if line.runs is None or not len(line.runs):
        return np.zeros(len(line.at), bool)
    return np.asarray(line.runs) < np.max(line.runs)


def fewest(plot: Plot) -> str:
    """Return a note about places that not all runs have reached; empty if there are none."""
    for panel in plot.panels:
        if any((few(line) & np.isfinite(line.center)).any() for line in shown(panel) if not line.points):
            return "thin line: not all runs have a value there"
    return ""


def runs_of(panel: Panel) -> str:
    """How many runs are behind the lines of a panel."""
    counts = {int(np.max(line.runs)) for line in shown(panel) if line.runs is not None and len(line.runs)}
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f"{low:,} run{'s' * (low != 1)}" if low == high else f"{low:,} to {high:,} runs"


def extent(panel: Panel) -> Extent:
    """Return the axes of a panel: all of its bands and the optimum with a margin, unless `limits` are given."""
    lines = shown(panel)
    xs = np.concatenate([line.at for line in lines] or [np.array([])])
    ys = np.concatenate([values for line in lines for values in _heights(line)] or [np.array([])])
    if panel.optimum is not None:
        ys = np.append(ys, panel.optimum)
    left, right = _span(xs, panel.log_x, 0.07 if any(line.points for line in lines) else 0.0)
    bottom, top = _span(ys, panel.log_y, 0.05)
    if not panel.log_x and 0 < left < 0.05 * right:
        left = 0.0
    if not panel.log_y and bottom < 0 <= np.min(ys[np.isfinite(ys)], initial=0):
        bottom = 0.0
    low, high = (None if end is not None and panel.log_y and end <= 0 else end for end in panel.limits)
    return Extent(left, right, bottom if low is None else low, top if high is None else high)


def _heights(line: Line) -> Iterator[np.ndarray]:
    yield line.center
    drawn = np.isfinite(line.center)
    for edge in (line.low, line.high):
        if edge is not None:
            yield np.asarray(edge)[drawn]


def _span(values: np.ndarray, log: bool, air: float) -> tuple[float, float]:
    """Return the range of the finite values, widened by a fraction of itself; never empty."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        factor = max((high / low) ** air, 1.25 if low == high else 1.0)
        return low / factor, high * factor
    width = air * (high - low) or (0.5 * abs(high) or 0.5 if low == high else 0.0)
    return low - width, high + width


def ticks(low: float, high: float, log: bool, most: int = 7) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0, 50, log=False)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    >>> ticks(80, 4000, log=True)
    [100.0, 200.0, 500.0, 1000.0, 2000.0]
    """
    if log:
        decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        for within in ((1, 2, 3, 4, 5, 6, 8), (1, 2, 5), (1, 3), (1,)):
            places = [float(f"{m}e{d}") for d in decades for m in within if low <= float(f"{m}e{d}") <= high]
            if len(places) <= most:
                break
        while len(places) > most:
            places = places[::2]
        if len(places) > 1:
            return places
    raw = (high - low) / max(most - 1, 1)
    unit = 10.0 ** np.floor(np.log10(raw))
    step = unit * next(s for s in STEPS if s * unit >= raw * (1 - 1e-9))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{k * step:.10g}") for k in range(first, last + 1)]


def plain(value: float, digits: int = 4) -> str:
    """Return a number as people write it, with so many significant digits.

    >>> [plain(x) for x in (12345.6, 0.25, 1e-5, -97.68, 1000000)]
    ['12,346', '0.25', '1e-5', '−97.68', '1,000,000']
    """
    if not np.isfinite(value):
        return NONE
    sign = MINUS if value < 0 else ""
    size = abs(float(value))
    if size and (size < 1e-4 or size >= 1e9):
        mantissa, exponent = f"{size:.{digits - 1}e}".split("e")
        return f"{sign}{float(mantissa):g}e{int(exponent)}"
    text = f"{size:,.0f}" if size >= 10 ** (digits - 1) else f"{float(f'{size:.{digits}g}'):,.10f}".rstrip("0")
    return sign + text.removesuffix(".")
