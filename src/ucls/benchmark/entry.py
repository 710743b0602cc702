"""Entries of the benchmark: an algorithm by its name or module, or a factory of objects with `learn` and `predict`."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ucls._util.modules import import_path, is_path
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.errors import UserError
from ucls.kernels.compilation import sources
from ucls.study.declaration import code

ALGORITHM, OBJECT = "algorithm", "object"
LONGEST = 60  # characters of a label


class Entry(NamedTuple):
    """An entry: `name` is what the user gave, `settings` the one setting, `code` a digest of the code behind it."""

    label: str
    name: str
    kind: str
    settings: Mapping[str, Any]
    code: str


def entry_of(name: str, settings: Mapping[str, Any] = {}, label: str | None = None) -> Entry:
    """Return the entry of a name; `module:factory` is an object, anything else an algorithm.

    >>> entry_of("sarsa", {"epsilon": 0.1}).kind
    'algorithm'
    """
    label = name if label is None else label
    if not 0 < len(label) <= LONGEST or not label.isprintable():
        raise UserError(f"--label cannot be {label[:LONGEST]!r}: give 1 to {LONGEST} printable characters")
    if ":" in name:
        factory_of(name)
        if settings:
            raise UserError("--set is for algorithms: a factory has its one setting in its own code")
        return Entry(label, name, OBJECT, {}, code.digest([name.partition(":")[0]]))
    for setting in settings:
        if setting.startswith("env."):
            raise UserError(f"{setting} cannot be set: the benchmark defines the environments")
    module = algorithm_module(name)
    digest = sources.digest(module.__name__) if name in ALGORITHMS else code.digest([module.__name__])
    return Entry(label, name, ALGORITHM, dict(settings), digest or "")


def factory_of(name: str) -> Callable[[Any, int], Any]:
    """The callable of `module:factory`, which takes an environment and a seed."""
    path, _, attribute = name.partition(":")
    if not is_path(path) or not attribute:
        raise UserError(f"{name[:100]!r} cannot be entered: give an algorithm, its module, or module:factory")
    try:
        found = operator.attrgetter(attribute)(import_path(path))
    except AttributeError:
        raise UserError(f"module {path!r} has no {attribute[:100]!r}: name a function of (env, seed)") from None
    if not callable(found):
        raise UserError(f"{name[:100]} cannot be called: name a function of (env, seed) that returns an agent")
    return found
