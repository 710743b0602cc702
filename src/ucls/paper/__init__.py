"""The main job: UCLS, untuned, on the three domains of the paper, held against the optimum."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls._files import write_atomic
from ucls.envs import make_world
from ucls.history import History
from ucls.stats import bootstrap_mean
from ucls.study import Cell, run_cells


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

    wanted = [Cell(d.env, "ucls", steps, seed) for d in DOMAINS for seed in range(runs or d.runs)]
    histories = run_cells(wanted, "UCLS on the three domains", jobs, quiet)
    panels, rows = [], []
    for domain in DOMAINS:
        mine = [histories[cell] for cell in wanted if cell.env == domain.env]
        world = make_world(domain.env)
        optimum = world.module.optimal(world.env)
        rows.append(_row(domain, mine, optimum))
        panels.append((domain.title, mine, optimum))
    write_atomic(out / "results.json", lambda path: path.write_text(json.dumps(rows, indent=2) + "\n"))
    learning_curves(panels, out / "learning-curves")
    return rows


def print_table(rows: list[dict[str, Any]], out: Path) -> None:
    """Print a row for each domain: what was reached, what the optimum is."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    note = "end: the last 20 episodes or fifth of the steps; bootstrap intervals"
    steps = rows[0]["steps"]
    table = Table(
        title=f"UCLS, untuned, {steps:,} steps a run", caption=note, title_style="bold", box=SIMPLE_HEAD, padding=0
    )
    for heading in ("domain", "runs", "measure", "UCLS", "95% interval", "optimum"):
        table.add_column(heading, justify="left" if heading in ("domain", "measure") else "right", no_wrap=True)
    for row in rows:
        for i, (name, m) in enumerate(row["measures"].items()):
            interval = f"{_number(m['low'])} to {_number(m['high'])}"
            title, runs = (row["title"], str(row["runs"])) if i == 0 else ("", "")
            optimum = "" if m["optimum"] is None else _number(m["optimum"])
            table.add_row(title, runs, name, _number(m["mean"]), interval, optimum)
        if row["diverged"]:
            table.add_row("", "", f"[red]{row['diverged']} runs diverged[/]", "", "", "")
    console = Console()
    console.print(table)
    console.print(f"figure   {out / 'learning-curves.png'}\nnumbers  {out / 'results.json'}", highlight=False)


def _number(x: float) -> str:
    """Four significant digits, never an exponent."""
    return np.format_float_positional(x, precision=4, unique=False, fractional=False, trim="-")


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
