"""The standard streams: some may be closed, and a reader may close its pipe early."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from ucls._util.json import as_json

READER_LEFT = 141  # 128 + SIGPIPE, as shells count it


def prepare() -> None:
    """Replace closed streams by the null device, so that no other file takes their number; ignore a width of 0."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _null_to(number)
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    for name in ("COLUMNS", "LINES"):
        if os.environ.get(name, "1").strip("0") == "":
            del os.environ[name]


def reader_left(error: BaseException) -> bool:
    """Whether a command ended because its output pipe was closed; libraries turn that into an exit."""
    return isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError)


def discard_output() -> None:
    """Discard the rest of the output: flushing it at exit would raise another error."""
    with contextlib.suppress(OSError, ValueError):
        _null_to(sys.stdout.fileno())


def print_json(data: Any, **form: Any) -> None:
    """Print data as strict JSON."""
    print(as_json(data, **form))


def _null_to(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
