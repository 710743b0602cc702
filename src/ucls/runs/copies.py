"""Another environment like the one an agent is in, so that looking on leaves the agent's own episode alone."""

from dataclasses import replace
from typing import Any

from ucls.errors import UserError
from ucls.runs.naming import made_as, make_env
from ucls.runs.origin import WATCHERS


def copy_of(env: Any, render_mode: str | None = None) -> Any:
    """Make an environment anew, by its name or from what Gymnasium knows of it: its id, its arguments, its wrappers."""
    if env is None:
        raise UserError("the agent has no environment to be evaluated in: give one, env=...")
    if made := made_as(env):
        return make_env(made[0], {**made[1], **({} if render_mode is None else {"render_mode": render_mode})})
    spec = getattr(env, "spec", None)
    if spec is None:
        raise UserError(
            f"no copy can be made of {type(env).__name__}, which Gymnasium has not registered: give one, env=..."
        )
    wrappers = tuple(wrapper for wrapper in spec.additional_wrappers if wrapper.name not in WATCHERS)
    mode = {"render_mode": render_mode} if spec.kwargs.get("render_mode") != render_mode else {}
    try:
        return replace(spec, additional_wrappers=wrappers).make(**mode)
    except Exception as error:  # whatever an environment or a wrapper of a stranger raises
        why = " ".join(str(error).split())[:200]
        raise UserError(f"no copy can be made of {spec.id}, give one, env=...: {why}") from None


def shares(env: Any, own: Any) -> bool:
    """Whether steps in `env` are steps in the agent's own environment."""
    if env is None or own is None:
        return False
    members = [env, *(getattr(env, "envs", None) or ())]
    return any(getattr(each, "unwrapped", each) is getattr(own, "unwrapped", own) for each in members)
