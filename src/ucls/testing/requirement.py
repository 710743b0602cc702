"""A promise, and whether it is kept."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ucls.core.config import brief
from ucls.errors import UserError, without_notices


class Requirement(NamedTuple):
    """What is promised, in words, and the check that raises a `UserError` where it is broken."""

    words: str
    check: Callable[..., None]


class Verdict(NamedTuple):
    """A promise in words, and how it is broken; None if it is kept."""

    words: str
    broken: UserError | None


def insist(kept: Any, broken: str) -> None:
    """Say what is broken, and how to mend it, unless the promise is kept."""
    if not kept:
        raise UserError(broken)


def examine(promises: Iterable[Requirement], *subject: Any) -> Iterator[Verdict]:
    """Check promises one after another; an error of any kind breaks the one that it came up in."""
    for promise in promises:
        try:
            with without_notices():
                promise.check(*subject)
        except UserError as error:
            yield Verdict(promise.words, error)
        except Exception as error:  # whatever the code of a stranger raises
            raised = f"{type(error).__name__}: {brief(_Plain(error), 300)}"
            yield Verdict(promise.words, UserError(f"it cannot be checked, mend what raises {raised}"))
        else:
            yield Verdict(promise.words, None)


class _Plain:
    """An error whose `repr` is its message."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __repr__(self) -> str:
        return str(self._error)
