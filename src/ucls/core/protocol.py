"""The interface of every run, in the compiled loop (`Run`) or in Gymnasium (`Agent`)."""

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
    """A learner in an environment, after some steps; it stops for good if its values diverge."""

    steps: int
    diverged: bool
    learner: Learner

    @property
    def plan(self) -> Plan:
        """The configuration of its learner."""
        ...

    @property
    def world(self) -> BuiltinEnv | None:
        """The built-in environment it runs in; None for any other."""
        ...

    @property
    def history(self) -> History:
        """The history of its steps so far."""
        ...

    def advance(self, steps: int, seconds: float = math.inf) -> History:
        """Take some more steps and return their history.

        A run in Gymnasium stops after the step at which `seconds` have passed; the compiled loop takes all steps.
        """
        ...

    def about(self) -> dict[str, Any]:
        """A description, as data."""
        ...

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Everything that the next step reads: its own arrays, which that step changes."""
        ...

    def restore(self, arrays: Mapping[str, np.ndarray], steps: int) -> None:
        """Return to a checkpoint that it wrote after some steps."""
        ...

    def save(self, path: str | Path) -> Path:
        """Write it to a file."""
        ...


def content_of(run: AnyRun) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the content of every file of a run: its description, and its arrays with its history."""
    return run.about(), {**run.checkpoint(), **run.history.to_arrays()}


class Chunk(NamedTuple):
    """The history of some steps, how many of them were timed, and their seconds. The first step, which compiles, is not
    timed."""

    part: History
    timed: int
    seconds: float


def in_chunks(run: AnyRun, steps: int, seconds: float, stopped: Callable[[], Any] = lambda: False) -> Iterator[Chunk]:
    """Advance a run in chunks of about this many seconds, until it diverges or `stopped()` is true.

    Chunks do not affect the run. The first is one step, which compiles; the size of the others follows from the speed
    of the previous one. A step that is unexpectedly slow ends its chunk, except in the compiled loop.
    """
    done, chunk = 0, 1
    while done < steps and not run.diverged and not stopped():
        began = time.perf_counter()
        part = run.advance(min(chunk, steps - done), 2 * seconds)
        took, many = time.perf_counter() - began, len(part.rewards)
        yield Chunk(part, many, took) if done else Chunk(part, 0, 0.0)
        done += many
        chunk = max(1, int(max(many, 1) * min(4.0, seconds / max(took, 1e-6))))
