"""The main job: UCLS, untuned, on the three domains of the paper, held against the optimum."""

import json
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls._files import write_atomic
from ucls.envs import make_world
from ucls.history import History
from ucls.loop import make_run
from ucls.stats import bootstrap_mean


class Domain(NamedTuple):
    """A domain of the paper, and how many runs of it are a few."""

    env: str
    title: str
    runs: int


DOMAINS = (
    Domain("ucls/SparseMountainCar-v0", "Sparse Mountain Car", 4),
    Domain("ucls/PuddleWorld-v0", "Puddle World", 8),
    Domain("ucls/RiverSwim-v0", "River Swim", 12),
)


def reproduce(out: Path, runs: int | None, steps: int, jobs: int | None, quiet: bool = False) -> list[dict[str, Any]]:
    """Run UCLS on every domain, draw the figure, and return a row for each domain."""
    from ucls.figures import learning_curves

    wanted = [(d.env, seed, steps) for d in DOMAINS for seed in range(runs or d.runs)]
    histories = _run_all(wanted, jobs or os.cpu_count() or 1, quiet)
    panels, rows = [], []
    for domain in DOMAINS:
        mine = [histories[cell] for cell in wanted if cell[0] == domain.env]
        world = make_world(domain.env)
        optimum = world.module.optimal(world.env)
        rows.append(_row(domain, mine, optimum))
        panels.append((domain.title, mine, optimum))
    write_atomic(out / "results.json", lambda path: path.write_text(json.dumps(rows, indent=2) + "\n"))
    learning_curves(panels, out / "learning-curves")
    return rows


def one_run(cell: tuple[str, int, int]) -> History:
    """Run UCLS in one environment, with one seed, for some steps."""
    env, seed, steps = cell
    return make_run(env, "ucls", steps=steps, seed=seed).advance(steps)


def print_table(rows: list[dict[str, Any]], out: Path) -> None:
    """Print a row for each domain: what was reached, what the optimum is."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    note = "end: the last 20 episodes, or the last fifth of the steps; 95% bootstrap interval over the runs"
    steps = rows[0]["steps"]
    table = Table(title=f"UCLS, untuned, {steps:,} steps a run", caption=note, title_style="bold", box=SIMPLE_HEAD)
    for heading in ("domain", "runs", "measure", "UCLS", "95% interval", "optimum"):
        table.add_column(heading, justify="left" if heading in ("domain", "measure") else "right")
    for row in rows:
        for i, (name, m) in enumerate(row["measures"].items()):
            interval = f"{m['low']:.4g} to {m['high']:.4g}"
            title, runs = (row["title"], str(row["runs"])) if i == 0 else ("", "")
            optimum = "" if m["optimum"] is None else f"{m['optimum']:.4g}"
            table.add_row(title, runs, name, f"{m['mean']:.4g}", interval, optimum)
        if row["diverged"]:
            table.add_row("", "", f"[red]{row['diverged']} runs diverged[/]", "", "", "")
    console = Console()
    console.print(table)
    console.print(f"figure   {out / 'learning-curves.png'}\nnumbers  {out / 'results.json'}", highlight=False)


def _run_all(cells: list[tuple[str, int, int]], jobs: int, quiet: bool) -> dict[tuple[str, int, int], History]:
    """Run every cell in a pool of processes, the long ones first."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    # Small matrices in many processes: more BLAS threads only get in each other's way.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    console = Console(stderr=True, quiet=quiet)
    columns = TextColumn("UCLS on the three domains"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    found: dict[tuple[str, int, int], History] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool, Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=len(cells))
        futures = {pool.submit(one_run, cell): cell for cell in cells}
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            bar.advance(task)
            if not console.is_terminal and not quiet:
                env, seed, _ = futures[future]
                console.print(f"{len(found)} of {len(cells)}: {env}, seed {seed}", highlight=False)
    return found


def _row(domain: Domain, histories: list[History], optimum: Any) -> dict[str, Any]:
    """What was reached in a domain; a run that finished no episode counts with the length of the whole run."""
    measures: dict[str, Any] = {}

    def add(name: str, values: Sequence[float], best: float | None) -> None:
        measures[name] = {**bootstrap_mean(np.array(values))._asdict(), "optimum": best}

    steps = len(histories[0].rewards)
    if optimum.episode_steps is None:
        add("reward a step, end", [h.last_fifth_reward for h in histories], optimum.reward_rate)
        add("reward, all steps", [float(h.rewards.sum()) for h in histories], optimum.reward_rate * steps)
    else:
        last = [h.episode_steps[-20:].mean() if len(h.episode_steps) else steps for h in histories]
        add("episodes", [float(len(h.episode_steps)) for h in histories], steps / optimum.episode_steps)
        add("steps an episode, end", last, optimum.episode_steps)
        if optimum.episode_return != 1:
            ends = [h.episode_returns[-20:].mean() if len(h.episode_steps) else h.rewards.sum() for h in histories]
            add("return, end", ends, optimum.episode_return)
    return {
        "env": domain.env,
        "title": domain.title,
        "runs": len(histories),
        "steps": steps,
        "diverged": sum(h.diverged for h in histories),
        "measures": measures,
    }
