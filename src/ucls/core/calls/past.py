"""The past of a learner: how it was before a step whose arithmetic failed.

Kernels change arrays in place, so a step that fails leaves them half updated. The arrays of an algorithm that can fail
(`can_fail`) are therefore copied from time to time; after a failure the learner returns to the copies and repeats what
it did since. Copies are as rare as their cost demands, and no other algorithm pays for them.
"""

import copy
import time
from typing import Any

import numpy as np

BROKEN = (ZeroDivisionError, np.linalg.LinAlgError)  # raised by failed arithmetic in a kernel
LAPACK = "ucls.kernels.linear_algebra.lapack"
SHARE = 100  # copies take at most one part in so many of the time
LONGEST = 10_000  # steps that are repeated at most


def can_fail(algorithm: Any) -> bool:
    """Whether the arithmetic of an algorithm can fail: it says `CAN_FAIL`, or uses `kernels.lapack` itself."""
    names = (getattr(part, "__module__", None) or getattr(part, "__name__", None) for part in vars(algorithm).values())
    return getattr(algorithm, "CAN_FAIL", LAPACK in names)


class Copies:
    """Everything that a learner changes, as it was when this was made."""

    def __init__(self, learner: Any) -> None:
        self._parts = copy.deepcopy((learner.coder, learner.state, learner.pending))
        self._random = learner.rng.bit_generator.state

    def put_back(self, learner: Any) -> None:
        """Let the learner be as it was; for one time only, because it changes these copies from then on."""
        learner.coder, learner.state, learner.pending = self._parts
        learner.rng.bit_generator.state = self._random


class Past:
    """Copies of a learner, and what it learned from since."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self._copies: Copies | None = None
        self._state: Any = None
        self._told: list[tuple[Any, ...]] = []
        self._due = 0.0

    def prepare(self) -> None:
        """Copy the learner before a step, if it is time to, or if it is not as it was left (restored, or grown)."""
        now = time.perf_counter()
        other = self._learner.state is not self._state
        if self._copies is None or other or now >= self._due or len(self._told) == LONGEST:
            self._copies, self._state, self._told = Copies(self._learner), self._learner.state, []
            self._due = now + SHARE * (time.perf_counter() - now)

    def add(self, told: tuple[Any, ...]) -> None:
        """Note what the learner has learned from: a state if an episode began, or a step; and a mask if it has any."""
        self._told.append(tuple(part.copy() if isinstance(part, np.ndarray) else part for part in told))

    def come_back(self) -> None:
        """Let the learner be as it was after what was noted last."""
        copies, told = self._copies, self._told
        self._copies, self._told = None, []
        if copies is not None:
            copies.put_back(self._learner)
            for each in told:
                self._learner.begin(*each) if len(each) <= 2 else self._learner.advance(*each)


class Undone:
    """A kernel of a learner that leaves it as it was if its arithmetic fails."""

    def __init__(self, kernel: Any, past: Past) -> None:
        self._kernel, self._past = kernel, past

    def __call__(self, parts: tuple[Any, ...], *rest: Any) -> Any:
        """Call the kernel; `rest` is what the learner is told."""
        self._past.prepare()
        try:
            made = self._kernel(parts, *rest)
        except BROKEN:
            self._past.come_back()
            raise
        self._past.add(rest)
        return made
