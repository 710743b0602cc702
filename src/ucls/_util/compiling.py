"""Progress of compilation, which can take long enough that users should be told.

`kernels.compilation` reports when the compilation of a kernel begins and ends; at most one watcher receives progress.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Compiled(NamedTuple):
    """The number of kernels that this process has compiled, the seconds it took, and whether compilation is over for
    now."""

    kernels: int
    seconds: float
    over: bool


Watcher = Callable[[Compiled], None]


class _Clock:
    """Counts compiled kernels. Compilations are nested, and only the outermost are timed."""

    def __init__(self) -> None:
        self.watcher: Watcher | None = None
        self._depth = self.kernels = 0
        self._seconds = self._began = 0.0

    def begin(self) -> None:
        """Note that the compilation of a kernel begins."""
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1
        self._tell()

    def end(self) -> None:
        """Note that a kernel is compiled, or could not be."""
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
    """Report to this watcher from now on, and to no other."""
    clock.watcher = watcher


def is_watched() -> bool:
    """Tell whether there is a watcher."""
    return clock.watcher is not None


def nobody(compiled: Compiled) -> None:
    """A watcher that ignores reports."""


@contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """Suppress reports within a block, if `wanted`."""
    before = clock.watcher
    clock.watcher = nobody if wanted else before
    try:
        yield
    finally:
        clock.watcher = before


def is_silent() -> bool:
    """Tell whether reports are suppressed."""
    return clock.watcher is nobody
