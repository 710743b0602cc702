"""The visited states with the widest intervals, as a table with the interval of every action."""

from collections.abc import Sequence
from html import escape

import numpy as np

from ucls.agent.explain.maps import Maps, Unsure

WIDE, HIGH, NAMES = 270, 15, 92  # of a bar's line, with the name of its action
MOST = 8  # actions whose intervals are drawn: those that reach highest
COLUMNS = 8  # numbers of a state that have a column each


def unsure_table(maps: Maps, actions: Sequence[str], numbers: Sequence[str]) -> str:
    """The table; empty if no visited states are known."""
    if not maps.unsure:
        return ""
    size = len(maps.unsure[0].state)
    whole = maps.views[0].across is None
    numbers = numbers if len(numbers) == size else [f"observation[{i}]" for i in range(size)]
    states = ["state"] if whole or size > COLUMNS else list(numbers)
    told = maps.unsure[0].share is not None
    heads = [
        *states,
        "next action",
        "mean",
        "radius",
        *(["prior weight"] if told else []),
        "every action, from its mean up",
    ]
    low, high = _reach(maps.unsure)
    rows = []
    for row in maps.unsure:
        texts = [f"{x:.4g}" for x in row.state]
        cells = texts if len(states) == size else [", ".join(texts)]
        a = row.action
        cells += [actions[a], f"{row.mean[a]:.4g}", f"{row.radius[a]:.3g}"]
        cells += [] if row.share is None else [f"{100 * row.share[a]:.0f}%"]
        rows.append(
            "".join(f"<td>{escape(text)}</td>" for text in cells) + f"<td>{_bars(row, actions, low, high)}</td>"
        )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"""<section id="unsure"><h2>Visited states with the widest intervals</h2>
<p>The recorded states whose chosen action has the widest interval at the end of the run.
The bars of all states share one scale, relative to the highest mean of each state.</p>
<div class="scroll" tabindex="0" role="region" aria-label="states with the widest intervals"><table>
<thead><tr>{"".join(f'<th scope="col">{escape(head)}</th>' for head in heads)}</tr></thead>
<tbody>{body}</tbody></table></div></section>"""


def _reach(rows: Sequence[Unsure]) -> tuple[float, float]:
    """The range of the bars, relative to the highest mean of their state; far worse actions are clipped."""
    shown = [(row.mean[chosen], row.radius[chosen]) for row in rows for chosen in [_valid(row)]]
    high = max(float((mean + radius - mean.max()).max()) for mean, radius in shown)
    low = min(float((mean - mean.max()).min()) for mean, _ in shown)
    return max(low, -2 * high) if high > 0 else low, high


def _valid(row: Unsure) -> np.ndarray:
    """The valid actions of a state."""
    return np.arange(len(row.mean)) if row.valid is None else np.flatnonzero(row.valid)


def _bars(row: Unsure, actions: Sequence[str], low: float, high: float) -> str:
    """The intervals of a state: a dot for the mean, and bars for the noise term and the prior term."""
    valid = _valid(row)
    order = np.argsort(-(row.mean + row.radius)[valid], kind="stable")
    shown = sorted(int(a) for a in valid[order[:MOST]])
    span = (high - low) or 1.0
    best = float(row.mean[valid].max())

    def x(value: float) -> float:
        return NAMES + 6 + (WIDE - NAMES - 12) * min(1.0, max(0.0, (value - best - low) / span))

    lines = []
    for k, a in enumerate(shown):
        y, mean, noisy = HIGH * k + HIGH / 2, float(row.mean[a]), float(row.mean[a] + row.noisy[a])
        top = float(row.mean[a] + row.radius[a])
        kind = ' class="taken"' if a == row.action else ""
        lines.append(f'<text{kind} x="0" y="{y + 4:.1f}">{escape(actions[a][:15])}</text>')
        for part, start, end in (("noisy", mean, noisy), ("unknown", noisy, top)):
            if x(end) > x(start):
                where = f'x="{x(start):.1f}" y="{y - 4:.1f}" width="{x(end) - x(start):.1f}" height="8"'
                lines.append(f'<rect class="{part}" {where}/>')
        at = x(mean)
        away = mean - best < low  # so far below the best that it is not on the scale
        corners = f"{at - 5:.1f},{y:.1f} {at + 2:.1f},{y - 4:.1f} {at + 2:.1f},{y + 4:.1f}"
        lines.append(f'<polygon points="{corners}"/>' if away else f'<circle cx="{at:.1f}" cy="{y:.1f}" r="3"/>')
    words = "; ".join(f"{actions[a]} {row.mean[a]:.4g} to {row.mean[a] + row.radius[a]:.4g}" for a in shown)
    size = f'width="{WIDE}" height="{HIGH * len(shown)}"'
    return f'<svg {size} role="img" aria-label="{escape(words)}">{"".join(lines)}</svg>'
