"""A Gymnasium environment as an agent meets it: its actions, the bounds of what it shows."""

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from ucls.core.config import brief
from ucls.envs import BuiltinEnv
from ucls.errors import UserError
from ucls.features import fitting
from ucls.gym.layout import Layout, Leaf, leaves
from ucls.gym.wrapping import wrapped_world, wrappers_of

ONE_HOT = 5000  # features of states of several numbers; `runs.advice` says what least squares takes with so many


def with_discrete_actions(env: Any) -> gymnasium.Env[Any, Any]:
    """Return the environment, or refuse it if its actions are not discrete."""
    refuse_none(env)
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        actions = brief(env.action_space)
        wrapped = f"ucls.DiscreteActions(env{', bins=3' if 'Box' in actions else ''})"
        raise UserError(
            f"the actions are {actions}: only Discrete ones can be learned, wrap the environment: {wrapped}"
        )
    return env


def refuse_none(env: Any) -> None:
    """Refuse what is no environment, or many."""
    if hasattr(env, "single_action_space"):
        raise UserError(f"{brief(env)} is a vector of environments: an agent learns in one of them")
    parts = ("action_space", "observation_space", "reset", "step")
    if isinstance(env, type) or not all(hasattr(env, part) for part in parts):
        raise UserError(f"an environment cannot be {brief(env)}: give what gymnasium.make(id) returns, or the id")


def facts_of(env: Any) -> dict[str, float]:
    """What is known of our own world, unless a wrapper is around it that may change its rewards."""
    ours = wrapped_world(env)
    changed = any(type(layer) is not gymnasium.wrappers.TimeLimit for layer in wrappers_of(env))
    return {} if ours is None or changed else ours.world.facts()


def id_of(env: Any) -> str:
    """The id that an environment is registered by; nothing if it is not, or there is none."""
    spec = getattr(env, "spec", None)
    return "" if spec is None else str(spec.id)


def is_gymnasiums_own(id: str) -> bool:
    """Whether an id names one of the environments that come with Gymnasium: code that nobody else can have chosen."""
    spec = gymnasium.registry.get(id)
    return spec is not None and str(spec.entry_point).startswith("gymnasium.envs.")


def grid_of(env: Any) -> tuple[int, int] | None:
    """The rows and columns of a world whose discrete states are the cells of a grid, where it tells."""
    bare = getattr(env, "unwrapped", None)
    for name in ("desc", "shape"):
        shape = getattr(bare, name, None)
        shape = getattr(shape, "shape", shape)
        if isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape):
            return shape[0], shape[1]
    return None


def describe(space: gymnasium.Space[Any], path: str = "") -> dict[str, Any]:
    """A space of observations as data, for `layout` and to be compared: its kind, its own bounds (None where it has
    none) and its shape, unless that is clear; or its parts."""
    kinds = gymnasium.spaces
    if isinstance(space, kinds.Discrete):
        return {"kind": "discrete", "low": [float(space.start)], "high": [float(space.start + space.n - 1)]}
    if isinstance(space, kinds.MultiDiscrete):
        return {"kind": "whole", **_numbers(space.start, space.start + space.nvec - 1)}
    if isinstance(space, kinds.MultiBinary):
        return {"kind": "whole", **_numbers(np.zeros(space.shape), np.ones(space.shape))}
    if isinstance(space, kinds.Box) and space.low.size:
        return {"kind": "box", **_numbers(space.low, space.high)}
    if isinstance(space, kinds.Tuple) and space.spaces:
        return {"kind": "tuple", "parts": [describe(part, f"{path}[{i}]") for i, part in enumerate(space.spaces)]}
    if isinstance(space, kinds.Dict) and space.spaces:
        parts = {key: describe(part, f"{path}[{key!r}]") for key, part in space.spaces.items()}
        if not all(isinstance(key, str) for key in parts):
            raise UserError(f"the keys of the observations{path} are {brief(list(parts))}: they must be strings")
        return {"kind": "dict", "keys": list(parts), "parts": list(parts.values())}
    empty = "empty, " if isinstance(space, kinds.Box | kinds.Tuple | kinds.Dict) else ""
    raise UserError(
        f"the observations{path} are {empty}{brief(space)}: only numbers can be read (Box, Discrete, MultiDiscrete, "
        "MultiBinary, Tuple or Dict of them); leave them out, or turn them into numbers, with a wrapper such as "
        "gymnasium.wrappers.FilterObservation or TransformObservation"
    )


def _numbers(low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    """Bounds as data, with their shape unless it is a row."""
    bounds = {name: np.asarray(bound, np.float64).ravel().tolist() for name, bound in (("low", low), ("high", high))}
    finite = {name: [x if np.isfinite(x) else None for x in bound] for name, bound in bounds.items()}
    return finite if low.ndim == 1 else {**finite, "shape": list(low.shape)}


def own_features(layout: Layout, n_actions: int, world: BuiltinEnv | None) -> tuple[str, dict[str, Any] | None]:
    """The features of an environment: those of our world, with their settings, or what its observations ask for, which
    are fitted to them.

    Whole numbers are a state together, which has a feature of its own if there are not too many.
    """
    if world is not None:
        return world.features
    own = leaves(layout)
    dimensions = sum(len(leaf.low) for leaf in own)
    if not all(leaf.whole for leaf in own):
        return fitting(dimensions, n_actions), None
    alone = isinstance(layout, Leaf) and layout.shape == ()
    states = math.prod(int(b) - int(a) + 1 for leaf in own for a, b in zip(leaf.low, leaf.high, strict=True))
    return fitting(dimensions, n_actions, alone or states * n_actions <= ONE_HOT), None


def refuse_blind_optimism(given: Mapping[str, object], facts: Mapping[str, float]) -> None:
    """Refuse to start from the best return where nobody knows it: from 0 an agent need not be optimistic."""
    if given.get("optimistic") == "yes" and "gmax" not in given and "return_max" not in facts:
        raise UserError("optimistic=yes needs the best return of this environment: give it as gmax")
