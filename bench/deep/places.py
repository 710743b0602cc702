"""Where deep agents run: environments of docs/environments.md, and others that are only for comparisons with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from bench.known.tasks import TASKS, Task
from ucls.gym.discrete_actions import DiscreteActions
from ucls.gym.registry import make_env
from ucls.study.declaration.declare import read_study

STUDY = Path(__file__).parents[2] / "examples" / "environments.toml"


class Place(NamedTuple):
    """An environment, the steps of a run, and by agent the environment of rl-zoo that it takes its settings from.

    The name "" stands for all agents that are not named.
    """

    task: Task
    steps: int
    nearest: Mapping[str, str]


CART = {"": "CartPole-v1"}
NEAREST: dict[str, Mapping[str, str]] = {
    "CartPole-v1": CART,
    "Acrobot-v1": {"": "Acrobot-v1"},
    "MountainCar-v0": {"": "MountainCar-v0"},
    "LunarLander-v3": {"": "LunarLander-v2"},
}
TABLES: Mapping[str, str] = {**CART, "PPO": "MiniGrid-DoorKey-5x5-v0"}  # rl-zoo has nothing nearer to discrete states
OTHERS = (
    Place(
        Task("CartPole swing-up", "ucls.benchmark.places:SwingUp", {}, None, 20),
        50_000,
        {"": "Acrobot-v1"},
    ),
    Place(
        Task("Pendulum-v1, 5 actions", "bench.deep.places:pendulum", {}, -200, 50),
        30_000,
        {"": "Acrobot-v1", "PPO": "Pendulum-v1"},
    ),
    Place(
        Task("MiniGrid DoorKey 6x6, encoding", "bench.deep.places:door_key", {}, 0.9, 100),
        50_000,
        TABLES,
    ),
)


def pendulum() -> gymnasium.Env[Any, Any]:
    """Pendulum with five torques."""
    return DiscreteActions(gymnasium.make("Pendulum-v1"), bins=5)


def door_key(size: int = 6) -> gymnasium.Env[Any, Any]:
    """MiniGrid's room with a locked door, as the codes of the cells in front of the agent, from 0 to 1.

    The layout is drawn for every episode.
    """
    import minigrid.wrappers

    env = minigrid.wrappers.ImgObsWrapper(gymnasium.make(f"MiniGrid-DoorKey-{size}x{size}-v0"))
    space = gymnasium.spaces.Box(0.0, 1.0, (7 * 7 * 3,), np.float32)
    return gymnasium.wrappers.TransformObservation(env, lambda seen: (seen.ravel() / 10.0).astype(np.float32), space)


def places() -> dict[str, Place]:
    """All of them by title; those of docs/environments.md have the steps of its study."""
    study = read_study(STUDY)
    cells = [member.cell for member in study.members]
    found = {}
    for task in TASKS:
        same = [cell for cell in cells if cell.env == task.env and _has(dict(cell.settings), task.kwargs)]
        if same:
            found[task.title] = Place(task, same[0].steps, NEAREST.get(task.title, TABLES))
    return found | {place.task.title: place for place in OTHERS}


def _has(settings: Mapping[str, Any], kwargs: Mapping[str, Any]) -> bool:
    return all(settings.get(f"env.{name}") == value for name, value in kwargs.items())


def made(task: Task) -> gymnasium.Env[Any, Any]:
    """The environment of a task; observations that are tuples are flattened."""
    env = make_env(task.env, task.kwargs)
    flat = isinstance(env.observation_space, gymnasium.spaces.Tuple)
    return gymnasium.wrappers.FlattenObservation(env) if flat else env
