"""The plots of the page, as inline SVG."""

import itertools
import math
from collections.abc import Sequence
from html import escape

import numpy as np

from ucls.evaluation.comparison.grids import Grid
from ucls.evaluation.comparison.result import Line, Span
from ucls.evaluation.logs.episodes import EpisodeLog

WIDE, LABELS, ROW = 760, 300, 30


def intervals(lines: Sequence[Line], used: Span, level: float) -> str:
    """Intervals of the difference, one line for each estimator; those beyond the plot end in arrows."""
    rows = [(f"answer ({100 * level:.3g}%)", used, True), *((line.name, line.difference, False) for line in lines)]
    finite = [span for _, span, _ in rows if np.isfinite(span.low)]
    if not finite:
        return "<p>No interval is finite: the log does not determine the difference.</p>"
    main = used if np.isfinite(used.low) else finite[0]
    reach = 2.5 * max(main.high - main.low, abs(main.estimate), 1e-12)
    low = max(min(0.0, *(span.low for span in finite)), min(0.0, main.estimate) - reach)
    high = min(max(0.0, *(span.high for span in finite)), max(0.0, main.estimate) + reach)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    tall = ROW * len(rows) + 52

    def x(value: float) -> float:
        return LABELS + (WIDE - LABELS - 20) * (min(max(value, low), high) - low) / (high - low)

    marks = [f'<line class="zero" x1="{x(0):.1f}" y1="10" x2="{x(0):.1f}" y2="{tall - 30}"/>']
    marks += [f'<text class="tick" x="{x(t):.1f}" y="{tall - 12}">{t:.4g}</text>' for t in ticks(low, high)]
    for word, side, anchor in (("worse", x(0) - 8, "end"), ("better", x(0) + 8, "start")):
        if LABELS + 40 < side < WIDE - 60:
            marks.append(f'<text class="side" x="{side:.1f}" y="10" text-anchor="{anchor}">{word}</text>')
    for i, (name, span, answer) in enumerate(rows):
        y = 32 + ROW * i
        marks.append(f'<text class="name{" answer" * answer}" x="{LABELS - 12}" y="{y + 4}">{escape(name)}</text>')
        if not np.isfinite(span.low):
            marks.append(f'<text class="none" x="{LABELS}" y="{y + 4}">not determined</text>')
            continue
        kind = "answer" if answer else "other"
        marks.append(f'<line class="{kind}" x1="{x(span.low):.1f}" y1="{y}" x2="{x(span.high):.1f}" y2="{y}"/>')
        for end, beyond in ((span.low, span.low < low), (span.high, span.high > high)):
            sign = -6 if end == span.low else 6
            shape = f'<line class="{kind}" x1="{x(end):.1f}" y1="{y - 5}" x2="{x(end):.1f}" y2="{y + 5}"/>'
            if beyond:
                points = f"{x(end) + sign:.1f},{y} {x(end):.1f},{y - 5} {x(end):.1f},{y + 5}"
                shape = f'<polygon class="{kind}" points="{points}"/>'
            marks.append(shape)
        if low <= span.estimate <= high:
            marks.append(f'<circle class="{kind}" cx="{x(span.estimate):.1f}" cy="{y}" r="{5 if answer else 4}"/>')
    return svg(tall, marks, "Difference from the logged policy, with intervals")


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two numbers.

    >>> ticks(-0.3, 7.9)
    [0.0, 2.0, 4.0, 6.0]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / about))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= about)
    first = math.ceil(low / step)
    return [round(k * step, 12) + 0.0 for k in range(first, math.floor(high / step) + 1)]


def actions(shares: Sequence[tuple[str, float, float]]) -> str:
    """How often the logged and the new policy take every action."""
    shown = shares[:12]
    marks = []
    for i, (name, logged, new) in enumerate(shown):
        y = 12 + 46 * i
        marks.append(f'<text class="name" x="{LABELS - 12}" y="{y + 20}">action {escape(name)}</text>')
        for j, (kind, value) in enumerate((("logged", logged), ("new", new))):
            length = (WIDE - LABELS - 90) * value
            marks.append(f'<rect class="{kind}" x="{LABELS}" y="{y + 16 * j}" width="{length:.1f}" height="13"/>')
            label = f"{100 * value:.3g}% {kind}"
            marks.append(f'<text class="value" x="{LABELS + length + 6:.1f}" y="{y + 16 * j + 11}">{label}</text>')
    return svg(46 * len(shown) + 16, marks, "How often both policies take every action")


