"""The description of an environment as data: comparison of two descriptions, and their form in one line."""

import json
import math
from collections.abc import Mapping
from typing import Any

from ucls.errors import printable

LONGEST = 200  # characters of a description in a message
LIMIT = "max_episode_steps"
DEEPEST = 20  # levels of a description in a file

# {"env": name, "settings": {...}}; "wrappers", innermost first, if there are any; "entry_point" if that is not what the
# id is registered with; of a factory, "returns": what it returned, described in the same way.
Origin = dict[str, Any]


def described_in(about: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the description of an external environment in a checkpoint, if there is one; a file may contain
    anything."""
    named = about.get("named")
    return named if isinstance(named, Mapping) and _is_flat(named, DEEPEST) else None


def _is_flat(value: Any, levels: int) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return not parts or (levels > 0 and all(_is_flat(part, levels - 1) for part in parts))


def innermost(origin: Any) -> str | None:
    """Return the id of the registered environment inside a factory and wrappers, if the description has it."""
    for _ in range(10):
        if not isinstance(origin, Mapping):
            return None
        if "returns" not in origin:
            break
        origin = origin["returns"]
    id = origin.get("env") if isinstance(origin, Mapping) else None
    return id if isinstance(id, str) else None


def is_same(saved: Any, now: Origin | None) -> bool:
    """Return whether two descriptions agree; if nothing is known of the saved one, it agrees with everything.

    Earlier versions saved only the names of wrappers, and nothing of what a factory returned.
    """
    if not isinstance(saved, Mapping):
        return True
    after = now or {"env": None}
    if "returns" in saved and "returns" in after:
        names = saved.get("env"), after["env"]
    else:
        saved, after = _without_factory(saved), _without_factory(after)
        names = tuple(str(each.get("env")).rpartition(":")[2] for each in (saved, after))
    same = names[0] == names[1] and equal(saved.get("settings") or {}, after.get("settings") or {})
    return same and same_inside(saved, after)


def _without_factory(origin: Mapping[str, Any]) -> dict[str, Any]:
    """The description of what a factory returned, and what was put around it."""
    if "returns" not in origin:
        return dict(origin)
    inside = origin["returns"] if isinstance(origin["returns"], Mapping) else {"env": None}
    parts = [each.get("wrappers") for each in (inside, origin)]
    return {**inside, "wrappers": [wrapper for part in parts if isinstance(part, list) for wrapper in part]}


def same_inside(saved: Mapping[str, Any], now: Origin) -> bool:
    """Return whether two descriptions agree in everything except the name and the arguments."""
    before, after = saved.get("wrappers") or [], now.get("wrappers", [])
    if before and isinstance(before, list) and all(isinstance(each, str) for each in before):
        after = [each["name"] for each in after]
    if "returns" in saved and not equal(saved["returns"], now.get("returns")):
        return False
    return equal(before, after) and equal(saved.get("entry_point"), now.get("entry_point"))


def in_words(origin: Any, longest: int = LONGEST) -> str:
    """A description as one short line."""
    if not isinstance(origin, Mapping):
        return "an environment that is not registered"
    name, wrappers = origin.get("env") or "an environment that is not registered", origin.get("wrappers")
    text = f"{name}{_bracketed(origin.get('settings'))}"
    if wrappers and isinstance(wrappers, list):
        text += f" in {', '.join(map(wrapper_in_words, wrappers))}"
    if isinstance(origin.get("returns"), Mapping) and "returns" not in origin["returns"]:
        text += f", which returns {in_words(origin['returns'])}"
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def wrapper_in_words(wrapper: Any) -> str:
    """A wrapper with its arguments, and with its module unless it is Gymnasium's."""
    if not isinstance(wrapper, Mapping):
        return str(wrapper)
    module = str(wrapper.get("module", ""))
    prefix = "" if module.startswith(("gymnasium.", "ucls.")) or not module else f"{module}."
    settings = wrapper.get("settings")
    return f"{prefix}{wrapper.get('name')}{_bracketed(settings)}"


def is_data(value: Any) -> bool:
    """Return whether a described argument is the argument itself, and not words for what is no data."""
    if isinstance(value, str):
        return not value.startswith("<")
    if isinstance(value, list):
        return all(map(is_data, value))
    if isinstance(value, Mapping):
        return all(map(is_data, value.values()))
    return value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def _bracketed(settings: Any) -> str:
    if not settings or not isinstance(settings, Mapping):
        return ""
    return f"({', '.join(f'{name}={value}' for name, value in sorted(settings.items()))})"


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same data."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
