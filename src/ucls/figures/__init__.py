"""Figures: numbers in, pictures out. The one door to matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls._files import write_atomic
from ucls.figures.plot import INK
from ucls.figures.style import STYLE, undated
from ucls.stats import moving_mean
from ucls.study.result import Result

BLUE, ORANGE = "#0072B2", "#D55E00"  # colour-blind safe, after Okabe and Ito

REWARD_WINDOW, EPISODE_WINDOW = 2000, 20


def learning_curves(panels: Sequence[tuple[str, Sequence[Result], Any]], path: Path) -> None:
    """Draw every run thin, their median thick and the optimum as a line, a panel for each domain; PNG and SVG."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 3.3), layout="constrained")
        for axes, (title, results, optimum) in zip(figure.subplots(1, len(panels)), panels, strict=True):
            steps = results[0].steps
            at = np.linspace(0, steps, 201)[1:]
            curves = np.array([_curve(result, optimum, at) for result in results])
            for curve in curves:
                axes.plot(at / 1000, curve, color=BLUE, alpha=0.25, linewidth=0.7)
            axes.plot(at / 1000, _median(curves), color=BLUE, linewidth=1.8, label="UCLS: median, and each run")
            best = optimum.reward_rate if optimum.episode_steps is None else optimum.episode_steps
            axes.axhline(best, color=ORANGE, linestyle="--", linewidth=1.2, label="optimum")
            if optimum.episode_steps is None:
                axes.set_ylabel(f"reward a step, last {REWARD_WINDOW:,} steps")
                axes.set_ylim(0, 1.15 * best)
            else:
                axes.set_ylabel(f"steps an episode, last {EPISODE_WINDOW}")
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
                axes.yaxis.set_minor_formatter(NullFormatter())
                axes.set_ylim(bottom=0.8 * best)
            axes.set_title(f"{title} ({len(results)} runs)", color=INK)
            axes.set_xlabel("thousand steps")
            axes.set_xlim(0, steps / 1000)
            axes.grid(alpha=0.25, linewidth=0.5)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        for suffix in (".png", ".svg"):
            target = path.with_suffix(suffix)
            write_atomic(target, lambda file: figure.savefig(file, dpi=200, metadata=undated(file)))


def _curve(result: Result, optimum: Any, at: np.ndarray) -> np.ndarray:
    """One run at the given steps: its recent reward, or the length of its recent episodes once one has ended."""
    if optimum.episode_steps is None:
        sums = result.arrays["curve"]
        resolution = -(-result.steps // len(sums))
        rate = moving_mean(sums, max(1, REWARD_WINDOW // resolution)) / resolution
        return rate[np.minimum((at / resolution).astype(int), len(rate)) - 1]
    lengths = result.arrays["episode_steps"]
    recent = moving_mean(lengths, EPISODE_WINDOW)
    done = np.searchsorted(np.cumsum(lengths), at, side="right")
    return np.concatenate([[np.nan], recent])[done]


def _median(curves: np.ndarray) -> np.ndarray:
    """The median of the runs; one that has finished no episode counts as longer than any."""
    median = np.median(np.where(np.isnan(curves), np.inf, curves), axis=0)
    return np.where(np.isfinite(median), median, np.nan)
