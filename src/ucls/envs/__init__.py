"""The environments: one file each, compiled; `gym.py` makes any of them a Gymnasium environment.

An environment is a module with

- `Env`, a NamedTuple of settings (see `ucls.settings`), numbers only, among them `discount` and `cutoff` (the number
  of steps after which an episode is truncated; 0 for never);
- `ACTIONS`, the names of the actions; `LOW` and `HIGH`, the bounds of its state, which is also the observation (and
  `bounds(env)` where settings move them);
- compiled `reset(env, s, rng)` and `step(env, s, a, rng) -> (reward, discount, terminated)`, where `s` is a float64
  array that is changed in place and the discount is 0 when the episode terminated;
- `FEATURES`, the name and settings of the features the paper uses for it;
- `facts(env)`, numbers that some algorithms take as defaults: `reward_max`, `return_max`;
- `measure(env)`, the name of what runs in it are compared by (see `runs.measures.Measures`): their whole reward, or,
  where every step costs and the number of steps is given, the mean return of an episode;
- `problem(env) -> planning.Problem`, what planning needs, and `optimal(env) -> planning.Optimal`, what an optimal
  policy achieves;
- `draw(env, s, canvas)`, a picture of the state.

To add one: one file here, one line in `ENVIRONMENTS`.
"""

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError, unknown
from ucls.randomness import check_words
from ucls.settings import describe, resolve, shown

ENVIRONMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "ucls/RiverSwim-v0": ("river_swim", {}),
    "ucls/PuddleWorld-v0": ("puddle_world", {}),
    "ucls/SparseMountainCar-v0": ("mountain_car", {"reward": "sparse", "discount": 0.998}),
    "ucls/MountainCar-v0": ("mountain_car", {}),
    "ucls/OneState-v0": ("one_state", {}),
    "ucls/DeepSea-v0": ("deep_sea", {}),
}


class World(NamedTuple):
    """An environment with its settings resolved."""

    id: str
    module: Any
    env: Any

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, object]]]:
        """For `copy` and `pickle`: by its id and settings."""
        return make_world, (self.id, shown(self.env))


def module_of(id: str) -> ModuleType:
    """The module of a registered environment."""
    if id not in ENVIRONMENTS:
        raise unknown("environment", id, ENVIRONMENTS)
    return importlib.import_module(f"ucls.envs.{ENVIRONMENTS[id][0]}")


def make_world(id: str, given: Mapping[str, object] = {}) -> World:
    """Make an environment by its id, with settings by name.

    >>> make_world("ucls/RiverSwim-v0", {"noise_sd": 0.0}).env.noise_sd
    0.0
    """
    module = module_of(id)
    return World(id, module, resolve(module.Env, {**ENVIRONMENTS[id][1], **given}))


def default_measure(id: str, given: Mapping[str, object] = {}) -> str:
    """What runs in an environment are compared by, if nobody says otherwise; settings of others than it are passed by.

    >>> default_measure("ucls/RiverSwim-v0", {"p": 0.1, "env.noise_sd": 0.0})
    'reward'
    """
    named = {name.removeprefix("env."): value for name, value in given.items()}
    known = [setting.name for setting in describe(module_of(id).Env)]
    world = make_world(id, {name: named[name] for name in known if name in named})
    return world.module.measure(world.env)


def bounds(world: World) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state, which some settings move."""
    module = world.module
    return module.bounds(world.env) if hasattr(module, "bounds") else (module.LOW, module.HIGH)


def check_saved(world: World, saved: Mapping[str, np.ndarray]) -> None:
    """Refuse `s`, `clock` (the steps of a running episode, 0 if none runs) and `rng` that no world like this left."""
    low, high = bounds(world)
    s, clock = saved.get("s"), saved.get("clock")
    if s is None or clock is None or s.shape != (len(low),) or clock.shape != (1,):
        raise UserError(f"this is not a checkpoint of {world.id}: make one with checkpoint()")
    if s.dtype != np.float64 or clock.dtype != np.int64 or not ((s >= low) & (s <= high)).all():
        raise UserError(f"the checkpoint cannot be right: its state is none of {world.id}")
    if clock[0] < 0 or clock[0] >= (world.env.cutoff or 2**53):
        raise UserError("the checkpoint cannot be right: its episode has lasted longer than an episode can")
    check_words(saved.get("rng"))
