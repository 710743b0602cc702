"""The public tasks, as data: environments to develop on, each with its steps and its scale from random to best."""

import functools
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple

from ucls.errors import UserError, unknown

VERSION = 1  # of tasks, steps and scores: results of another version are not compared
SEEDS, QUICK_SEEDS = 10, 3
EPISODES, STEPS = 20, 1000  # of an evaluation: episodes, and the most steps of each
CONTINUING = "step"  # a score per step; all others are per episode
PLACES, ROOMS = "ucls.benchmark.places", "ucls.benchmark.minigrids"


class Task(NamedTuple):
    """An environment with its settings, and for how many steps every run learns in it.

    `kind` groups tasks on the page, `per` says whether the reward of a step or the return of an episode is scored.
    `quick` tasks are part of `--quick`; `needs` is a package that must be installed.
    """

    id: str
    kind: str
    env: str
    settings: Mapping[str, Any]
    steps: int
    quick: bool = False
    per: str = "episode"
    episodes: int = EPISODES
    needs: str = ""


class Scale(NamedTuple):
    """The returns of a random policy and of the best known one, and how the latter is known."""

    random: float
    best: float
    how: str


SEA, CHAIN, GRID, CAR = "ucls/DeepSea-v0", "ucls/TrapChain-v0", "ucls/KeyGrid-v0", {"time_limit": 1000}
SWIM = "ucls/TabularRiverSwim-v0"
DEEP, TABLE, CONTINUOUS, ROOM = "deep exploration", "discrete states", "continuous states", "MiniGrid"

PUBLIC = (
    Task("deep-sea-10", DEEP, SEA, {"size": 10}, 10_000, quick=True),
    Task("deep-sea-20", DEEP, SEA, {"size": 20}, 40_000, quick=True),
    Task("deep-sea-30", DEEP, SEA, {"size": 30}, 90_000),
    Task("noisy-deep-sea-10", DEEP, SEA, {"size": 10, "stochastic": True}, 20_000, quick=True, episodes=200),
    Task("noisy-deep-sea-20", DEEP, SEA, {"size": 20, "stochastic": True}, 80_000, episodes=200),
    Task("trap-chain-10", DEEP, CHAIN, {"size": 10}, 10_000, quick=True),
    Task("trap-chain-20", DEEP, CHAIN, {"size": 20}, 20_000, quick=True),
    Task("key-grid-6", DEEP, GRID, {"size": 6, "keys": 2, "time_limit": 50}, 20_000, quick=True),
    Task("key-grid-8", DEEP, GRID, {"size": 8, "keys": 3, "time_limit": 80}, 40_000),
    Task("tabular-river-swim-6", TABLE, SWIM, {"size": 6}, 10_000, quick=True, per=CONTINUING),
    Task("tabular-river-swim-12", TABLE, SWIM, {"size": 12}, 20_000, quick=True, per=CONTINUING),
    Task("tabular-river-swim-20", TABLE, SWIM, {"size": 20}, 50_000, per=CONTINUING),
    Task("six-arms", TABLE, "ucls/SixArms-v0", {}, 20_000, quick=True, per=CONTINUING),
    Task("frozen-lake-4", TABLE, "FrozenLake-v1", {}, 20_000, quick=True, episodes=200),
    Task("frozen-lake-8", TABLE, "FrozenLake8x8-v1", {}, 50_000, episodes=200),
    Task("cliff-walking", TABLE, "CliffWalking-v1", {"max_episode_steps": 200}, 20_000, quick=True),
    Task("taxi", TABLE, "Taxi-v4", {}, 30_000, episodes=100),
    Task("river-swim", CONTINUOUS, "ucls/RiverSwim-v0", {}, 20_000, quick=True, per=CONTINUING),
    Task("mountain-car", CONTINUOUS, "ucls/MountainCar-v0", CAR, 20_000, quick=True),
    Task("sparse-mountain-car", CONTINUOUS, "ucls/SparseMountainCar-v0", CAR, 40_000, quick=True),
    Task("puddle-world", CONTINUOUS, "ucls/PuddleWorld-v0", CAR, 20_000, quick=True),
    Task("cart-pole", CONTINUOUS, "CartPole-v1", {}, 20_000, quick=True),
    Task("swing-up", CONTINUOUS, f"{PLACES}:SwingUp", {}, 50_000, episodes=5),
    Task("acrobot", CONTINUOUS, "Acrobot-v1", {}, 25_000, episodes=10),
    Task("empty-8", ROOM, f"{ROOMS}:room", {"id": "MiniGrid-Empty-8x8-v0"}, 10_000, needs="minigrid"),
    Task("door-key-6", ROOM, f"{ROOMS}:room", {"id": "MiniGrid-DoorKey-6x6-v0"}, 30_000, needs="minigrid"),
    Task("multi-room-2", ROOM, f"{ROOMS}:room", {"id": "MiniGrid-MultiRoom-N2-S4-v0"}, 20_000, needs="minigrid"),
    Task("key-corridor", ROOM, f"{ROOMS}:room", {"id": "MiniGrid-KeyCorridorS3R1-v0"}, 30_000, needs="minigrid"),
)


def chosen(tasks: Sequence[Task], quick: bool = False, only: Sequence[str] = ()) -> tuple[Task, ...]:
    """Return the quick tasks, or those with these ids, or all; refuse an unknown id.

    >>> [task.id for task in chosen(PUBLIC, only=["taxi"])]
    ['taxi']
    """
    known = [task.id for task in tasks]
    for id in only:
        if id not in known:
            raise unknown("task", id, known)
    return tuple(task for task in tasks if (task.id in only if only else task.quick or not quick))


def installed(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """The tasks whose packages are installed, and the others."""
    there = tuple(task for task in tasks if not task.needs or find_spec(task.needs) is not None)
    return there, tuple(task for task in tasks if task not in there)


@functools.cache
def scales() -> dict[str, Scale]:
    """The scales of the public tasks, which `python -m tools scales` computes."""
    text = files("ucls.benchmark").joinpath("scales.json").read_text(encoding="utf-8")
    return {id: Scale(**scale) for id, scale in json.loads(text).items()}


def scale_of(task: Task) -> Scale:
    """The stored scale of a public task."""
    if task.id not in scales():
        raise UserError(f"the task {task.id} has no scale yet: python -m tools scales")
    return scales()[task.id]
