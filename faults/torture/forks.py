"""Commands in forked processes, so that thousands of trials with real processes are cheap."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ucls.errors import Terminated, UserError

SECONDS = 120  # after which a trial hangs, on a busy machine too
ENDS = {0: "finished", 2: "refused", 130: "interrupted", 143: "interrupted"}


class Ended(NamedTuple):
    """How a forked process ended, and what it said."""

    end: str
    said: str


def start(work: Callable[[], object], log: Path) -> int:
    """Do some work in a forked process, with the exit codes of `ucls`; returns its number."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            sys.stderr = log.open("w", buffering=1)
            code = _code(work)
        finally:
            os._exit(code)
    return pid


def wait(pid: int, log: Path) -> Ended:
    """Wait for a process; one that hangs, crashes or has a traceback is an error."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    said = log.read_text(errors="replace") if log.exists() else ""
    if code == -signal.SIGALRM:
        raise AssertionError(f"it hung for {SECONDS} s")
    if code == -signal.SIGKILL:
        return Ended("killed", said)
    if code not in ENDS or "Traceback" in said:
        raise AssertionError(f"it ended with {code}: {said[-500:]}")
    return Ended(ENDS[code], said)


def pause(seconds: float) -> None:
    """Wait, for all it matters, exactly so long."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(left)


def _code(work: Callable[[], object]) -> int:
    def terminated(number: int, frame: object) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, terminated)  # where `ucls` has no handler the process would just end
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        work()
        return 0
    except UserError as error:
        if not str(error).isprintable() or len(str(error)) > 1000:
            raise AssertionError(f"not one line: {error!s:.300}") from None
        print(f"ucls: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except Terminated:
        return 143
    except BaseException:
        sys.setprofile(None)
        traceback.print_exc()
        return 99
