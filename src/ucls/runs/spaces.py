"""A Gymnasium environment as an agent meets it: its actions, the bounds of what it shows."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from ucls.envs import World
from ucls.envs.gym import GymWorld
from ucls.errors import UserError
from ucls.runs.naming import make_env
from ucls.runs.plan import FAR, brief

HARMLESS = (
    gymnasium.wrappers.OrderEnforcing,
    gymnasium.wrappers.PassiveEnvChecker,
    gymnasium.wrappers.TimeLimit,
    gymnasium.wrappers.RecordEpisodeStatistics,
    gymnasium.wrappers.RecordVideo,
    gymnasium.wrappers.HumanRendering,
    gymnasium.wrappers.RenderCollection,
)


def with_discrete_actions(env: gymnasium.Env[Any, Any] | str) -> gymnasium.Env[Any, Any]:
    """An environment, or the one of this name, whose actions can be learned."""
    env = make_env(env) if isinstance(env, str) else env
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise UserError(f"the actions are {env.action_space}: only Discrete ones can be learned, wrap the environment")
    return env


def own_world(env: Any) -> GymWorld | None:
    """Our own environment, if this is one, perhaps wrapped, and shows its observations as they are."""
    bare = getattr(env, "unwrapped", None)
    return bare if isinstance(bare, GymWorld) and bare.observation_space == env.observation_space else None


def facts_of(env: Any) -> dict[str, float]:
    """What is known of our own world, unless a wrapper is around it that may change its rewards."""
    ours = own_world(env)
    while isinstance(env, gymnasium.Wrapper):
        if type(env) not in HARMLESS:
            return {}
        env = env.env
    return {} if ours is None else ours.world.facts()


def id_of(env: Any) -> str:
    """The id that an environment is registered by; nothing if it is not, or there is none."""
    spec = getattr(env, "spec", None)
    return "" if spec is None else str(spec.id)


def grid_of(env: Any) -> tuple[int, int] | None:
    """The rows and columns of a world whose discrete states are the cells of a grid, where it tells."""
    bare = getattr(env, "unwrapped", None)
    for name in ("desc", "shape"):
        shape = getattr(bare, name, None)
        shape = getattr(shape, "shape", shape)
        if isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape):
            return shape[0], shape[1]
    return None


def bounds(space: gymnasium.Space[Any], low: Any, high: Any) -> tuple[list[float], list[float]]:
    """The bounds of the observation: those given, or else the space's."""
    if isinstance(space, gymnasium.spaces.Discrete):
        if low is not None or high is not None:
            raise UserError("low and high are for observations in a Box: these are whole numbers and have their bounds")
        return [float(space.start)], [float(space.start + space.n - 1)]
    if not isinstance(space, gymnasium.spaces.Box):
        raise UserError(f"the observations are {space}: only Box and Discrete ones can be read, wrap the environment")
    bounds = []
    for given, own in ((low, space.low), (high, space.high)):
        try:
            bound = np.asarray(own if given is None else given, np.float64).ravel()
        except (ValueError, TypeError, OverflowError):
            raise UserError(f"low and high cannot be {brief(given)}: give {space.low.size} numbers each") from None
        if len(bound) != space.low.size:
            raise UserError(f"low and high must have {space.low.size} numbers each, not {len(bound)}")
        bounds.append(bound)
    open_ends = np.flatnonzero(~((np.abs(bounds[0]) <= FAR) & (np.abs(bounds[1]) <= FAR)))
    if len(open_ends):
        raise UserError(f"observation {open_ends[0]} is unbounded: give low and high for all {space.low.size} of them")
    if not (bounds[0] < bounds[1]).all():
        raise UserError("every number in low must be below its number in high")
    return bounds[0].tolist(), bounds[1].tolist()


def own_features(space: gymnasium.Space[Any], world: World | None) -> tuple[str, dict[str, Any]]:
    """The features of an environment, with their settings: those of our world, or what its observations ask for."""
    if world is not None:
        return world.features
    return ("one_hot" if isinstance(space, gymnasium.spaces.Discrete) else "tiles"), {}


def refuse_blind_optimism(given: Mapping[str, object], facts: Mapping[str, float]) -> None:
    """Refuse to start from the best return where nobody knows it: from 0 an agent need not be optimistic."""
    if given.get("optimistic") == "yes" and "gmax" not in given and "return_max" not in facts:
        raise UserError("optimistic=yes needs the best return of this environment: give it as gmax")
