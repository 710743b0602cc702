"""The main job: UCLS, untuned, on the three domains of the paper, held against the optimum."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls._files import write_atomic
from ucls.envs import make_world
from ucls.paper.domains import DOMAINS, PUDDLE, RIVER, SPARSE, Domain
from ucls.stats import bootstrap_mean
from ucls.study import Member, Store, Study, conduct, make_cells
from ucls.study.drive import Runner
from ucls.study.result import Result

FEW = {SPARSE: 4, PUDDLE: 8, RIVER: 12}


def reproduce(
    out: Path, runs: int | None, steps: int, store: Store, runner: Runner, quiet: bool = False
) -> list[dict[str, Any]]:
    """Run UCLS on every domain, draw the figure, and return a row for each domain."""
    from ucls.figures import learning_curves

    groups = {env: make_cells(env, steps=steps, seeds=range(runs or FEW[env])) for env in FEW}
    study = Study("UCLS on the three domains", tuple(Member("ucls", c) for group in groups.values() for c in group))
    conduct(store, study, runner, quiet)
    panels, rows = [], []
    for env, cells in groups.items():
        found = [store.result(cell.id) for cell in cells]
        mine = [result for result in found if result is not None]
        world = make_world(env)
        optimum = world.module.optimal(world.env)
        rows.append(_row(DOMAINS[env], mine, optimum))
        panels.append((DOMAINS[env].title, mine, optimum))
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


def _row(domain: Domain, results: list[Result], optimum: Any) -> dict[str, Any]:
    """What was reached in a domain; a run that finished no episode counts with the length of the whole run."""
    measures: dict[str, Any] = {}

    def add(name: str, values: Sequence[float], best: float | None) -> None:
        measures[name] = {**bootstrap_mean(np.array(values))._asdict(), "optimum": best}

    steps, found = results[0].steps, [result.measures for result in results]
    if optimum.episode_steps is None:
        add("reward a step, end", [m.last_reward for m in found], optimum.reward_rate)
        add("reward, all steps", [m.reward for m in found], optimum.reward_rate * steps)
    else:
        add("episodes", [m.episodes for m in found], steps / optimum.episode_steps)
        add("steps an episode, end", [m.last_steps or steps for m in found], optimum.episode_steps)
        if optimum.episode_return != 1:
            add("return, end", [m.last_return or m.reward for m in found], optimum.episode_return)
    return {
        "env": domain.env,
        "title": domain.title,
        "runs": len(results),
        "steps": steps,
        "diverged": sum(result.diverged for result in results),
        "measures": measures,
    }
