"""The wrappers around a Gymnasium environment: which of them change nothing, and what they contain."""

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
from gymnasium import wrappers

from ucls.envs.gym import BuiltinGymEnv

RECORDERS = (
    wrappers.RecordEpisodeStatistics,
    wrappers.RecordVideo,
    wrappers.HumanRendering,
    wrappers.RenderCollection,
)  # they show or record episodes; a copy for an evaluation has none of them
CHECKERS = (wrappers.OrderEnforcing, wrappers.PassiveEnvChecker)
TRANSPARENT = (*RECORDERS, *CHECKERS)  # by exact class: a subclass may do anything
NORMALIZERS = (wrappers.NormalizeObservation, wrappers.NormalizeReward)


def layers(env: Any) -> Iterator[Any]:
    """Return an environment from the outside in: its wrappers, and last the environment itself."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def wrappers_of(env: Any) -> list[Any]:
    """The wrappers that may change an environment, the innermost first."""
    around = [layer for layer in layers(env) if isinstance(layer, gymnasium.Wrapper)]
    return [layer for layer in reversed(around) if type(layer) not in TRANSPARENT]


def own_builtin(env: Any) -> BuiltinGymEnv | None:
    """The built-in environment that this is, if no wrapper around it changes anything."""
    inside = list(layers(env))[-1]
    return inside if type(inside) is BuiltinGymEnv and not wrappers_of(env) else None


def wrapped_world(env: Any) -> BuiltinGymEnv | None:
    """The built-in environment in any wrappers that leave its observation space as it is."""
    inside = getattr(env, "unwrapped", None)
    return inside if isinstance(inside, BuiltinGymEnv) and inside.observation_space == env.observation_space else None


def made_limit(env: Any) -> Any:
    """Return the time limit that `gymnasium.make` put around an environment: the innermost wrapper that changes
    anything."""
    first = next(iter(wrappers_of(env)), None)
    return first if is_limit(first) else None


def is_limit(wrapper: Any) -> bool:
    """Whether a wrapper is Gymnasium's time limit."""
    return type(wrapper) is wrappers.TimeLimit


def without_recorders(env: Any) -> Any:
    """The same environment without wrappers that show or record episodes; what they wrap is shared."""
    if not isinstance(env, gymnasium.Wrapper):
        return env
    inside = without_recorders(env.env)
    if type(env) in RECORDERS:
        return inside
    if inside is env.env:
        return env
    again = copy.copy(env)
    again.env = inside
    return again


def normalizers_of(env: Any) -> list[Any]:
    """The wrappers that keep running statistics across episodes, the outermost first."""
    return [layer for layer in layers(env) if isinstance(layer, NORMALIZERS)]


def freeze_normalizers(env: Any, like: Any) -> None:
    """Give the normalizing wrappers of a copy the statistics of the original, and freeze them."""
    for own, other in zip(normalizers_of(env), normalizers_of(like), strict=False):
        for name in ("obs_rms", "return_rms"):
            if hasattr(other, name):
                setattr(own, name, copy.deepcopy(getattr(other, name)))
        own.update_running_mean = False


def arguments_of(wrapper: Any) -> dict[str, Any] | None:
    """Return the arguments that a wrapper was created with; None if it does not record them."""
    saved = getattr(wrapper, "_saved_kwargs", None)
    return {name: value for name, value in saved.items() if name != "env"} if isinstance(saved, dict) else None
