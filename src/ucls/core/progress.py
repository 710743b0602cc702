"""Progress bars: of a run, with speed, time left, episodes and reward; and of compilation.

Where there is neither a terminal nor a notebook there are no bars.
"""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ucls._util import compiling as _compiling
from ucls._util.notebook import NotebookBar, is_notebook

SECONDS_BETWEEN_UPDATES = 0.1
SECONDS_OF_SILENCE = 1.0
COMPILING = "ucls: compiling kernels, once; the next time they are there (`ucls compile` makes them ahead)"

_shown: "list[Progress]" = []


class Progress:
    """A bar for a run of `total` steps, drawn on the error stream."""

    def __init__(self, total: int, wanted: bool = True) -> None:
        self._total = total
        self._bar: Any = None
        self._next = 0.0
        if wanted and is_notebook():
            self._bar, self._task = NotebookBar(total), None
        elif wanted and _terminal():
            self._bar, self._task = _make_bar(total)

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._bar.start()
            _shown.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            _shown.remove(self)
            self._bar.stop()

    def pause(self) -> None:
        """Make room for another bar."""
        self._bar.stop()

    def resume(self) -> None:
        """Show the bar again."""
        self._bar.start()

    def update(self, done: int, episodes: int, reward: float) -> None:
        """Show how far the run is; cheap enough to be called at every step."""
        if self._bar is None or (done < self._total and time.monotonic() < self._next):
            return
        self._next = time.monotonic() + SECONDS_BETWEEN_UPDATES
        self._bar.update(self._task, completed=done, episodes=episodes, reward=f"{reward:,.6g}")


class CompileProgress:
    """Announces that kernels are being compiled once this has taken a second, with a bar on a terminal.

    `first` is asked before anything is said, so that only one of several processes says it.
    """

    def __init__(self, first: Callable[[], bool] = lambda: True, bar: bool = True) -> None:
        self._first = first
        self._with_bar = bar and _terminal()
        self._said = False
        self._bar: Any = None

    def __call__(self, compiled: _compiling.Compiled) -> None:
        """Receive the progress of compilation."""
        if compiled.seconds < SECONDS_OF_SILENCE or (compiled.over and self._bar is None):
            return
        if not self._said:
            self._said = True
            if not self._first():
                self._with_bar = False
                return
            self._say()
        if self._with_bar:
            self._show(compiled)

    def _say(self) -> None:
        for other in _shown:
            other.pause()
        clear = "\r\x1b[2K" if _terminal() else ""  # whatever bar another process has there
        if sys.stderr is not None:  # which print would take for the output
            print(f"{clear}{COMPILING}", file=sys.stderr, flush=True)
        for other in _shown:
            other.resume()

    def _show(self, compiled: _compiling.Compiled) -> None:
        if self._bar is None:
            for other in _shown:
                other.pause()
            self._bar, self._task = _make_count()
            self._bar.start()
        self._bar.update(self._task, kernels=compiled.kernels)
        if compiled.over:
            self._bar.stop()
            self._bar = None
            for other in _shown:
                other.resume()


def tell_of_compiling() -> None:
    """Announce long compilations of this process, unless there is another watcher."""
    if not _compiling.is_watched():
        _compiling.watch(CompileProgress())


def _terminal() -> bool:
    """Whether the error stream is there and is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _make_count() -> tuple[Any, Any]:
    """Return a bar without a known end: how many kernels, and for how long."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = BarColumn(bar_width=24), TextColumn("{task.fields[kernels]} kernels"), TimeElapsedColumn()
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    return bar, bar.add_task("", total=None, kernels=0)


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
