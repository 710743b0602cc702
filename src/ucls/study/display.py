"""Progress of a running study: finished runs, speed, time left, failures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ucls.errors import printable
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome, Tally

LINE_SECONDS = 10.0

Watch = Callable[[Tally, RunSpec, Outcome], None]


@contextmanager
def show_progress(title: str, steps: int, quiet: bool = False) -> Iterator[Watch]:
    """Show the progress of a study of `steps` steps in total; yield the function that reports an outcome."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True, quiet=quiet)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[progress]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    began = time.monotonic()
    bar = Progress(*columns, console=console, disable=quiet or not console.is_terminal, transient=True)
    # Steps predict the time better than cells, whose lengths differ a thousandfold.
    task = bar.add_task(title, total=steps, progress="starting")
    spoken = began

    def tell(line: str) -> None:
        console.print(printable(line), markup=False)

    def watch(tally: Tally, cell: RunSpec, outcome: Outcome) -> None:
        nonlocal spoken
        progress = words(tally, time.monotonic() - began)
        bar.update(task, completed=tally.steps, progress=progress)
        if outcome.error:
            tell(f"failed: {cell.agent} on {cell.env}, seed {cell.seed}: {outcome.error}")
        if outcome.note:
            tell(f"{cell.agent} on {cell.env}, seed {cell.seed}: {outcome.note}")
        now = time.monotonic()
        if not console.is_terminal and (now - spoken > LINE_SECONDS or tally.done + tally.failed == tally.cells):
            spoken = now
            tell(f"{title}: {progress}")

    with bar:
        yield watch


def words(tally: Tally, seconds: float) -> str:
    """Describe the progress of a study.

    >>> words(Tally(20, done=5, diverged=1, steps=10_000), 4.0)
    '5 of 20 runs, 2,500 steps/s, 1 diverged'
    """
    parts = [f"{tally.done + tally.failed} of {tally.cells} runs", f"{tally.steps / max(seconds, 1e-9):,.0f} steps/s"]
    parts += [f"{tally.diverged} diverged"] if tally.diverged else []
    parts += [f"{tally.failed} failed"] if tally.failed else []
    return ", ".join(parts)
