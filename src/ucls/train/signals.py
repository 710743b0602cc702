"""Ctrl-C and SIGTERM as a request to stop: the work stops as soon as it can, and is saved."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, current_thread, main_thread

from ucls.errors import Terminated


def tell(line: str) -> None:
    """Write a line to standard error; safe in a signal handler, even in the middle of another line."""
    if sys.stderr is None:  # closed before the program started; its number may be that of another file by now
        return
    with suppress(OSError, ValueError, RuntimeError):
        clear = "\r\x1b[2K" if sys.stderr.isatty() else ""  # a progress bar may be there
        try:
            os.write(sys.stderr.fileno(), f"{clear}ucls: {line}\n".encode())
        except (OSError, ValueError):  # not a real file
            sys.stderr.write(f"ucls: {line}\n")


class Stop(Event):
    """Set when a stop is requested; `number` is the first signal that requested it, or 0."""

    def __init__(self, saves: str = "", say: Callable[[str], None] = tell) -> None:
        super().__init__()
        self.number = 0
        self._count, self._saves, self._say, self._at_once = 0, saves, say, False

    def on_signal(self, number: int, frame: object = None) -> None:
        """Handle a signal. The first one requests a stop; the last one is raised as an exception.

        If the work is saved, that is the third, so that a repeated signal loses nothing.
        """
        self._count += 1
        self.number = self.number or number
        self.set()
        left = (3 if self._saves else 2) - self._count
        if self._at_once or left <= 0:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        doing = f"saving {self._saves}" if self._saves else "stopping after the current step"
        losing = " without saving" if self._saves else " immediately"
        self._say(f"{'still ' * (self._count > 1)}{doing}; press Ctrl-C {_times(left)} to quit{losing}")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Raise any signal immediately: there is nothing to save."""
        before, self._at_once = self._at_once, True
        try:
            yield
        finally:
            self._at_once = before


@contextmanager
def stopping(saves: str = "", say: Callable[[str], None] = tell) -> Iterator[Stop]:
    """Treat Ctrl-C and SIGTERM as a request to stop; `saves` names what is saved then, if anything."""
    stop = Stop(saves, say)
    mine = current_thread() is main_thread()
    before = {number: signal.signal(number, stop.on_signal) for number in (signal.SIGINT, signal.SIGTERM) if mine}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _times(count: int) -> str:
    return "again" if count == 1 else "twice more"
