"""The card beside a saved agent: what it is, where it learned, how well it does, and how to load it.

The same agent has the same card, wherever it is saved: nothing in it tells of the machine or of the person.
"""

import json
import platform
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ucls
from ucls._files import write_atomic
from ucls.algorithms import ALGORITHMS
from ucls.errors import Notice
from ucls.features import FEATURES
from ucls.runs.diary import Last
from ucls.runs.mapped import GIVEN
from ucls.stats import summarise
from ucls.stats.summary import interval_in_words

MARK = "<!-- a card of ucls, written anew whenever the agent is saved -->"
PACKAGES = ("numpy", "numba", "gymnasium")


def beside(path: Path) -> Path:
    """Where the card of a saved agent is."""
    return path.with_suffix(".card.md")


def is_ours(path: Path) -> bool:
    """Whether a file is a card."""
    try:
        if not path.is_file():  # a pipe would keep us waiting
            return False
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK.encode()
    except OSError:
        return False


def write(path: Path, about: Mapping[str, Any], last: Last) -> None:
    """Write the card of an agent that was saved; one that cannot be is missed by a notice, not by the agent."""
    card = beside(path)
    if card.exists() and not is_ours(card):
        warnings.warn(f"{card} is no card of ours and stays: the agent is saved without one", Notice, stacklevel=3)
        return
    try:
        text = text_of(about, last, path.name)
        write_atomic(card, lambda file: file.write_text(text, encoding="utf-8", newline="\n"))
    except OSError as error:
        warnings.warn(f"the agent is saved without its card: {error.strerror or error}", Notice, stacklevel=3)


def text_of(about: Mapping[str, Any], last: Last, file: str) -> str:
    """The card of what a checkpoint says of itself, and of its last episodes."""
    plan, name = about["plan"], _environment(about)[0]
    lines = [MARK, f"# {plan['agent']} in {name or 'an environment of its own'}", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {_cell(value)} |" for key, value in _facts(about, last)]
    lines += ["", "To load it:", "", "```python", *_recipe(about, file), "```", ""]
    return "\n".join(lines)


def _facts(about: Mapping[str, Any], last: Last) -> Iterator[tuple[str, str]]:
    plan, (name, settings, wrappers) = about["plan"], _environment(about)
    yield "environment", f"{name or 'not registered'}{', ' * bool(settings)}{_words(settings)}"
    if wrappers:
        yield "in wrappers", ", ".join(wrappers)
    yield "agent", plan["agent"]
    yield "its settings", _words(plan["settings"]) or "none"
    yield "features", ", ".join(filter(None, (plan["features"], _words(plan["feature_settings"]))))
    yield "observed numbers", "; ".join(f"{a:.6g} to {b:.6g}" for a, b in zip(plan["low"], plan["high"], strict=True))
    yield "actions", str(plan["n_actions"])
    yield "discount", "the environment's own, or 0.99" if about.get("discount") is None else f"{about['discount']:g}"
    yield "numbers", plan["dtype"]
    yield "seed", str(plan["seed"])
    yield "steps", f"{about['steps']:,}"
    yield from _success(last)
    versions = [f"ucls {ucls.__version__}", f"Python {platform.python_version()}"]
    yield "made with", ", ".join(versions + [f"{package} {version(package)}" for package in PACKAGES])


def _success(last: Last) -> Iterator[tuple[str, str]]:
    many = len(last.returns)
    if not many:
        yield "episodes", "none finished"
        return
    mean, low, high, *_ = summarise(last.returns)  # of those that are sound numbers
    if mean is not None and low is not None and high is not None:
        episodes = f"the last {many} episodes" if many > 1 else "the only episode"
        yield "return", f"{mean:.6g} on average, {interval_in_words(low, high)}, in {episodes}"
    yield "length", f"{last.lengths.mean():.6g} steps on average"


def _environment(about: Mapping[str, Any]) -> tuple[str, dict[str, Any], list[str]]:
    """Its name, its settings and its wrappers; what a file says of one that is not ours may be anything."""
    if about.get("env"):
        return about["env"], dict(about.get("env_settings", {})), []
    named = about.get("named")
    named = named if isinstance(named, Mapping) else {}
    name, settings, wrappers = (named.get(part) for part in ("env", "settings", "wrappers"))
    settings = settings if isinstance(settings, Mapping) else {}
    wrappers = wrappers if isinstance(wrappers, list) else []
    sound = isinstance(name, str) and re.fullmatch(r"[\w./:-]{1,100}", name)
    if not sound or not all(isinstance(word, str) and word.isidentifier() for word in [*settings, *wrappers]):
        return "", {}, []
    return str(name), dict(settings), wrappers


def _recipe(about: Mapping[str, Any], file: str) -> list[str]:
    agent, (name, settings, wrappers) = about["plan"]["agent"], _environment(about)
    ours, own = bool(about.get("env")), agent not in ALGORITHMS
    agent = agent if re.fullmatch(r"[\w.]+", agent) else "your_module"
    lines = ["import ucls"]
    more = ""
    if not ours:
        simple = bool(name) and not settings and not wrappers
        more = f", {json.dumps(name)}" if simple else ", env"
        if name and not simple:
            arguments = "".join(f", {key}={value!r}" for key, value in settings.items())
            lines = ["import gymnasium", "import ucls", f"env = gymnasium.make({json.dumps(name)}{arguments})"]
            if ":" in name:
                module, _, factory = name.partition(":")
                lines = [f"import {module}", "import ucls", f"env = {module}.{factory}({arguments[2:]})"]
        elif not name:
            lines += ["env = ...  # your own"]
        lines += [f"# and put it in {', '.join(wrappers)}"] if wrappers else []
    if own:
        lines, more = [f"import {agent}", *lines], f"{more}, algorithm={agent}"
    if (features := about["plan"]["features"]) == GIVEN or features not in FEATURES:
        lines, more = [*lines, "features = ...  # your own"], f"{more}, features=features"
    lines.append(f"agent = ucls.Agent.load({json.dumps(file)}{more})")
    return [*lines, "action, _ = agent.predict(observation, deterministic=True)"]


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
