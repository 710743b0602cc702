"""The figure of a diagnosis: optimism, radius and error, regret against its bound, and the values of the policies."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ucls._util.files import write_atomic
from ucls._util.json import as_json
from ucls._util.palette import BLUE, GRAY, GREEN, INK, SKY, VERMILION
from ucls._util.style import STYLE, undated
from ucls.diagnostics import VISITED, Diagnosis, as_data

SMALLEST = 1e-5  # what is read inside a learner is drawn there if it is smaller
FLOOR = 1e-3  # a regret or radius below this part of the optimal value is drawn there


def write_diagnosis(title: str, diagnoses: Sequence[Diagnosis], distribution: str, out: Path) -> None:
    """Write the figure and its data."""
    draw_diagnosis(title, diagnoses, distribution, out / "diagnosis")
    about = {"title": title, "distribution": distribution, "runs": as_data(diagnoses)}
    write_atomic(out / "diagnosis.json", lambda path: path.write_text(as_json(about) + "\n"))


def draw_diagnosis(title: str, diagnoses: Sequence[Diagnosis], distribution: str, path: Path) -> None:
    """Draw every run thin and their median thick; PNG and SVG."""
    if distribution == VISITED:
        _draw_visited(title, diagnoses, path)
        return
    size = abs(float(diagnoses[0].readings["optimum"][0])) or 1.0
    rivers = [d.policies for d in diagnoses if d.policies is not None and _is_line(d.policies.states)]
    with matplotlib.rc_context(STYLE):
        told = any(d.internals for d in diagnoses)
        covered = all(d.validity is not None for d in diagnoses)
        panels = 3 + bool(rivers) + covered + told
        figure = Figure(figsize=(1.4 + 2.2 * panels, 2.9), layout="constrained")
        axes = figure.subplots(1, panels)
        figure.suptitle(title, fontsize=9, color=INK)
        _optimism(axes[0], diagnoses, size)
        _line(axes[1], diagnoses, lambda f: _floored(f["widest"], size), SKY, "widest anywhere")
        _line(axes[1], diagnoses, lambda f: _floored(np.abs(f["radius"]), size), BLUE, "radius, f")
        _line(axes[1], diagnoses, lambda f: _floored(np.abs(f["value_error"]), size), VERMILION, "value error, g")
        _line(axes[2], diagnoses, lambda f: _floored(f["bound"], size), GRAY, "f + g")
        _line(axes[2], diagnoses, lambda f: _floored(f["regret"], size), GREEN, "regret")
        axes[0].set_title("expected optimism", color=INK)
        axes[1].set_title("radius and value error", color=INK)
        axes[2].set_title("regret and its bound", color=INK)
        steps = max(int(d.readings["step"][-1]) for d in diagnoses)
        for ax in axes[:3]:
            _step_axis(ax, steps)
        for ax in axes[1:3]:
            ax.set_yscale("log")
            ax.set_ylim(0.8 * FLOOR * size, max(2.5 * size, ax.get_ylim()[1]))
            ax.axhline(size, color=INK, linestyle=":", linewidth=0.9, label="|E[Q*]|")
            ax.legend(frameon=False, fontsize=7, loc="best")
        axes[0].set_ylabel(f"value, distribution: {distribution}")
        if rivers:
            _policies(axes[3], rivers)
        if covered:
            _coverage(axes[3 + bool(rivers)], diagnoses, steps)
        if told:
            _inside(axes[-1], diagnoses, steps)
        _save(figure, path)


def _draw_visited(title: str, diagnoses: Sequence[Diagnosis], path: Path) -> None:
    """Draw what is measured without an optimum: bounds, means and returns; the radius and the error of values."""
    sizes = np.concatenate([d.readings["size"] for d in diagnoses])
    size = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0)) or 1.0
    with matplotlib.rc_context(STYLE):
        told = any(d.internals for d in diagnoses)
        figure = Figure(figsize=(6.6 + 2.2 * told, 2.9), layout="constrained")
        axes = figure.subplots(1, 2 + told)
        figure.suptitle(title, fontsize=9, color=INK)
        _line(axes[0], diagnoses, lambda f: f["margin"] + f["earned"], BLUE, "bound, Q~")
        _line(axes[0], diagnoses, lambda f: f["value_error"] + f["earned"], VERMILION, "mean, Q-hat")
        _line(axes[0], diagnoses, lambda f: f["earned"], GREEN, "earned, G")
        _line(axes[1], diagnoses, lambda f: _floored(f["widest"], size), SKY, "widest")
        _line(axes[1], diagnoses, lambda f: _floored(np.abs(f["radius"]), size), BLUE, "radius")
        _line(axes[1], diagnoses, lambda f: _floored(np.abs(f["value_error"]), size), VERMILION, "value error")
        axes[0].set_title("bounds, values and returns", color=INK)
        axes[0].set_ylabel("value, states visited")
        axes[1].set_title("radius and value error", color=INK)
        axes[1].set_yscale("log")
        steps = max(int(d.readings["step"][-1]) for d in diagnoses if len(d.readings["step"]))
        for ax in axes[:2]:
            _step_axis(ax, steps)
            ax.legend(frameon=False, fontsize=7, loc="best")
        if told:
            _inside(axes[-1], diagnoses, steps)
        _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    for suffix in (".png", ".svg"):
        write_atomic(path.with_suffix(suffix), lambda file: figure.savefig(file, dpi=130, metadata=undated(file)))


def _optimism(ax: Any, diagnoses: Sequence[Diagnosis], size: float) -> None:
    _line(ax, diagnoses, lambda f: f["optimism"], BLUE, "E[Q~ - Q*]")
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set_yscale("symlog", linthresh=size / 10)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, -1.5 * size), max(high, 1.5 * size))
    powers = 10.0 ** np.arange(np.ceil(np.log10(size / 10)), np.log10(max(-low, high, 1.5 * size)))
    ax.yaxis.set_major_locator(FixedLocator([*-powers, 0.0, *powers]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.axhspan(ax.get_ylim()[0], 0, color=VERMILION, alpha=0.07, linewidth=0)
    where = ax.get_yaxis_transform()
    ax.text(0.98, -size / 40, "not optimistic", transform=where, fontsize=7, color=VERMILION, ha="right", va="top")


def _line(ax: Any, diagnoses: Sequence[Diagnosis], of: Callable[[Any], np.ndarray], color: str, label: str) -> None:
    """Every run thin, the median of those still running thick."""
    steps = max((d.readings["step"] for d in diagnoses), key=len)
    curves = np.full((len(diagnoses), len(steps)), np.nan)
    for row, d in zip(curves, diagnoses, strict=True):
        row[: len(d.readings["step"])] = of(d.readings)
        if len(diagnoses) > 1:
            ax.plot(steps, row, color=color, alpha=0.3, linewidth=0.7)
    middle, some = np.full(len(steps), np.nan), ~np.isnan(curves).all(axis=0)
    middle[some] = np.nanmedian(curves[:, some], axis=0)
    ax.plot(steps, middle, color=color, linewidth=1.8, label=label)


def _coverage(ax: Any, diagnoses: Sequence[Diagnosis], steps: int) -> None:
    """Draw the fraction of visited pairs whose upper bound is at least q*."""
    by_run = [d._replace(readings={"step": d.readings["step"], **d.coverage}) for d in diagnoses]
    _line(ax, by_run, lambda f: f["nearly"], SKY, "U >= q* - 1%")
    _line(ax, by_run, lambda f: f["covered"], BLUE, "U >= q*")
    validity = diagnoses[0].validity
    ax.axhline(validity.nominal if validity else 1.0, color=INK, linestyle=":", linewidth=0.9, label="nominal")
    ax.set_title("coverage of visited pairs", color=INK)
    ax.set_ylim(0.0, 1.03)
    _step_axis(ax, steps)
    ax.legend(frameon=False, fontsize=7, loc="best")


def _inside(ax: Any, diagnoses: Sequence[Diagnosis], steps: int) -> None:
    """Draw the internal quantities of the learners, by size."""
    by_run = [d._replace(readings={"step": d.readings["step"], **d.internals}) for d in diagnoses if d.internals]
    for name, color in zip(by_run[0].internals, itertools.cycle((BLUE, SKY, GRAY, VERMILION, GREEN))):
        _line(ax, by_run, lambda f, name=name: np.maximum(np.abs(f[name]), SMALLEST), color, name)
    ax.set_title("composition of the bound", color=INK)
    ax.set_yscale("log")
    _step_axis(ax, steps)
    ax.legend(frameon=False, fontsize=7, loc="best")


def _policies(ax: Any, ends: Sequence[Any]) -> None:
    """The values of the last policies over a line of states."""
    s = ends[0].states[:, 0]
    ax.plot(s, ends[0].optimal, color=INK, linestyle=":", linewidth=1.2, label="optimal")
    for name, color, label, style in (("mean", VERMILION, "M", "-"), ("bound", BLUE, "M+CIR", "--")):
        curves = np.array([getattr(one, name) for one in ends])
        if len(curves) > 1:
            ax.plot(s, curves.T, color=color, alpha=0.3, linewidth=0.7, linestyle=style)
        ax.plot(s, np.median(curves, axis=0), color=color, linewidth=1.6, linestyle=style, label=label)
    ax.set_title("last policies: value by state", color=INK)
    ax.set_xlabel("state")
    ax.set_xlim(s[0], s[-1])
    ax.set_ylim(bottom=0.0 if min(one.mean.min() for one in ends) >= 0 else None)
    ax.grid(alpha=0.25, linewidth=0.5)
    ax.legend(frameon=False, fontsize=7, loc="best")


def _step_axis(ax: Any, steps: int) -> None:
    """Scale the steps by their square roots, as the measurements are spaced."""
    ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0.0)), np.square))
    ax.set_xlim(0, steps)
    ax.xaxis.set_major_locator(FixedLocator([steps * part for part in (0, 0.04, 0.2, 0.5, 1)]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1000:g}k" if x >= 1000 else f"{x:g}"))
    ax.set_xlabel("step")
    ax.grid(alpha=0.25, linewidth=0.5)


def _is_line(states: np.ndarray) -> bool:
    return states.shape[1] == 1 and len(states) > 1


def _floored(values: np.ndarray, size: float) -> np.ndarray:
    return np.maximum(values, FLOOR * size)
