"""Ctrl-C and SIGTERM as a wish to end: what runs ends when it can, with everything kept."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread


class Stop(Event):
    """Set by whoever asks for an end; `number` is that of the signal that did, 0 if none has."""

    number: int = 0


@contextmanager
def stopping() -> Iterator[Stop]:
    """Let Ctrl-C and SIGTERM ask for an end; the second of them ends at once, as Ctrl-C always does."""
    stop = Stop()

    def on_signal(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.number = number
        stop.set()

    mine = current_thread() is main_thread()
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM) if mine}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
