"""Open a run by names: compiled in a built-in environment, through Gymnasium's API in any other."""

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from ucls.algorithms import DEFAULT
from ucls.core.config import Plan
from ucls.core.protocol import AnyRun
from ucls.core.run import make_run, plan_run
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.settings import divided

Bound = Sequence[float | None] | None


class Outline(NamedTuple):
    """The configuration of a run: its plan, and the settings of its environment.

    For a third-party environment the settings are the keyword arguments that were given, and `low` and `high` the
    bounds that were given or estimated from random steps; `action_masks` says whether it has masks.
    """

    plan: Plan
    env_settings: dict[str, Any]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    action_masks: bool = False


def open_run(
    env: str,
    agent: str | None,
    *,
    seed: int = 0,
    settings: Mapping[str, Any] = {},
    features: str | None = None,
    dtype: str = "float64",
    low: Bound = None,
    high: Bound = None,
    discount: float | None = None,
) -> AnyRun:
    """Begin a run; `low`, `high` and `discount` are for third-party environments only.

    Without an algorithm it is the default one.
    """
    asked: dict[str, Any] = {"seed": seed, "settings": settings, "features": features, "dtype": dtype}
    if env in ENVIRONMENTS:
        _refuse_around(low, high, discount)
        return make_run(env, DEFAULT if agent is None else agent, **asked)
    from ucls.agent.agent import Agent

    return Agent(env, agent, low=low, high=high, discount=discount, **asked)


def _refuse_around(low: Bound, high: Bound, discount: float | None) -> None:
    if not (low is None and high is None and discount is None):
        raise UserError(
            "low, high and discount are for third-party environments: remove them, built-in ones define their own",
            "low",
        )


def plan_anywhere(
    env: str,
    agent: str,
    *,
    settings: Mapping[str, Any] = {},
    features: str | None = None,
    dtype: str = "float64",
    low: Bound = None,
    high: Bound = None,
    discount: float | None = None,
) -> Outline:
    """Resolve every setting of a run.

    Missing bounds are estimated once, with seed 0, so that runs of all seeds share them.
    """
    if env in ENVIRONMENTS:
        _refuse_around(low, high, discount)
        world, resolved = plan_run(env, agent, settings=settings, features=features, dtype=dtype)
        return Outline(resolved.plan, world.settings)
    from ucls.agent.build import configure

    own = divided(settings)[1]
    words = json.dumps(own, sort_keys=True)
    low, high = _bounds(env, words, _fixed(low), _fixed(high))
    made = configure(env, agent, 0, discount, features, low or None, high or None, dtype, {"settings": settings})
    _close(made.env)
    return Outline(made.resolved.plan, own, low, high, _has_masks(env, words))


@functools.lru_cache(maxsize=256)
def _has_masks(env: str, settings: str) -> bool:
    """Whether an environment has action masks, by its first reset."""
    from ucls.gym import action_masks, registry

    made = registry.make_env(env, json.loads(settings))
    try:
        return action_masks.has_masks(made)
    finally:
        _close(made)


@functools.lru_cache(maxsize=256)
def _bounds(env: str, settings: str, low: Bound, high: Bound) -> tuple[tuple[float | None, ...], ...]:
    """Return the bounds that the environment does not define: given ones, or else estimated from random steps."""
    from ucls.gym import bounds, layout, registry, spaces

    made = spaces.with_discrete_actions(registry.make_env(env, json.loads(settings)))
    try:
        shown = layout.layout_of(spaces.describe(made.observation_space))
        missing = bounds.given_bounds(shown, low, high).missing
        if not missing.any():
            return tuple(low or ()), tuple(high or ())
        found = bounds.bounds_of(made, shown, low, high, seed=0)
    finally:
        _close(made)
    given = [bound or (None,) * len(missing) for bound in (low, high)]
    sides = zip(found, given, strict=True)
    return tuple(tuple(a if m else b for a, b, m in zip(*side, missing, strict=True)) for side in sides)


def _fixed(bound: Bound) -> Bound:
    """Bounds as a comparable tuple, with None for missing values."""
    return None if bound is None else tuple(None if x is None or math.isnan(x) else float(x) for x in bound)


@contextmanager
def closed_after(run: AnyRun) -> Iterator[None]:
    """Close the third-party environment of a run at the end."""
    try:
        yield
    finally:
        _close(getattr(run, "env", None))


def _close(env: Any) -> None:
    if hasattr(env, "close"):
        with suppress(Exception):  # third-party code, and nothing depends on it any more
            env.close()
