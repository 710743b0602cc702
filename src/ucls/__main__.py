"""The `ucls` command as a process of its own, `python -m ucls`: a signal ends it without a traceback at any moment."""

import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from ucls.errors import Terminated


def main() -> None:
    """Run the command line. What Ctrl-C and SIGTERM do while a command runs is up to the command."""
    _on_interrupt(_quit)  # importing takes a moment, and there is nothing to clean up
    from ucls.cli import main as run

    sys.unraisablehook = _on_unraisable
    try:
        _on_interrupt(signal.default_int_handler)
        signal.signal(signal.SIGTERM, _terminate)
        run()
    except (KeyboardInterrupt, Terminated) as error:  # just before or after the command itself
        _quit(signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
    finally:
        _on_interrupt(_quit)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _on_interrupt(handler: Any) -> None:
    """Set what Ctrl-C does, unless this process was started with Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _quit(number: int, _frame: FrameType | None = None) -> NoReturn:
    """End this process at once."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed, or in the middle of being written to
            continue
    os._exit(128 + number)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated


def _on_unraisable(unraisable: Any) -> None:
    """End where Python would print a traceback and continue: the signal came while no exception could be raised."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt | Terminated):
        _quit(signal.SIGTERM if issubclass(unraisable.exc_type, Terminated) else signal.SIGINT)
    sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
