"""Figures of the page on coverage: coverage of intervals, and how often an optimistic agent takes the worse action."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ucls._util.files import write_atomic
from ucls._util.palette import AMBER, BLUE, GRAY, GREEN, INK, ROSE, SILVER, SKY, VERMILION
from ucls._util.style import STYLE, undated
from ucls.evaluation.chains import TITLES

LAMBDA, P = 0.8, 0.1
THIN = 30  # runs drawn each
EDGE = 1.03  # coverage is drawn on the scale -log(EDGE - coverage), for what matters is near 1
LOOKS = {
    "leave_one_out": (BLUE, "o-"),
    "sandwich": (SKY, "s-"),
    "robust": (GREEN, "^-"),
    "block_bootstrap": (ROSE, "v-"),
    "running": (VERMILION, "D-"),
    "linear_td": (GRAY, "d:"),
    "global_corrected": (AMBER, "P--"),
    "global_printed": (SILVER, "x--"),
}
PANELS = (
    ("normal", "exact", "state", "normal factor\nexact features, noise by state"),
    ("normal", "poor", "iid", "normal factor\npoor features, iid noise"),
    ("chebyshev", "exact", "state", "Chebyshev's factor\nexact features, noise by state"),
)


def draw_coverage(rows: Sequence[Any], path: Path) -> None:
    """Draw coverage against the number of transitions, a column for each chain, with 95% bands."""
    sizes = sorted({row.n for row in rows})
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 6.6), layout="constrained")
        grid = figure.subplots(len(PANELS), len(TITLES), sharex=True, sharey=True)
        for i, (factor, features, noise, label) in enumerate(PANELS):
            grid[i][0].set_ylabel(label)
            for axes, chain in zip(grid[i], TITLES, strict=True):
                key = (factor, features, noise, chain, LAMBDA, P)
                here = [r for r in rows if (r.factor, r.features, r.noise, r.chain, r.lambda_, r.p) == key]
                _panel(axes, here)
        for axes, title in zip(grid[0], TITLES.values(), strict=True):
            axes.set_title(title, color=INK)
        for axes in grid[-1]:  # after all, because a scale that is set takes the ticks of the axes that share it
            axes.set_xlabel("transitions")
            axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
            axes.set_xticks([], minor=True)
        lines, names = grid[0][0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=len(LOOKS) // 2 + 1, frameon=False)
        runs = rows[0].runs
        title = f"Coverage of 90% intervals, states weighted as visited ({runs:,} runs, λ = {LAMBDA}, bands 95%)"
        figure.suptitle(title, color=INK, fontsize=9)
        write_atomic(path, lambda file: figure.savefig(file, metadata=undated(file)))


def _panel(axes: Any, rows: Sequence[Any]) -> None:
    axes.axhline(1 - P, color=INK, linewidth=1.0, linestyle=":")
    for i, (name, (color, look)) in enumerate(LOOKS.items()):
        mine = sorted((row for row in rows if row.estimator == name), key=lambda row: row.n)
        if not mine:
            continue
        at = np.array([row.n for row in mine]) * 1.035 ** (i - 3)  # side by side, so that bands do not hide each other
        y = np.array([row.coverage for row in mine])
        bars = np.abs(np.array([[row.low, row.high] for row in mine]).T - y)
        axes.errorbar(at, y, bars, fmt=look, color=color, linewidth=1.0, markersize=3, elinewidth=0.7, label=name)
    axes.set_xscale("log")
    axes.set_yscale("function", functions=(lambda y: -np.log(EDGE - y), lambda v: EDGE - np.exp(-v)))
    axes.set_ylim(0, 1.01)
    axes.set_yticks([0, 0.5, 0.8, 0.9, 0.95, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(alpha=0.25, linewidth=0.5)


def draw_spent(spent: Mapping[str, Any], path: Path) -> None:
    """Draw the counts of the worse action against steps: some runs thin, and the median of all thick."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.8, 3.2), layout="constrained")
        axes = figure.subplots()
        for i, (name, one) in enumerate(spent.items()):
            color, above = (BLUE, AMBER, SILVER)[i], 4 - i
            axes.plot(one.at, one.dull[:THIN].T, color=color, linewidth=0.6, alpha=0.5, zorder=above)
            axes.plot(one.at, np.median(one.dull, axis=0), color=color, linewidth=2.2, label=name, zorder=above)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("steps")
        axes.set_ylabel("pulls of left, whose reward never varies")
        axes.legend(frameon=False, title="variance")
        axes.grid(alpha=0.25, linewidth=0.5)
        write_atomic(path, lambda file: figure.savefig(file, metadata=undated(file)))
