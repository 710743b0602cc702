"""That kernels are being compiled, for whoever tells a person: it can take longer than one waits in silence.

`kernels.compilation` says when a kernel begins and ends; one watcher at most hears how far it is.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Compiled(NamedTuple):
    """How many kernels this process has compiled, in how many seconds; `over` if it has done so for now."""

    kernels: int
    seconds: float
    over: bool


Watcher = Callable[[Compiled], None]


class _Clock:
    """Counts what is compiled; kernels are compiled within others, and only the outermost are timed."""

    def __init__(self) -> None:
        self.watcher: Watcher | None = None
        self._depth = self.kernels = 0
        self._seconds = self._began = 0.0

    def begin(self) -> None:
        """A kernel begins."""
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1
        self._tell()

    def end(self) -> None:
        """A kernel is there, or could not be compiled."""
        self._depth -= 1
        self.kernels += 1
        self._tell()
        if self._depth == 0:
            self._seconds += time.monotonic() - self._began

    def _tell(self) -> None:
        if self.watcher is not None:
            seconds = self._seconds + time.monotonic() - self._began
            self.watcher(Compiled(self.kernels, seconds, self._depth == 0))


clock = _Clock()


def watch(watcher: Watcher) -> None:
    """Tell this watcher from now on, and no other."""
    clock.watcher = watcher


def is_watched() -> bool:
    """Whether somebody has a watcher already."""
    return clock.watcher is not None


def nobody(compiled: Compiled) -> None:
    """A watcher that tells nobody."""


@contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """Tell nobody for a while, if that is wanted."""
    before = clock.watcher
    clock.watcher = nobody if wanted else before
    try:
        yield
    finally:
        clock.watcher = before


def is_silent() -> bool:
    """Whether nobody is to be told."""
    return clock.watcher is nobody
