"""A figure as data: `draw` makes an image of it, and a report an interactive figure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls._util.palette import INK, STYLES
from ucls.stats import Band


class Line(NamedTuple):
    """A band of runs, or (without `low` and `high`) one curve; `runs` is how many are behind each place."""

    label: str
    color: str
    at: np.ndarray
    center: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    runs: np.ndarray | None = None
    dash: bool = False
    points: bool = False


class Panel(NamedTuple):
    """One pair of axes; `optimum` is a line across it, `limits` those of the y axis (None: from the data)."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    optimum: float | None = None
    log_x: bool = False
    log_y: bool = False
    limits: tuple[float | None, float | None] = (None, None)
    optimum_label: str = "optimum"


class Plot(NamedTuple):
    """A figure: its name is that of its files; `note` has its provenance (runs, steps, whether it is quick)."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    note: str = ""


def points_of(label: str, color: str, points: Sequence[tuple[Any, ...]]) -> Line:
    """The line of single points: each a place, a center, its interval and the number of runs."""
    at, center, low, high, runs = (np.array(column) for column in zip(*points, strict=True))
    return Line(label, color, at, center, low, high, runs, points=True)


def line_of(band: Band, key: str, label: str | None = None, scale: float = 1.0) -> Line:
    """The line of an algorithm's runs, in its color; `scale` divides the places (thousand steps, say)."""
    name, color = STYLES.get(key, (key, INK))
    return Line(label or name, color, band.at / scale, band.center, band.low, band.high, band.runs)
