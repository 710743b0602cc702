"""Building an agent: from the arguments of `Agent`, or from the content of a file."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ucls._util.randomness import drawn, spawn
from ucls.algorithms import DEFAULT, algorithm_module, most_pairs
from ucls.core.advice import advise_on_cost
from ucls.core.config import Resolved, Saved, checked_discount, choose, whole
from ucls.core.learner import Learner, saved_learner
from ucls.envs import ENVIRONMENTS, BuiltinEnv, make_builtin
from ucls.errors import UserError
from ucls.features import PRECOMPUTED, is_discrete, is_precomputed, needs_bounds
from ucls.gym import observations, registry, spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.bounds import bounds_of, with_room
from ucls.gym.feature_functions import reader_of, saved_reader
from ucls.gym.identity import described_in, in_words, innermost
from ucls.gym.layout import layout_of
from ucls.gym.wrapping import wrapped_world
from ucls.kernels.ranges import STEPS


class Parts(NamedTuple):
    """The parts of an agent; a discount of None means the environment's own."""

    learner: Learner
    stage: EnvAdapter
    discount: float | None


class Configured(NamedTuple):
    """An agent that is not built yet: its configuration, its environment, how that is read, and the discount."""

    resolved: Resolved
    env: Any
    reader: Any
    discount: float | None


def configure(
    env: Any,
    agent: str | ModuleType | None,
    seed: int | None,
    discount: float | None,
    features: Any,
    low: Any,
    high: Any,
    dtype: str,
    settings: Mapping[str, Any],
) -> Configured:
    """Configure an agent by the arguments of `Agent`; a named environment is created."""
    env, settings = registry.open_env(env, {**settings, **settings.get("settings", {})})
    settings.pop("settings", None)
    env = spaces.with_discrete_actions(env)
    if agent is None:
        agent = DEFAULT if features is not None else spaces.default_algorithm(env)
    algorithm: Any = algorithm_module(agent)
    if "gamma" in settings and discount is None and "gamma" not in algorithm.Settings._fields:
        discount = settings.pop("gamma")
    n_actions, ours, facts = int(env.action_space.n), wrapped_world(env), spaces.facts_of(env)
    seed = whole("seed", drawn() if seed is None else seed, 0, 2**128)
    reader = reader_of(features, env, spawn(seed).world)
    if reader is None:
        layout = layout_of(spaces.describe(env.observation_space))
        own = spaces.own_features(layout, n_actions, ours and ours.world, most_pairs(algorithm))
        chosen = choose(algorithm, own, settings, features)
        if features is None and not hasattr(algorithm, "FEATURES") and ours is None:
            spaces.advise_on_learned_features(env.observation_space, layout, stacklevel=4)
        bounds = bounds_of(env, layout, low, high, seed, needs_bounds(chosen.module))
        bounds = bounds if is_discrete(chosen.module) else with_room(*bounds)
    else:
        chosen = choose(algorithm, (PRECOMPUTED, {}), settings, PRECOMPUTED)
        bounds = reader.bounds(low, high)
    resolved = chosen.plan(bounds, n_actions, facts, seed, dtype)
    return Configured(resolved, env, reader, checked_discount(discount))


def assemble(configured: Configured) -> Parts:
    """Build an agent."""
    resolved, env, reader, discount = configured
    learner = Learner(resolved)
    advise_on_cost(learner, stacklevel=4)
    return Parts(learner, EnvAdapter(env, learner.plan, is_discrete(learner.features), reader=reader), discount)


def reassemble(
    saved: Saved,
    about: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    env: Any,
    algorithm: Any,
    features: Any,
) -> Parts:
    """Build the agent of a file, still untrained; without `env` in its own environment if that is built in."""
    if env is None and saved.env is not None:
        make_builtin(
            saved.env, saved.env_settings
        )  # refuses ids that are not built in: Gymnasium would import code for them
        env = registry.make_env(saved.env, saved.env_settings)
    elif env is None and innermost(described_in(about)) in ENVIRONMENTS:
        where = in_words(described_in(about))
        raise UserError(f"the agent learned in {where}: give this environment again, env=... or --env module:factory")
    if env is not None:
        env = spaces.with_discrete_actions(registry.as_env(env))
        own = None if is_precomputed(saved.plan.features) else spaces.describe(env.observation_space)
        observations.check_fit(env.action_space, own, saved.plan, about.get("space"))
    reader = saved_reader(saved.plan, features, env)
    first_action = whole("the first action", about.get("first_action", 0), -STEPS)
    learner = saved_learner(saved.plan, algorithm, arrays, features)
    masked = about.get("action_masks") is True
    stage = EnvAdapter(
        env, learner.plan, is_discrete(learner.features), about.get("space"), first_action, reader, masked
    )
    return Parts(learner, stage, saved.discount)


def in_saved_world(world: BuiltinEnv | None, saved: Saved) -> bool:
    """Return whether a built-in environment is that of a checkpoint, with the same settings."""
    return world is not None and world.id == saved.env and world == make_builtin(world.id, saved.env_settings)
