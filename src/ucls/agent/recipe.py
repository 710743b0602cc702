"""The code that loads a saved agent, for its model card."""

import json
import keyword
import re
import sys
from collections.abc import Mapping
from typing import Any

from ucls._util.modules import is_path
from ucls.algorithms import ALGORITHMS
from ucls.envs import ENVIRONMENTS
from ucls.features import FEATURES, is_precomputed
from ucls.gym.identity import LIMIT, is_data

UNKNOWN = "env = ...  # the environment that it learned in"


def recipe(about: Mapping[str, Any], origin: Mapping[str, Any], file: str, claimed: bool) -> list[str]:
    """Return code that loads an agent and uses it; `claimed` says that its environment is known only from a file."""
    agent, more = about["plan"]["agent"], ""
    lines = ["import ucls"]
    if not about.get("env"):
        lines, more = _environment(origin, claimed)
    if agent not in ALGORITHMS:
        known = _is_importable(agent) and agent in sys.modules
        first, more = f"import {agent}" if known else "", f"{more}, algorithm={agent if known else 'algorithm'}"
        lines = [first, *lines] if known else [*lines, "algorithm = ...  # your own module"]
    if is_precomputed(features := about["plan"]["features"]) or features not in FEATURES:
        lines, more = [*lines, "features = ...  # your own"], f"{more}, features=features"
    lines.append(f"agent = ucls.Agent.load({_literal(file)}{more})")
    return [*lines, "action, _ = agent.predict(observation, deterministic=True)"]


def _environment(origin: Mapping[str, Any], claimed: bool) -> tuple[list[str], str]:
    """Return code that creates an environment, and the argument of `load` for it."""
    name, settings, wrappers = str(origin.get("env", "")), origin.get("settings", {}), origin.get("wrappers", [])
    module, colon, path = name.rpartition(":")
    made = bool(colon) and "returns" in origin
    if not _is_known(origin, module, path, claimed):
        return ["import ucls", UNKNOWN], ", env"
    if not settings and not wrappers:
        return ["import ucls"], f", {_literal(name)}"
    arguments = [f"{key}={value!a}" for key, value in settings.items()]
    if made:
        lines = [f"import {module}", "import ucls", f"env = {name.replace(':', '.')}({', '.join(arguments)})"]
    else:
        lines = ["import gymnasium", "import ucls", f"env = gymnasium.make({', '.join([_literal(name), *arguments])})"]
    names = [str(each.get("name")) if isinstance(each, Mapping) else str(each) for each in wrappers]
    names = [each if each.isidentifier() else "a wrapper of your own" for each in names]
    return lines + ([f"# and put it in {', '.join(names)}"] if names else []), ", env"


def _is_known(origin: Mapping[str, Any], module: str, path: str, claimed: bool) -> bool:
    """Return whether code can be written that creates an environment; one that only a file names needs a registered
    id."""
    settings = origin.get("settings", {})
    if not all(map(_is_importable, settings)) or not is_data(settings) or origin.get("entry_point"):
        return False
    if claimed:
        only_limit = not set(settings) - {LIMIT} and type(settings.get(LIMIT, 0)) is int
        return not module and is_id(path) and only_limit and not origin.get("wrappers")
    importable = not module or (_is_importable(module) and module != "__main__")
    return importable and (_is_importable(path) if module and "returns" in origin else is_id(path))


def is_id(name: str) -> bool:
    """Return whether a text is a registered id, of a built-in environment or in Gymnasium."""
    from ucls.gym.registry import is_registered

    return bool(re.fullmatch(r"[A-Za-z0-9_./-]{1,100}", name)) and (name in ENVIRONMENTS or is_registered(name))


def _is_importable(path: str) -> bool:
    words = path.split(".")
    return is_path(path) and path.isascii() and not any(keyword.iskeyword(word) for word in words)


def _literal(text: str) -> str:
    return json.dumps(text) if text.isascii() else ascii(text)