def map_of(grid: Grid) -> str:
    """Cells of the state space: shaded by how much the policies differ, outlined where the log lacks actions."""
    two = len(grid.names) == 2
    across, up = len(grid.edges[0]) - 1, len(grid.edges[1]) - 1 if two else 1
    left, top, side = 90, 30, (WIDE - 130) / across
    tall_cell = min(side, 30.0) if two else 46.0
    bottom = top + tall_cell * up
    marks = []
    for i, j in itertools.product(range(across), range(up)):
        x, y = left + side * i, top + tall_cell * (up - 1 - j)
        box = f'x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{tall_cell:.1f}"'
        marks.append(_cell(grid, i * up + j, box))
    for value in ticks(float(grid.edges[0][0]), float(grid.edges[0][-1]), 8):
        place = left + side * across * (value - grid.edges[0][0]) / (grid.edges[0][-1] - grid.edges[0][0])
        marks.append(f'<text class="tick" x="{place:.1f}" y="{bottom + 16:.1f}">{value:.4g}</text>')
    marks.append(
        f'<text class="axis" x="{left + side * across / 2:.1f}" y="{bottom + 34:.1f}">{escape(grid.names[0])}</text>'
    )
    if two:
        for value in ticks(float(grid.edges[1][0]), float(grid.edges[1][-1]), 6):
            place = bottom - tall_cell * up * (value - grid.edges[1][0]) / (grid.edges[1][-1] - grid.edges[1][0])
            marks.append(f'<text class="name" x="{left - 8}" y="{place + 4:.1f}">{value:.4g}</text>')
        marks.append(f'<text class="name" x="{left - 8}" y="12">{escape(grid.names[1])}</text>')
    return svg(bottom + 44, marks, "Where the policies differ, and where the log lacks actions of the new one")


def _cell(grid: Grid, k: int, box: str) -> str:
    if not grid.rows[k]:
        return f'<rect class="unvisited" {box}/>'
    title = f"{int(grid.rows[k]):,} rows; the policies differ in {100 * grid.difference[k]:.0f}% of the actions"
    if grid.never[k] > 0.005:
        title += f"; {100 * grid.never[k]:.0f}% of the new policy's actions are never shown"
    missing = " missing" if grid.never[k] > 0.05 else ""
    shade = f'fill-opacity="{0.08 + 0.92 * float(grid.difference[k]):.2f}"'
    return f'<rect class="cell{missing}" {box} {shade}><title>{escape(title)}</title></rect>'


def over_time(log: EpisodeLog) -> str:
    """Mean returns of consecutive episodes, with standard errors."""
    parts = np.array_split(log.returns, min(40, max(1, log.n_episodes // 5)))
    means = np.array([part.mean() for part in parts])
    errors = np.array([part.std() / np.sqrt(len(part)) for part in parts])
    low, high = float((means - errors).min()), float((means + errors).max())
    if high <= low:
        low, high = low - 1, high + 1
    left, tall = 90, 200

    def y(value: float) -> float:
        return tall - 35 - (tall - 55) * (value - low) / (high - low)

    step = (WIDE - left - 30) / max(1, len(means) - 1)
    marks = [
        f'<line class="rule" x1="{left}" y1="{y(t):.1f}" x2="{WIDE - 20}" y2="{y(t):.1f}"/>'
        f'<text class="name" x="{left - 8}" y="{y(t) + 4:.1f}">{t:.4g}</text>'
        for t in ticks(low, high, 4)
    ]
    for i, (mean, error) in enumerate(zip(means, errors, strict=True)):
        x = left + step * i
        marks.append(
            f'<line class="other" x1="{x:.1f}" y1="{y(mean - error):.1f}" x2="{x:.1f}" y2="{y(mean + error):.1f}"/>'
        )
        marks.append(f'<circle class="other" cx="{x:.1f}" cy="{y(mean):.1f}" r="3"/>')
    label = f"episodes in the order of the log, 1 to {log.n_episodes:,}"
    marks.append(f'<text class="axis" x="{(left + WIDE) / 2}" y="{tall - 8}">{label}</text>')
    return svg(tall, marks, "Mean return of the logged policy over time")


def svg(tall: float, marks: Sequence[str], label: str) -> str:
    """Marks as a picture that is as wide as the page."""
    return (
        f'<div class="plot"><svg viewBox="0 0 {WIDE} {tall:.0f}" role="img" aria-label="{escape(label)}">'
        f"{''.join(marks)}</svg></div>"
    )
