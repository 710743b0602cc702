"""Figures of made-up numbers that look like real ones, for the tests of what shows them."""

import numpy as np

from ucls._util.palette import STYLES
from ucls.paper.drawing.plot import Line, Panel, Plot

NAMES = ("ucls", "ucls-l", "gv-ucb", "ucbootstrap", "dgpq", "lspi-rmax", "rlsvi", "sarsa-optimistic")


def learning(name="figure-1", places=500, algorithms=NAMES, runs=30):
    """Three domains, a band for each algorithm: reward that rises, episodes that shorten and begin late, returns."""
    rng = np.random.default_rng(1)
    at = np.linspace(0, 50, places + 1)[1:]
    lines = ([], [], [])
    for i, key in enumerate(algorithms):
        label, color = STYLES[key]
        rate, level = rng.uniform(4, 20), 1 - 0.8 * (i / len(algorithms)) ** 1.5
        shape = level * (1 - np.exp(-at / rate)) + 0.01 * rng.normal(size=places).cumsum() / np.sqrt(places)
        spread = 0.15 * np.exp(-at / 15) + 0.03
        begun = np.clip(at * runs / (2 + 2 * i), 0, runs).astype(int)
        for panel, center, width in (
            (lines[0], 97.7 / np.clip(shape, 0.02, 1), 97.7 * spread / np.clip(shape, 0.05, 1)),
            (lines[1], 0.222 * shape, 0.222 * spread),
            (lines[2], -36.3 / np.clip(shape, 0.05, 1), 30 * spread),
        ):
            counts = begun if panel is lines[0] else np.full(places, runs)
            center = np.where(counts > 0, center, np.nan)
            panel.append(Line(label, color, at, center, center - width, center + width, counts))
    x = "thousand steps"
    panels = (
        Panel("Sparse Mountain Car", x, "steps per episode", tuple(lines[0]), 97.7, log_y=True),
        Panel("River Swim", x, "reward per step", tuple(lines[1]), 0.222),
        Panel("Puddle World", x, "return of an episode", tuple(lines[2]), -36.3, limits=(-400, 0)),
    )
    caption = "Learning curves: the mean of the runs and its 95% bootstrap interval."
    return Plot(name, "Learning curves in three domains", caption, panels, "quick: 30 runs of 50,000 steps")


def sensitivity(name="figure-2", algorithms=("ucls", "gv-ucb", "ucls-l")):
    """Total reward against p on a logarithmic axis: points with whiskers."""
    p = np.array([1e-5, 1e-3, 3e-3, 5e-3, 9e-3, 1e-2, 1e-1])
    lines = []
    for i, key in enumerate(algorithms):
        label, color = STYLES[key]
        center = (10000 - 3000 * i) * (0.6 + 0.4 * (np.log10(p) + 5) / 4)
        runs = np.full(len(p), 30)
        lines.append(Line(label, color, p, center, center - 800, center + 500, runs, points=True))
    panel = Panel("River Swim", "confidence p", "reward in 50,000 steps", tuple(lines), 11_100, log_x=True)
    return Plot(name, "Sensitivity to p", "Every p, the same seeds.", (panel,), "30 runs of 50,000 steps")


def panels(count, lines=3, name="many"):
    """As many panels as asked, of the same kind."""
    one = learning(places=60, algorithms=NAMES[:lines]).panels
    return Plot(name, "Many panels", "", tuple(one[i % 3] for i in range(count)), "")


def crowd(name="crowd"):
    """Fourteen lines in a panel, with long names."""
    at = np.linspace(1, 50, 80)
    colors = [color for _, color in STYLES.values()]
    lines = []
    for i in range(14):
        center = np.log(at) * (i + 2)
        label = f"LSTD-in, fading, eta = 1e-{i}"
        lines.append(Line(label, colors[i % 11], at, center, center - 1, center + 1, dash=i > 10))
    return Plot(name, "A crowd", "", (Panel("Mountain Car", "episodes", "steps", tuple(lines)),), "a crowd")


def nothing(name="nothing"):
    """One panel without lines and one whose only line has no value."""
    none = np.full(5, np.nan)
    line = Line("UCLS", "#0072B2", np.arange(5.0), none, none, none, np.zeros(5, int))
    return Plot(name, "Nothing yet", "", (Panel("A", "x", "y", ()), Panel("B", "x", "y", (line,), log_y=True)), "")
