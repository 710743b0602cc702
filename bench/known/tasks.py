"""The environments of the table: how they are called, when one counts as learned, and how long policies are tried."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

WINDOW = 20  # episodes in a row whose mean return must reach the threshold
CUT = 1000  # steps of an evaluated episode where the environment has no limit
ABREAST = 20  # environments that a policy is tried in at once


class Task(NamedTuple):
    """An environment by its name in the study, with its keyword arguments; and what is known of it.

    `threshold` is none where luck outweighs skill, and `why` says where it is from. `episodes` are those of a trial.
    """

    title: str
    env: str
    kwargs: dict[str, Any]
    threshold: float | None
    why: str
    episodes: int = 100


SOLVED = "Gymnasium's own threshold"
NEAR = "near the best there is"
TASKS = (
    Task(
        "CartPole-v1",
        "CartPole-v1",
        {},
        195,
        "the threshold of CartPole-v0; Gymnasium's own for v1, 475, is for longer runs",
    ),
    Task("Acrobot-v1", "Acrobot-v1", {}, -100, SOLVED),
    Task("MountainCar-v0", "MountainCar-v0", {}, -110, SOLVED),
    Task("LunarLander-v3", "LunarLander-v3", {}, 200, SOLVED),
    Task("FrozenLake 4x4, slippery", "FrozenLake-v1", {"is_slippery": True}, 0.7, SOLVED, 1000),
    Task("FrozenLake 4x4, not slippery", "FrozenLake-v1", {"is_slippery": False}, 0.9, NEAR, 1000),
    Task(
        "FrozenLake 8x8, slippery",
        "FrozenLake8x8-v1",
        {"is_slippery": True},
        0.7,
        "that of the smaller lake; Gymnasium's own is 0.85",
        1000,
    ),
    Task("FrozenLake 8x8, not slippery", "FrozenLake8x8-v1", {"is_slippery": False}, 0.9, NEAR, 1000),
    Task("CliffWalking-v1", "CliffWalking-v1", {}, -20, "the best return is -13"),
    Task("Taxi-v4", "Taxi-v4", {}, 0, "Gymnasium's own, 8, is for policies that no longer explore"),
    Task("Blackjack-v1", "Blackjack-v1", {}, None, "20 games are luck", 10_000),
    Task("MiniGrid Empty 5x5", "minigrids:empty", {"size": 5}, 0.9, NEAR),
    Task("MiniGrid Empty 8x8", "minigrids:empty", {"size": 8}, 0.9, NEAR),
    Task("MiniGrid DoorKey 5x5", "minigrids:door_key", {}, 0.9, NEAR),
    Task("Deep Sea of size 10", "ucls/DeepSea-v0", {"size": 10}, 0.9, NEAR),
    Task("Deep Sea of size 20", "ucls/DeepSea-v0", {"size": 20}, 0.9, NEAR),
    Task("Deep Sea of size 30", "ucls/DeepSea-v0", {"size": 30}, 0.9, NEAR),
)


def task_of(env: str, settings: Mapping[str, Any]) -> Task:
    """The task that a cell with these settings, `env.NAME` among them, is a run of."""
    for task in TASKS:
        if task.env == env and all(settings.get(f"env.{name}") == value for name, value in task.kwargs.items()):
            return task
    raise LookupError(f"{env} with {dict(settings)} is not in bench/known/tasks.py")


def measured_of(store: Path) -> Path:
    """The file beside a store that has what was measured of its runs, a line of JSON each."""
    return store.with_name(store.name + ".measured.jsonl")


def rivals_of(store: Path) -> Path:
    """The file beside a store that has the runs of rivals, a line of JSON each."""
    return store.with_name(store.name + ".rivals.jsonl")


def limited(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """An environment whose episodes end: one that has no limit gets one."""
    endless = env.spec is None or env.spec.max_episode_steps is None
    return gymnasium.wrappers.TimeLimit(env, CUT) if endless else env


def reached(
    lengths: Sequence[int] | np.ndarray, returns: Sequence[float] | np.ndarray, threshold: float | None
) -> int | None:
    """After how many steps the mean return of 20 episodes in a row first was at the threshold; None if never.

    >>> reached([10] * 25, [0.0] * 5 + [1.0] * 20, 0.9)
    230
    """
    if threshold is None or len(returns) < WINDOW:
        return None
    total = np.concatenate([[0.0], np.cumsum(returns)])
    good = np.flatnonzero((total[WINDOW:] - total[:-WINDOW]) / WINDOW >= threshold - 1e-9)
    return int(np.cumsum(lengths)[good[0] + WINDOW - 1]) if len(good) else None
