"""The one error a user can cause, the nearest valid name to suggest with it, and what is merely worth knowing."""

import difflib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class UserError(ValueError):
    """Something the user gave cannot be used; the message is one line that says what to do."""

    code = 2  # the exit code of a command that ends with it


class ClusterLost(UserError):
    """The cluster that a study ran on is gone; what was finished is saved, and the same command continues."""

    code = 3


class Notice(UserWarning):
    """Something that a person should know, in one line, though nothing is wrong with what was asked for."""


class Terminated(BaseException):
    """SIGTERM, raised as Ctrl-C is; no `KeyboardInterrupt`, which parsers of command lines take for themselves."""


@contextmanager
def without_notices() -> Iterator[None]:
    """Keep notices to oneself: where a thousand runs are made, nobody asked about a single one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        yield


def printable(text: object) -> str:
    """A text as it can be shown in one line: control characters, escapes and line breaks as Python writes them.

    >>> print(printable("two\\nlines, \\x1b[31mred"))
    two\\nlines, \\x1b[31mred
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Say that `name` is not a known `kind`, with the nearest known one.

    >>> print(unknown("algorithm", "ulcs", ["ucls", "sarsa"]))
    unknown algorithm 'ulcs': did you mean 'ucls'? (known: ucls, sarsa)
    """
    names = list(known)
    near = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.5)
    hint = f" did you mean {near[0]!r}?" if near else ""
    shown = repr(name if len(name) <= 100 else f"{name[:97]}...")
    return UserError(f"unknown {kind} {shown}:{hint} (known: {printable(', '.join(names))})")
