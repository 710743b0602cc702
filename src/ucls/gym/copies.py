"""Copies of an agent's environment, for evaluation and maps without touching the agent's own episode."""

import copy
from dataclasses import replace
from typing import Any

from ucls.errors import UserError, printable
from ucls.gym import wrapping
from ucls.gym.origin import origin_of
from ucls.gym.registry import made_as, make_env

RECORDERS = tuple(kind.__name__ for kind in wrapping.RECORDERS)


def copy_of(env: Any, render_mode: str | None = None) -> Any:
    """Copy an environment: by its factory, from its Gymnasium specification, or else as a deep copy.

    Wrappers that record episodes are left out; the statistics of those that normalize are copied and then stay fixed.
    """
    if env is None:
        raise UserError("the agent has no environment to be evaluated in: give one, env=...")
    if made := made_as(env):
        again = make_env(made[0], {**made[1], **({} if render_mode is None else {"render_mode": render_mode})})
    else:
        again = _from_spec(env, render_mode) or _deep_copy(env, render_mode)
    wrapping.freeze_normalizers(again, env)
    return again


def _from_spec(env: Any, render_mode: str | None) -> Any:
    """The environment that Gymnasium makes by the same specification; None if it cannot, or makes another one."""
    spec = getattr(env, "spec", None)
    if spec is None:
        return None
    wrappers = tuple(wrapper for wrapper in spec.additional_wrappers if wrapper.name not in RECORDERS)
    mode = {"render_mode": render_mode} if spec.kwargs.get("render_mode") != render_mode else {}
    try:
        again = replace(spec, additional_wrappers=wrappers).make(**mode)
    except Exception:  # whatever an environment or a wrapper raises, one that does not tell its arguments among them
        return None
    if origin_of(again) == origin_of(env):
        return again
    again.close()
    return None


def _deep_copy(env: Any, render_mode: str | None) -> Any:
    """Return a deep copy that shares no mutable part with the original, as far as known."""
    name, bare = printable(type(getattr(env, "unwrapped", env)).__name__)[:100], wrapping.without_recorders(env)
    try:
        again = copy.deepcopy(bare)
    except Exception as error:  # open files, windows, and whatever else cannot be copied
        why = printable(" ".join(str(error).split())[:200]) or type(error).__name__
        raise UserError(f"{name} cannot be copied, give an environment, env=...: {why}") from None
    if _overlap(again, bare):
        raise UserError(f"{name} cannot be copied, because copies share their state: give an environment, env=...")
    if render_mode is not None and getattr(again, "render_mode", None) != render_mode:
        _set_render_mode(again, render_mode)
    return again


def _overlap(one: Any, other: Any) -> bool:
    """Whether two environments have a layer or a generator in common."""
    pairs = zip(wrapping.layers(one), wrapping.layers(other), strict=True)
    return any(a is b or _generator(a) is _generator(b) is not None for a, b in pairs)


def _generator(layer: Any) -> Any:
    return getattr(layer, "__dict__", {}).get("_np_random")


def _set_render_mode(env: Any, render_mode: str) -> None:
    """Make a copy render images, if its environment supports it."""
    base = list(wrapping.layers(env))[-1]
    metadata = getattr(base, "metadata", None)
    if isinstance(metadata, dict) and render_mode in (metadata.get("render_modes") or ()):
        try:
            base.render_mode = render_mode
        except Exception:  # an attribute that cannot be set: the caller then finds that it renders no images
            return


def shares(env: Any, own: Any) -> bool:
    """Return whether steps in `env` are steps in the agent's own environment."""
    if env is None or own is None:
        return False
    members = [env, *(getattr(env, "envs", None) or ())]
    return any(getattr(each, "unwrapped", each) is getattr(own, "unwrapped", own) for each in members)
