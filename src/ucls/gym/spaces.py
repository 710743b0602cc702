"""The action and observation spaces of a Gymnasium environment, and default features for them."""

import math
import warnings
from typing import Any

import gymnasium
import numpy as np

from ucls.algorithms import DEFAULT, LEARNED, algorithm_module, most_pairs
from ucls.core.config import brief
from ucls.envs import BuiltinEnv
from ucls.errors import UclsWarning, UserError
from ucls.features import fitting
from ucls.gym.action_masks import is_masked_space, without_mask
from ucls.gym.layout import Layout, Leaf, layout_of, leaves
from ucls.gym.wrapping import is_limit, wrapped_world, wrappers_of

FIXED = 6  # components beyond which no algorithm with fixed features did well in `bench environments`


def with_discrete_actions(env: Any) -> gymnasium.Env[Any, Any]:
    """Return the environment, or refuse it if its actions are not discrete."""
    refuse_none(env)
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        actions = brief(env.action_space)
        wrapped = f"ucls.DiscreteActions(env{', bins=3' if 'Box' in actions else ''})"
        raise UserError(
            f"the action space is {actions}, but only Discrete is supported: wrap the environment, {wrapped}"
        )
    return env


def refuse_none(env: Any) -> None:
    """Refuse objects that are not an environment, or that are a vector of environments."""
    if hasattr(env, "single_action_space"):
        raise UserError(f"{brief(env)} is a vector of environments: give a single one")
    parts = ("action_space", "observation_space", "reset", "step")
    if isinstance(env, type) or not all(hasattr(env, part) for part in parts):
        raise UserError(f"an environment cannot be {brief(env)}: give what gymnasium.make(id) returns, or the id")


def facts_of(env: Any) -> dict[str, float]:
    """The time limit of an environment, if it has one; and all facts of a built-in one, unless a wrapper may change its
    rewards."""
    ours = wrapped_world(env)
    own = {} if ours is None else ours.world.facts()
    changed = any(not is_limit(layer) for layer in wrappers_of(env))
    limits = [own.get("time_limit"), getattr(getattr(env, "spec", None), "max_episode_steps", None)]
    limits += [layer._max_episode_steps for layer in wrappers_of(env) if is_limit(layer)]
    known = [float(limit) for limit in limits if isinstance(limit, int | float) and limit > 0]
    return {**({} if changed else own), **({"time_limit": min(known)} if known else {})}


def id_of(env: Any) -> str:
    """The id of an environment; empty if it is not registered, or None."""
    spec = getattr(env, "spec", None)
    return "" if spec is None else str(spec.id)


def is_gymnasiums_own(id: str) -> bool:
    """Whether an id is that of an environment that comes with Gymnasium, whose code can be trusted."""
    spec = gymnasium.registry.get(id)
    return spec is not None and str(spec.entry_point).startswith("gymnasium.envs.")


def grid_of(env: Any) -> tuple[int, int] | None:
    """The rows and columns of an environment whose discrete states are the cells of a grid, if it declares them."""
    bare = getattr(env, "unwrapped", None)
    for name in ("desc", "shape"):
        shape = getattr(bare, name, None)
        shape = getattr(shape, "shape", shape)
        if isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape):
            return shape[0], shape[1]
    return None


def describe(space: gymnasium.Space[Any], path: str = "") -> dict[str, Any]:
    """An observation space as data, for `layout` and for comparison: its kind, bounds (None if infinite) and shape
    (unless one-dimensional), or its parts. An action mask beside other parts is not one of them."""
    kinds = gymnasium.spaces
    if not path and is_masked_space(space):
        rest = without_mask(space.spaces)  # pyright: ignore[reportAttributeAccessIssue]
        return describe(kinds.Dict(rest) if isinstance(rest, dict) else rest)
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
    """Bounds as data, with their shape unless it is one-dimensional."""
    bounds = {name: np.asarray(bound, np.float64).ravel().tolist() for name, bound in (("low", low), ("high", high))}
    finite = {name: [x if np.isfinite(x) else None for x in bound] for name, bound in bounds.items()}
    return finite if low.ndim == 1 else {**finite, "shape": list(low.shape)}


def advise_on_learned_features(space: gymnasium.Space[Any], layout: Layout, stacklevel: int) -> None:
    """Suggest to learn features, where the default features of an image or of many components are known to fail."""
    own = leaves(layout)
    dimensions = sum(len(leaf.low) for leaf in own)
    if isinstance(space, gymnasium.spaces.Box) and space.dtype == np.uint8 and len(space.shape) >= 2:
        text = (
            f"the observations are images of shape {space.shape}: the default features are cosines of pixels, which "
            "rarely suffice; use the algorithm ucls-deep, which learns features, or give features=function, which "
            "returns what matters in an image"
        )
    elif dimensions > FIXED and not all(leaf.whole for leaf in own):
        text = (
            f"the observations have {dimensions} components: fixed features often fail beyond {FIXED}; the algorithm "
            "ucls-deep learns features"
        )
    else:
        return
    warnings.warn(text, UclsWarning, stacklevel=stacklevel)


def default_algorithm(env: Any) -> str:
    """The algorithm for an environment if none is named: one that learns its features where a table or tiles do not
    suit the observations."""
    ours = wrapped_world(env)
    layout = layout_of(describe(env.observation_space))
    pairs = most_pairs(algorithm_module(DEFAULT))
    features, _ = own_features(layout, int(env.action_space.n), ours and ours.world, pairs)
    return DEFAULT if features in ("one_hot", "tiles") else LEARNED


def own_features(
    layout: Layout, n_actions: int, world: BuiltinEnv | None, most_pairs: int
) -> tuple[str, dict[str, Any] | None]:
    """The default features of an environment: those of a built-in one, with their settings, or others that fit its
    observations.

    Observations of integers only are discrete states. They have one-hot features, those of several integers unless
    there are more than `most_pairs` of state and action.
    """
    if world is not None:
        return world.features
    own = leaves(layout)
    dimensions = sum(len(leaf.low) for leaf in own)
    if not all(leaf.whole for leaf in own):
        return fitting(dimensions, n_actions), None
    alone = isinstance(layout, Leaf) and layout.shape == ()
    states = math.prod(int(b) - int(a) + 1 for leaf in own for a, b in zip(leaf.low, leaf.high, strict=True))
    return fitting(dimensions, n_actions, alone or states * n_actions <= most_pairs), None
