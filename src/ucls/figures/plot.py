"""A figure as data: what `draw` makes a picture of, and a report an interactive one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.stats import Band

# One colour and name for each algorithm, everywhere; colour-blind safe, after Okabe and Ito.
STYLES = {
    "ucls": ("UCLS", "#0072B2"),
    "ucls-exact": ("UCLS, complete bound", "#000000"),
    "ucls-p": ("UCLS, p swept", "#004469"),
    "ucls-l": ("UCLS-L", "#56B4E9"),
    "gv-ucb": ("GV-UCB", "#CC79A7"),
    "gv-ucb-corrected": ("GV-UCB, corrected", "#8C3F6B"),
    "ucbootstrap": ("UCBootstrap", "#009E73"),
    "dgpq": ("DGPQ", "#E69F00"),
    "lspi-rmax": ("LSPI-Rmax", "#6F6F6F"),
    "rlsvi": ("RLSVI", "#8B5A2B"),
    "sarsa-optimistic": ("Sarsa, optimistic", "#D55E00"),
    "sarsa-epsilon": ("Sarsa, epsilon-greedy", "#B8A100"),
}
INK = "#333333"


class Line(NamedTuple):
    """A band of runs, or (without `low` and `high`) one curve; `runs` is how many are behind each place."""

    label: str
    colour: str
    at: np.ndarray
    centre: np.ndarray
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
    """A figure: its name is that of its files, `note` says what it was made with (runs, steps, whether it is quick)."""

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    note: str = ""


def points_of(label: str, colour: str, points: Sequence[tuple[Any, ...]]) -> Line:
    """The line of single points: each a place, a centre, its interval and the number of runs."""
    at, centre, low, high, runs = (np.array(column) for column in zip(*points, strict=True))
    return Line(label, colour, at, centre, low, high, runs, points=True)


def line_of(band: Band, key: str, label: str | None = None, scale: float = 1.0, dash: bool = False) -> Line:
    """The line of an algorithm's runs, in its colour; `scale` divides the places (thousand steps, say)."""
    name, colour = STYLES.get(key, (key, INK))
    return Line(label or name, colour, band.at / scale, band.centre, band.low, band.high, band.runs, dash)
