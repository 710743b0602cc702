"""Errors that users can cause, suggestions of the nearest valid name, and warnings."""

import difflib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class UserError(ValueError):
    """Invalid input; the message is one line that says what is wrong and what to do."""

    code = 2  # exit code of the command

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key  # what it is about: the name of a setting, or a key of a study's file


class ClusterLost(UserError):
    """The cluster that a study ran on is gone; what was finished is saved, and the same command continues."""

    code = 3


class UclsWarning(UserWarning):
    """A one-line warning about something that the user can act on."""


class Terminated(BaseException):
    """SIGTERM, raised like Ctrl-C; not a `KeyboardInterrupt`, which command-line parsers handle themselves."""


@contextmanager
def about(key: str) -> Iterator[None]:
    """Add to a `UserError` what it is about, unless it says so itself; around a block, or as a decorator."""
    try:
        yield
    except UserError as error:
        error.key = error.key or key
        raise


@contextmanager
def without_notices() -> Iterator[None]:
    """Suppress warnings (`UclsWarning`), for code that makes many runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UclsWarning)
        yield


def printable(text: object) -> str:
    """A text in one printable line: control characters and line breaks are escaped.

    >>> print(printable("two\\nlines, \\x1b[31mred"))
    two\\nlines, \\x1b[31mred
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """An error that `name` is not a known `kind`, with the nearest known one.

    >>> print(unknown("algorithm", "ulcs", ["ucls", "sarsa"]))
    unknown algorithm 'ulcs': did you mean 'ucls'? (known: ucls, sarsa)
    >>> print(unknown("algorithm", "MlpPolicy", ["ucls", "sarsa"]))
    unknown algorithm 'MlpPolicy' (known: ucls, sarsa)
    """
    names = list(known)
    near = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.5)
    hint = f": did you mean {near[0]!r}?" if near else ""
    shown = repr(name if len(name) <= 100 else f"{name[:97]}...")
    key = {"setting": name, "environment": "env"}.get(kind, kind)
    return UserError(f"unknown {kind} {shown}{hint} (known: {printable(', '.join(names))})", key)
