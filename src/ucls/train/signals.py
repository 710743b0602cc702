"""Ctrl-C and SIGTERM as a request to stop: the work stops when it can, and saves what it has."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, current_thread, main_thread

from ucls.errors import Terminated


def tell(line: str) -> None:
    """Write a line for the person at the terminal; safe in a signal handler, in the middle of another line too."""
    if sys.stderr is None:  # closed before the program started; its number may be that of another file by now
        return
    with suppress(OSError, ValueError, RuntimeError):
        clear = "\r\x1b[2K" if sys.stderr.isatty() else ""  # a progress bar may be there
        try:
            os.write(sys.stderr.fileno(), f"{clear}ucls: {line}\n".encode())
        except (OSError, ValueError):  # not a real file
            sys.stderr.write(f"ucls: {line}\n")


class Stop(Event):
    """Set when somebody asks for a stop; `number` is that of the first signal that did, 0 if none has."""

    def __init__(self, saves: str = "", say: Callable[[str], None] = tell) -> None:
        super().__init__()
        self.number = 0
        self._count, self._saves, self._say, self._at_once = 0, saves, say, False

    def on_signal(self, number: int, frame: object = None) -> None:
        """Note a signal. The first one asks for a stop; the last that is allowed for is raised.

        Where something is saved, that is the third: impatience alone, or a signal that arrives twice, loses nothing.
        """
        self._count += 1
        self.number = self.number or number
        self.set()
        left = (3 if self._saves else 2) - self._count
        if self._at_once or left <= 0:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        doing = f"saving {self._saves}" if self._saves else "stopping after the current step"
        losing = " without saving" if self._saves else " at once"
        self._say(f"{'still ' * (self._count > 1)}{doing}; press Ctrl-C {_times(left)} to quit{losing}")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let any signal be raised meanwhile: there is nothing to save."""
        before, self._at_once = self._at_once, True
        try:
            yield
        finally:
            self._at_once = before


@contextmanager
def stopping(saves: str = "", say: Callable[[str], None] = tell) -> Iterator[Stop]:
    """Let Ctrl-C and SIGTERM ask for a stop; `saves` names what is saved after it, if anything is."""
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
