"""What a run is to those who only let it run, in the compiled loop (`Run`) or in Gymnasium (`Agent`)."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucls.core.config import Plan
from ucls.core.history import History
from ucls.core.learner import Learner
from ucls.envs import BuiltinEnv


class AnyRun(Protocol):
    """A learner in an environment, after some steps; it stops where its values diverge, and goes no further."""

    steps: int
    diverged: bool
    learner: Learner

    @property
    def plan(self) -> Plan:
        """What its learner is."""
        ...

    @property
    def world(self) -> BuiltinEnv | None:
        """The world that it is in, if that is one of ours."""
        ...

    def advance(self, steps: int, seconds: float = math.inf) -> History:
        """Take some steps more and return what happened in them.

        A run in Gymnasium stops after the step at which so many seconds have passed; the compiled loop takes them all.
        """
        ...

    def about(self) -> dict[str, Any]:
        """What it is, as data."""
        ...

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Everything that the next step reads: its own arrays, which that step changes."""
        ...

    def restore(self, arrays: Mapping[str, np.ndarray], steps: int) -> None:
        """Go back to a checkpoint that it wrote after some steps."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write all of it to a file."""
        ...


class Chunk(NamedTuple):
    """What happened in some steps; how many of them were timed, and in how many seconds. The first compiles: it is not
    timed."""

    part: History
    timed: int
    seconds: float


def in_chunks(run: AnyRun, steps: int, seconds: float, stopped: Callable[[], Any] = lambda: False) -> Iterator[Chunk]:
    """Let a run take some steps in chunks of about so many seconds, until it diverges or somebody stops it.

    Where a chunk ends changes nothing in the run. The first is one step, which compiles; after it a chunk has as many
    steps as the last one's speed lets it, from one on. A step that is slow all of a sudden ends its chunk, except in
    the compiled loop.
    """
    done, chunk = 0, 1
    while done < steps and not run.diverged and not stopped():
        began = time.perf_counter()
        part = run.advance(min(chunk, steps - done), 2 * seconds)
        took, many = time.perf_counter() - began, len(part.rewards)
        yield Chunk(part, many, took) if done else Chunk(part, 0, 0.0)
        done += many
        chunk = max(1, int(max(many, 1) * min(4.0, seconds / max(took, 1e-6))))
