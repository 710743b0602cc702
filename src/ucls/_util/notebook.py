"""HTML for notebooks: tables, intervals, curves and pages inline, and a progress bar."""

import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ucls._util.palette import BLUE
from ucls._util.palette import SILVER as GRAY

WIDE, TALL = 480, 120


def table(rows: Iterable[Sequence[object]], heads: Sequence[str] = ()) -> str:
    """Return rows as an HTML table.

    >>> table([["steps", 3]])
    '<table><tr><td>steps</td><td>3</td></tr></table>'
    """
    top = f"<tr>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr>" if heads else ""
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table>{top}{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def intervals(rows: Sequence[tuple[str, float, float]]) -> str:
    """Names with means and radii, as bars from mean - radius to mean + radius."""
    low = min(mean - radius for _, mean, radius in rows)
    high = max(mean + radius for _, mean, radius in rows)
    scale = (WIDE - 220) / (high - low or 1.0)
    marks = []
    for i, (name, mean, radius) in enumerate(rows):
        y, left, right = 18 + 22 * i, 100 + scale * (mean - radius - low), 100 + scale * (mean + radius - low)
        marks.append(f'<text x="92" y="{y + 4}" text-anchor="end" fill="currentColor">{escape(name)}</text>')
        marks.append(f'<line x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}" stroke="{BLUE}" stroke-width="4"/>')
        marks.append(f'<circle cx="{100 + scale * (mean - low):.1f}" cy="{y}" r="5" fill="{BLUE}"/>')
        told = f"{mean:.4g} ± {radius:.3g}"
        marks.append(f'<text x="{WIDE - 112}" y="{y + 4}" fill="currentColor">{told}</text>')
    return _svg(22 * len(rows) + 16, marks)


def curve(values: Sequence[float], name: str) -> str:
    """Numbers over their index, with the mean of each twentieth of them as a line."""
    n = len(values)
    low, high = min(values), max(values)
    across, up = (WIDE - 70) / max(1, n - 1), (TALL - 40) / (high - low or 1.0)

    def place(i: float, value: float) -> str:
        return f"{60 + across * i:.1f},{TALL - 25 - up * (value - low):.1f}"

    shown = range(0, n, -(-n // 1000))
    dots = " ".join(place(i, float(values[i])) for i in shown)
    size = max(1, n // 20)
    parts = [(i, values[i : i + size]) for i in range(0, n, size)]
    means = " ".join(place(i + (len(some) - 1) / 2, float(sum(some)) / len(some)) for i, some in parts)
    marks = [f'<polyline points="{dots}" fill="none" stroke="{GRAY}" stroke-opacity="0.4"/>']
    marks.append(f'<polyline points="{means}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    marks.append(f'<text x="54" y="19" text-anchor="end" fill="currentColor">{high:.4g}</text>')
    marks.append(f'<text x="54" y="{TALL - 21}" text-anchor="end" fill="currentColor">{low:.4g}</text>')
    marks.append(f'<text x="60" y="{TALL - 6}" fill="currentColor">{escape(name)}</text>')
    return _svg(TALL, marks)


def _svg(tall: int, marks: Sequence[str]) -> str:
    size = f'width="{WIDE}" height="{tall}" viewBox="0 0 {WIDE} {tall}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="12" role="img">{"".join(marks)}</svg>'


class Page:
    """A page that a notebook shows inline, in a frame of its own."""

    def __init__(self, html: str, tall: int = 640) -> None:
        self.html, self.tall = html, tall

    def _repr_html_(self) -> str:
        frame = f'width="100%" height="{self.tall}" style="border:0" sandbox="allow-scripts"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame}></iframe>'


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """A progress bar of a notebook, with the methods of the one for terminals."""

    def __init__(self, total: int) -> None:
        self._total, self._handle = total, None
        self._shown: dict[str, Any] = {"completed": 0, "episodes": 0, "reward": "0"}

    def start(self) -> None:
        """Show the bar."""
        from IPython.display import display  # pyright: ignore[reportMissingImports]

        if self._handle is None:
            self._handle = display(self._content(), raw=True, display_id=True)

    def stop(self) -> None:
        """Leave the bar as it is: it says how far the run came."""

    def update(self, task: None, **shown: Any) -> None:
        """Show how far the run is."""
        self._shown |= shown
        if self._handle is not None:
            self._handle.update(self._content(), raw=True)

    def _content(self) -> dict[str, str]:
        done, episodes, reward = (self._shown[name] for name in ("completed", "episodes", "reward"))
        told = f"{done:,} of {self._total:,} steps, {episodes:,} episodes, reward {reward}"
        bar = f'<progress value="{done}" max="{max(1, self._total)}"></progress>'
        return {"text/plain": told, "text/html": f"{bar} {told}"}
