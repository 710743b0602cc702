"""Check that a run resumes in the same environment: the same name, arguments and wrappers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ucls.envs import ENVIRONMENTS, make_builtin
from ucls.errors import UserError, printable
from ucls.gym.identity import LIMIT, Origin, described_in, in_words, same_inside
from ucls.gym.origin import origin_of, saved_origin
from ucls.gym.registry import is_registered, make_env, versioned
from ucls.gym.spaces import is_gymnasiums_own
from ucls.settings import listed, word_of


def named(name: str, settings: Mapping[str, Any], env: Any) -> Origin:
    """Return the description of an environment that was created by name, with the arguments that were given."""
    return {**(origin_of(env) or {}), "env": name, "settings": dict(settings)}


def refuse_other(about: Mapping[str, Any], now: Origin, source: Path) -> None:
    """Refuse to resume a run in an environment of another name, with other arguments, or in other wrappers."""
    saved = described_in(about)
    if saved is None or not isinstance(saved.get("env"), str):
        return
    if _id(saved["env"]) != _id(now["env"]):
        raise UserError(f"{source} was trained in {in_words(saved)}, not in {now['env']}")
    before = saved.get("settings")
    if isinstance(before, Mapping) and before != now["settings"]:
        words = listed({f"env.{name}": word_of(value) for name, value in before.items()}) or "no env.NAME"
        raise UserError(f"{source} was trained in {now['env']} with {printable(words[:200])}: give the same with --set")
    if not same_inside(saved, now):
        raise UserError(f"{source} was trained in {in_words(saved)}, not in {in_words(now)}")


def recreated(about: Mapping[str, Any]) -> Any:
    """Recreate the environment of a checkpoint; None if that takes more than its id and a time limit.

    Only built-in environments and Gymnasium's own are created: a file must not select other code or its arguments.
    """
    saved = described_in(about)
    if about.get("env") is not None or saved is None:
        return None
    id, settings = saved.get("env"), saved.get("settings") or {}
    known = isinstance(id, str) and isinstance(settings, Mapping) and (id in ENVIRONMENTS or is_gymnasiums_own(id))
    if not known or not _is_safe(str(id), settings):
        return None
    env = make_env(str(id), settings)
    if same_inside(saved, origin_of(env) or {}):
        return env
    env.close()
    return None


def _is_safe(id: str, settings: Mapping[str, Any]) -> bool:
    """Return whether arguments from a file change nothing except the time limit and the settings of a built-in
    environment."""
    limit = settings.get(LIMIT, 1)
    others = {name: value for name, value in settings.items() if name != LIMIT}
    if type(limit) is not int or not (limit == -1 or limit > 0):
        return False
    if id in ENVIRONMENTS:
        make_builtin(id, others)  # which refuses what is none of its settings
        return True
    return not others


def where_saved(about: Mapping[str, Any]) -> str:
    """The environment of a checkpoint in words."""
    return in_words(saved_origin(about))


def _id(name: str) -> str:
    """A name without the module that registers its id, and with a version."""
    id = versioned(name).rpartition(":")[2] if ":" not in name else name.rpartition(":")[2]
    return id if is_registered(id) else name
