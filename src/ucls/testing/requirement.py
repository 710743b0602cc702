"""A requirement, and whether it holds."""

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ucls.core.config import brief
from ucls.errors import UserError, without_notices
from ucls.kernels import dot

SMALL = 50  # numbers that need not be counted as memory: counters and the like


class Requirement(NamedTuple):
    """A requirement in words, and the check that raises a `UserError` if it is violated."""

    words: str
    check: Callable[..., None]


class Verdict(NamedTuple):
    """A requirement in words, and how it is violated; None if it holds."""

    words: str
    broken: UserError | None


def insist(kept: Any, broken: str) -> None:
    """Raise an error that says what is wrong and how to fix it, unless the requirement holds."""
    if not kept:
        raise UserError(broken)


def insist_on_signatures(module: Any, asked: Mapping[str, Any], kernels: Collection[str], fix: str) -> None:
    """Compare the functions of a module with those of its contract; `kernels` names those that must be compiled."""
    for name, member in asked.items():
        function = getattr(module, name, None)
        if name.startswith("_") or not inspect.isfunction(member) or function is None:
            continue
        words = [*inspect.signature(member).parameters][1:]
        plain = getattr(function, "py_func", function)
        insist(_takes(plain, words), f"{name} has other arguments: declare it {name}({', '.join(words)})")
        compiled = name not in kernels or not hasattr(dot, "py_func") or hasattr(function, "py_func")
        insist(compiled, f"{name} is not compiled: {fix}")


def _takes(function: Any, words: list[str]) -> bool:
    try:
        inspect.signature(function).bind(*words)
    except TypeError:
        return False
    return True


def examine(promises: Iterable[Requirement], *subject: Any) -> Iterator[Verdict]:
    """Check requirements one after another; an error of any kind violates the one in which it occurred."""
    for promise in promises:
        try:
            with without_notices():
                promise.check(*subject)
        except UserError as error:
            yield Verdict(promise.words, error)
        except Exception as error:  # third-party code may raise anything
            raised = f"{type(error).__name__}: {brief(_Plain(error), 300)}"
            if type(error).__module__.startswith("numba"):
                raised += " (with NUMBA_DISABLE_JIT=1 it runs as plain Python, whose errors are easier to read)"
            yield Verdict(promise.words, UserError(f"it cannot be checked: fix what raises {raised}"))
        else:
            yield Verdict(promise.words, None)


class _Plain:
    """An error whose `repr` is its message, without colors."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __repr__(self) -> str:
        return re.sub(r"\x1b\[\d*m", "", str(self._error))
