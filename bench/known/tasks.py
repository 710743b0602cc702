"""The environments of the page: their names, thresholds, and how many episodes a policy is evaluated for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

WINDOW = 20  # episodes in a row whose mean return must reach the threshold
CUT = 1000  # steps after which evaluated episodes are truncated if the environment has no time limit
ABREAST = 20  # environments in which a policy is evaluated at once


class Task(NamedTuple):
    """An environment by its name in the study, with its keyword arguments.

    `threshold` is None where 20 episodes are dominated by chance. `episodes` is the number of evaluation episodes.
    """

    title: str
    env: str
    kwargs: dict[str, Any]
    threshold: float | None
    episodes: int = 100


TASKS = (
    Task("CartPole-v1", "CartPole-v1", {}, 195),
    Task("Acrobot-v1", "Acrobot-v1", {}, -100),
    Task("MountainCar-v0", "MountainCar-v0", {}, -110),
    Task("LunarLander-v3", "LunarLander-v3", {}, 200),
    Task("FrozenLake 4x4, slippery", "FrozenLake-v1", {"is_slippery": True}, 0.7, 1000),
    Task("FrozenLake 4x4, not slippery", "FrozenLake-v1", {"is_slippery": False}, 0.9, 1000),
    Task("FrozenLake 8x8, slippery", "FrozenLake8x8-v1", {"is_slippery": True}, 0.7, 1000),
    Task("FrozenLake 8x8, not slippery", "FrozenLake8x8-v1", {"is_slippery": False}, 0.9, 1000),
    Task("CliffWalking-v1", "CliffWalking-v1", {}, -20),
    Task("Taxi-v4", "Taxi-v4", {}, 0),
    Task("Blackjack-v1", "Blackjack-v1", {}, None, 10_000),
    Task("MiniGrid Empty 5x5", "minigrids:empty", {"size": 5}, 0.9),
    Task("MiniGrid Empty 8x8", "minigrids:empty", {"size": 8}, 0.9),
    Task("MiniGrid DoorKey 5x5", "minigrids:door_key", {}, 0.9),
    Task("Deep Sea of size 10", "ucls/DeepSea-v0", {"size": 10}, 0.9),
    Task("Deep Sea of size 20", "ucls/DeepSea-v0", {"size": 20}, 0.9),
    Task("Deep Sea of size 30", "ucls/DeepSea-v0", {"size": 30}, 0.9),
)


def task_of(env: str, settings: Mapping[str, Any]) -> Task:
    """The task of a run with these settings, which include `env.NAME`."""
    for task in TASKS:
        if task.env == env and all(settings.get(f"env.{name}") == value for name, value in task.kwargs.items()):
            return task
    raise LookupError(f"{env} with {dict(settings)} is not in bench/known/tasks.py")


def measured_of(store: Path) -> Path:
    """The file beside a store with the measurements of its runs, one JSON object per line."""
    return store.with_name(store.name + ".measured.jsonl")


def limited(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """The environment, with a time limit if it has none."""
    endless = env.spec is None or env.spec.max_episode_steps is None
    return gymnasium.wrappers.TimeLimit(env, CUT) if endless else env


def reached(
    lengths: Sequence[int] | np.ndarray, returns: Sequence[float] | np.ndarray, threshold: float | None
) -> int | None:
    """Return after how many steps the mean return of 20 consecutive episodes first reached the threshold; None if
    never.

    >>> reached([10] * 25, [0.0] * 5 + [1.0] * 20, 0.9)
    230
    """
    if threshold is None or len(returns) < WINDOW:
        return None
    total = np.concatenate([[0.0], np.cumsum(returns)])
    good = np.flatnonzero((total[WINDOW:] - total[:-WINDOW]) / WINDOW >= threshold - 1e-9)
    return int(np.cumsum(lengths)[good[0] + WINDOW - 1]) if len(good) else None
