"""Numbered trials in a forked worker: a crash or hang is an outcome, and the next worker continues."""

import json
import os
import resource
import select
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

# More than what the worker has when it starts: asking for it is an error, not the end of the machine.
ADDRESS_SPACE = 2**33


class Outcome(NamedTuple):
    """How a trial ended: "fine", "refused" or another word of its own; "traceback", "signal" or "hang"; and which."""

    seed: int
    end: str
    detail: str = ""

    @property
    def sound(self) -> bool:
        """Whether the trial ended by itself, without an unexpected exception."""
        return self.end not in ("traceback", "signal", "hang")


def run(attempt: Callable[[int], str], seeds: Iterable[int], seconds: float = 120.0) -> list[Outcome]:
    """Try every seed, each for at most some seconds, in a worker that is replaced when it dies or hangs."""
    left, found = list(seeds), []
    while left:
        done = _batch(attempt, left, seconds)
        found += done
        left = left[len(done) :]
    return found


def tally(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many trials ended in which way."""
    return dict(Counter(outcome.end for outcome in outcomes).most_common())


def _batch(attempt: Callable[[int], str], seeds: list[int], seconds: float) -> list[Outcome]:
    """Try seeds in one worker until it dies, where the last outcome says how."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _work(attempt, seeds, theirs)
    os.close(theirs)
    found: list[Outcome] = []
    try:
        buffer, deadline = b"", time.monotonic() + seconds
        while len(found) < len(seeds):
            ready, _, _ = select.select([ours], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                found.append(Outcome(seeds[len(found)], "hang", f"after {seconds:g} s"))
                break
            chunk = os.read(ours, 65536)
            if not chunk:
                break
            *lines, buffer = (buffer + chunk).split(b"\n")
            found += [Outcome(*json.loads(line)) for line in lines]
            deadline = time.monotonic() + seconds
    finally:
        os.close(ours)
        _, status = os.waitpid(pid, 0)
    if len(found) < len(seeds) and (not found or found[-1].end != "hang"):
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status >> 8}"
        found.append(Outcome(seeds[len(found)], "signal", how))
    return found


def _work(attempt: Callable[[int], str], seeds: list[int], to: int) -> None:
    """The worker: never returns."""
    code = 1
    try:
        _limit_memory()
        for seed in seeds:
            os.write(to, json.dumps([seed, *_end(attempt, seed)]).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def _end(attempt: Callable[[int], str], seed: int) -> tuple[str, str]:
    try:
        return attempt(seed), ""
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        last = "".join(traceback.format_exception_only(error)).strip().splitlines()[0]
        return "traceback", f"{last[:200]} ({Path(where.filename).name}:{where.lineno})"


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ADDRESS_SPACE, hard))
