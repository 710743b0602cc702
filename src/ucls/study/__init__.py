"""Many runs: a cell is one run as data, and a pool of processes runs any number of them."""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

from ucls.history import History
from ucls.loop import make_run


class Cell(NamedTuple):
    """What one run is, as data; `settings` are pairs of a name and a value."""

    env: str
    agent: str
    steps: int
    seed: int
    settings: tuple[tuple[str, Any], ...] = ()


def run_cell(cell: Cell) -> History:
    """Run one cell in this process."""
    run = make_run(cell.env, cell.agent, steps=cell.steps, seed=cell.seed, settings=dict(cell.settings))
    return run.advance(cell.steps)


def run_cells(cells: Sequence[Cell], title: str, jobs: int | None = None, quiet: bool = False) -> dict[Cell, History]:
    """Run every cell in a pool of processes, as many as cores by default, in the order given."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # Small matrices in many processes: more BLAS threads only get in each other's way.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    console = Console(stderr=True, quiet=quiet)
    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    found: dict[Cell, History] = {}
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(jobs or os.cpu_count() or 1, mp_context=context) as pool,
        Progress(*columns, console=console) as bar,
    ):
        task = bar.add_task("", total=len(cells))
        futures = {pool.submit(run_cell, cell): cell for cell in cells}
        for future in as_completed(futures):
            cell = futures[future]
            found[cell] = future.result()
            bar.advance(task)
            if not console.is_terminal and not quiet:
                console.print(f"{len(found)} of {len(cells)}: {cell.agent} on {cell.env}, seed {cell.seed}")
    return found
