"""A progress bar: speed, time left, episodes and reward; nothing at all where there is no terminal."""

import sys
import time
from types import TracebackType
from typing import Any

SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """A bar for a run of `total` steps, drawn on the error stream."""

    def __init__(self, total: int, wanted: bool = True) -> None:
        self._total = total
        self._bar: Any = None
        self._next = 0.0
        if wanted and sys.stderr.isatty():
            self._bar, self._task = _make_bar(total)

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, episodes: int, reward: float) -> None:
        """Show how far the run is; cheap enough to be called at every step."""
        if self._bar is None or (done < self._total and time.monotonic() < self._next):
            return
        self._next = time.monotonic() + SECONDS_BETWEEN_UPDATES
        self._bar.update(self._task, completed=done, episodes=episodes, reward=f"{reward:,.6g}")


def _make_bar(total: int) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f} steps/s" if task.speed else "starting", style="cyan")

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        Speed(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[episodes]} episodes, reward {task.fields[reward]}"),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    return bar, bar.add_task("", total=total, episodes=0, reward="0")
