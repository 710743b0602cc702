"""Runs of ucls-deep: `python -m bench learned TASK [--seeds 0-9] [--variants bound,epsilon] [--steps N] [--out FILE]`.

Every run is a row of the file, and runs that are in it already are skipped. A row has the mean return of the last 20
training episodes, that of 50 greedy episodes on other seeds of the environment, the number of the first episode with
the return that counts as a solution, and CPU seconds. All tasks have the same settings, the defaults, but for
`return_max` of Deep Sea, which is given. `python -m bench learned summary` prints the table of the documentation.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import ucls
from bench.learned_tasks import Catch, Coordinates, Picture
from ucls.benchmark.places import SwingUp

FILE = Path(__file__).parent.parent / "docs" / "data" / "deep" / "runs.csv"
COLUMNS = ("task", "variant", "seed", "steps", "last20", "greedy", "first", "episodes", "v0", "seconds")
LAST, GREEDY, EVALUATION_SEED = 20, 50, 10_000


class Task(NamedTuple):
    """How to make an environment, the steps of a run, the return that counts as a solution, and settings."""

    make: Callable[[], gymnasium.Env[Any, Any]]
    steps: int
    solved: float
    settings: Mapping[str, Any] = MappingProxyType({})


def sea(size: int, view: Callable[..., Any]) -> Task:
    """Return Deep Sea with coordinates or images as observations: solved by the treasure; 1,000 episodes."""
    make = lambda: view(gymnasium.make("ucls/DeepSea-v0", size=size), size)  # noqa: E731
    return Task(make, 1000 * size, 0.9, {"return_max": 1.0})


def minigrid() -> gymnasium.Env[Any, Any]:
    """Return MiniGrid's DoorKey 6x6, observed as the codes of the cells in front of the agent."""
    import minigrid
    from minigrid.wrappers import ImgObsWrapper

    assert minigrid
    return ImgObsWrapper(gymnasium.make("MiniGrid-DoorKey-6x6-v0"))


TASKS = {
    "LunarLander": Task(lambda: gymnasium.make("LunarLander-v3"), 100_000, 200.0),
    "CartPole": Task(lambda: gymnasium.make("CartPole-v1"), 20_000, 475.0),
    "Acrobot": Task(lambda: gymnasium.make("Acrobot-v1"), 20_000, -100.0),
    "MountainCar": Task(lambda: gymnasium.make("MountainCar-v0"), 15_000, -110.0),
    "Deep Sea 20": sea(20, Coordinates),
    "Deep Sea 30": sea(30, Coordinates),
    "Deep Sea 10, image": sea(10, Picture),
    "Catch": Task(Catch, 20_000, 1.0),
    "swing-up": Task(SwingUp, 100_000, 100.0),
    "Pendulum": Task(lambda: ucls.DiscreteActions(gymnasium.make("Pendulum-v1"), bins=5), 20_000, -200.0),
    "DoorKey 6x6": Task(minigrid, 100_000, 0.5),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "bound": {},
    "epsilon": {"prior_visits": 0.0, "noise_scale": 0.0, "epsilon": 0.05},
    "no exact layer": {"last_layer": "gradient"},
    "no prior": {"prior_visits": 0.0},
    "no noise": {"noise_scale": 0.0},
    "one solution": {"averaged": 1},
}


def greedy_returns(agent: Any, env: gymnasium.Env[Any, Any]) -> Iterator[float]:
    """Returns of greedy episodes."""
    for episode in range(GREEDY):
        observation, _ = env.reset(seed=EVALUATION_SEED + episode)
        total, over = 0.0, False
        while not over:
            action, _ = agent.predict(observation, deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(int(action))
            total, over = total + float(reward), terminated or truncated
        yield total


def run(name: str, variant: str, seed: int, steps: int | None = None) -> dict[str, Any]:
    """A run, as a row."""
    task = TASKS[name]
    steps, begin = steps or task.steps, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = ucls.Agent(task.make(), "ucls-deep", seed=seed, **{**task.settings, **VARIANTS[variant]}).learn(steps)
        seconds = time.process_time() - begin
        greedy = np.mean([*greedy_returns(agent, task.make())])
    returns = np.array(agent.history.episode_returns)
    good = np.flatnonzero(returns >= task.solved)
    row = (
        *(name, variant, seed, steps, f"{returns[-LAST:].mean():.5g}", f"{greedy:.5g}"),
        *(good[0] + 1 if len(good) else "", len(returns), f"{agent.learner.state.seen.v0[0]:.5g}", f"{seconds:.0f}"),
    )
    return dict(zip(COLUMNS, row, strict=True))


def done(file: Path) -> list[dict[str, str]]:
    """Read the rows of a file, none if it does not exist."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [*csv.DictReader(stream)]


def append(file: Path, row: dict[str, Any]) -> None:
    """Add a row to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = not file.exists()
    with file.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def summary(rows: list[dict[str, str]]) -> None:
    """Print a line for each task and variant: median and worst of both returns, and of the first solution."""
    heads = "task", "steps", "variant", "runs", "last 20 episodes", "greedy", "first solution", "CPU s"
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads), "|", sep="")
    for key in dict.fromkeys((row["task"], row["steps"], row["variant"]) for row in rows):
        mine = [row for row in rows if (row["task"], row["steps"], row["variant"]) == key]
        last, greedy, seconds = (
            np.array([float(row[name]) for row in mine]) for name in ("last20", "greedy", "seconds")
        )
        first = [int(row["first"]) for row in mine if row["first"]]
        solved = f"{np.median(first):.0f} ({len(first)} of {len(mine)})" if first else "never"
        both = (f"{np.median(each):.4g} ({each.min():.4g} to {each.max():.4g})" for each in (last, greedy))
        print(
            "|",
            " | ".join(
                [key[0], f"{int(key[1]):,}", key[2], str(len(mine)), *both, solved, f"{np.median(seconds):.0f}"]
            ),
            "|",
        )


def main(words: list[str]) -> int:
    """Make the missing runs, or print the summary."""
    parser = argparse.ArgumentParser(prog="python -m bench learned", description="Run ucls-deep.")
    parser.add_argument("tasks", nargs="+", help=f"summary, or of {', '.join(TASKS)}")
    parser.add_argument("--seeds", default="0-9", help="first-last")
    parser.add_argument("--variants", default="bound", help=f"separated by commas, of {', '.join(VARIANTS)}")
    parser.add_argument("--steps", type=int, help="instead of those of the task")
    parser.add_argument("--out", type=Path, default=FILE)
    asked = parser.parse_args(words)
    if asked.tasks == ["summary"]:
        summary(done(asked.out))
        return 0
    first, _, last = asked.seeds.partition("-")
    for name in asked.tasks:
        for seed in range(int(first), int(last or first) + 1):
            for variant in asked.variants.split(","):
                steps = asked.steps or TASKS[name].steps
                key = [name, variant, str(seed), str(steps)]
                if key not in [[row[c] for c in COLUMNS[:4]] for row in done(asked.out)]:
                    row = run(name, variant, seed, steps)
                    append(asked.out, row)
                    print(*row.values(), flush=True)
    return 0
