"""The card beside a saved agent: what it is, where it learned, how well it does, and how to load it.

The same agent has the same card, wherever it is saved: nothing in it tells of the machine or of the person.
"""

import platform
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ucls
from ucls._util.files import write_atomic
from ucls.agent.episode_log import Last
from ucls.agent.recipe import recipe
from ucls.errors import UclsWarning, printable
from ucls.gym.identity import described_in, in_words, wrapper_in_words
from ucls.stats import summarize
from ucls.stats.summary import interval_in_words

MARK = "<!-- a card of ucls, written anew whenever the agent is saved -->"
LONGEST = 5000  # characters of a line of the table
PACKAGES = ("numpy", "numba", "gymnasium")


def beside(path: Path) -> Path:
    """Return the path of the card of a saved agent."""
    return path.with_suffix(".card.md")


def is_ours(path: Path) -> bool:
    """Return whether a file is a model card."""
    try:
        if not path.is_file():  # a pipe would keep us waiting
            return False
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK.encode()
    except OSError:
        return False


def write(path: Path, about: Mapping[str, Any], last: Last, claimed: bool = False) -> None:
    """Write the card of a saved agent; if that fails, warn, because the agent itself is saved.

    `claimed` says that the environment is known only from a file: code that creates it is then written only for
    ids that are registered here.
    """
    card = beside(path)
    if card.exists() and not is_ours(card):
        warnings.warn(f"{card} was not written by ucls: the agent is saved without a card", UclsWarning, stacklevel=3)
        return
    try:
        text = text_of(about, last, path.name, claimed)
        write_atomic(card, lambda file: file.write_text(text, encoding="utf-8", newline="\n"))
    except OSError as error:
        warnings.warn(f"the agent is saved without its card: {error.strerror or error}", UclsWarning, stacklevel=3)


def text_of(about: Mapping[str, Any], last: Last, file: str, claimed: bool = False) -> str:
    """Return the card for the description in a checkpoint and the last episodes."""
    plan, name = about["plan"], _origin(about).get("env")
    title = f"{plan['agent']} in {name or 'an environment of its own'}"
    lines = [MARK, f"# {escaped(title)}", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {escaped(value)} |" for key, value in facts_of(about, last)]
    lines += ["", "To load it:", "", "```python", *recipe(about, _origin(about), file, claimed), "```", ""]
    return "\n".join(lines)


def facts_of(about: Mapping[str, Any], last: Last) -> Iterator[tuple[str, str]]:
    """The lines of the table of a card."""
    plan, origin = about["plan"], _origin(about)
    settings = dict(sorted((origin.get("settings") or {}).items()))
    yield "environment", f"{origin.get('env') or 'not registered'}{', ' * bool(settings)}{_words(settings)}"
    if origin.get("returns") is not None:
        yield "which returns", in_words(origin["returns"], LONGEST)
    if origin.get("wrappers"):
        yield "in wrappers", ", ".join(map(wrapper_in_words, origin["wrappers"]))
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
    mean, low, high, *_ = summarize(last.returns)  # of those that are sound numbers
    if mean is not None and low is not None and high is not None:
        episodes = f"the last {many} episodes" if many > 1 else "the only episode"
        yield "return", f"{mean:.6g} on average, {interval_in_words(low, high)}, in {episodes}"
    yield "length", f"{last.lengths.mean():.6g} steps on average"


def _origin(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of the environment in its expected form; an untrusted file may contain anything."""
    if about.get("env"):
        return {"env": str(about["env"]), "settings": dict(about.get("env_settings", {}))}
    named = described_in(about) or {}
    forms = {"env": str, "settings": Mapping, "wrappers": list, "returns": Mapping | None, "entry_point": str}
    known = {part: named[part] for part, form in forms.items() if part in named and isinstance(named[part], form)}
    words = all(isinstance(word, str) and word.isidentifier() for word in known.get("settings", {}))
    return known if words and re.fullmatch(r"[\w./:-]{0,100}", known.get("env", "")) else {}


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def escaped(text: str) -> str:
    """Return text in one line that Markdown shows literally: without links, pictures, headings, emphasis or HTML.

    >>> print(escaped("[a](b) | <b> _x_ max_steps=3"))
    \\[a\\](b) \\| &lt;b&gt; \\_x\\_ max_steps=3
    """
    line = printable(" ".join(str(text)[:LONGEST].split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*\[\]|!#~$])", r"\\\1", line)
    line = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", line)
    line = re.sub(r":(?=//)", r"\\:", line)  # addresses are links by themselves
    return re.sub(r"(?i)(?<=www)\.", r"\\.", line).replace("@", "@&#8203;")
