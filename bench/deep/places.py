"""The tasks of deep agents: environments of docs/environments.md, and others only for comparison with these agents."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from bench.known.tasks import TASKS, Task
from ucls.gym.discrete_actions import DiscreteActions
from ucls.gym.registry import make_env


class Place(NamedTuple):
    """An environment, the steps of a run, and by agent the environment of rl-zoo that it takes its settings from.

    The name "" stands for all agents that are not named.
    """

    task: Task
    steps: int
    nearest: Mapping[str, str]


LONG = ("MountainCar-v0", "LunarLander-v3", "Taxi-v4", "Deep Sea of size 30")  # the others have 20,000 steps
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
    """Return all tasks by title."""
    known = {task.title: Place(task, steps_of(task), NEAREST.get(task.title, TABLES)) for task in TASKS}
    return known | {place.task.title: place for place in OTHERS}


def steps_of(task: Task) -> int:
    """The steps of a run in an environment of docs/environments.md."""
    return 50_000 if task.title in LONG else 20_000


def made(task: Task) -> gymnasium.Env[Any, Any]:
    """Create the environment of a task; tuples are flattened, and cells of Deep Sea are one-hot."""
    env = make_env(task.env, task.kwargs)
    if task.env == "ucls/DeepSea-v0":
        return one_hot(env)
    flat = isinstance(env.observation_space, gymnasium.spaces.Tuple)
    return gymnasium.wrappers.FlattenObservation(env) if flat else env


def one_hot(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Wrap an environment with discrete states so that they are one-hot vectors."""
    states: Any = env.observation_space
    rows = np.eye(int(states.high[0]) + 1, dtype=np.float32)
    space = gymnasium.spaces.Box(0.0, 1.0, (len(rows),), np.float32)
    return gymnasium.wrappers.TransformObservation(env, lambda seen: rows[int(seen[0])], space)
