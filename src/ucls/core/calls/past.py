"""Copies of a learner from before a step, in case the arithmetic of the step fails.

Kernels change arrays in place, so a step that fails leaves them half updated. The arrays of an algorithm that can fail
(`can_fail`) are therefore copied from time to time; after a failure the learner returns to the copies and repeats what
it did since. Copies are as rare as their cost demands, and no other algorithm pays for them.
"""

import copy
import time
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ucls import kernels
from ucls.kernels.compilation import sources

BROKEN = (ZeroDivisionError, np.linalg.LinAlgError)  # raised by failed arithmetic in a kernel
RAISES = ("ucls.kernels.linear_algebra.lapack", "numpy.linalg", "scipy.linalg")  # modules whose functions raise them
LEARNING = ("start", "act", "update", "encode", "full", "grow")  # the functions of an algorithm that a step may call
SHARE = 100  # copies take at most one part in so many of the time
LONGEST = 10_000  # steps that are repeated at most


def can_fail(algorithm: Any) -> bool:
    """Return whether the arithmetic of an algorithm can fail: it declares so, or a function of a step calls linear
    algebra.

    Calls are followed through its helpers, in other modules too, but not into packages that are installed.
    """
    declared = getattr(algorithm, "CAN_FAIL", None)
    return _reaches_linear_algebra(algorithm) if declared is None else declared


def _reaches_linear_algebra(algorithm: Any) -> bool:
    found = {id(part): part for part in (getattr(algorithm, name, None) for name in LEARNING)}
    waiting = list(found.values())
    while waiting:
        part = waiting.pop()
        function = getattr(part, "py_func", part)
        name = getattr(function, "__module__", None)
        if callable(function) and isinstance(name, str) and name.startswith(RAISES):
            return True
        if isinstance(function, FunctionType) and sources.counts(name or "", algorithm.__name__):
            new = {id(other): other for other in _used_by(function) if id(other) not in found}
            found |= new
            waiting += new.values()
    return False


def _used_by(function: FunctionType) -> list[Any]:
    """Return the globals that a function names, the attributes of modules that it names, and its closure."""
    names, parts = _names(function.__code__), [cell.cell_contents for cell in function.__closure__ or ()]
    parts += [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [part for part in parts if isinstance(part, ModuleType)]
    for module in modules:
        offered = kernels.__all__ if module is kernels else vars(module)  # kernels are loaded when they are asked for
        inside = [getattr(module, name) for name in names if name in offered]
        modules += [part for part in inside if isinstance(part, ModuleType) and part not in modules]
        parts += inside
    return parts


def _names(code: CodeType) -> set[str]:
    """The names of globals and attributes in the code of a function and of the functions inside it."""
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


class Copies:
    """Copies of everything that a learner changes."""

    def __init__(self, learner: Any) -> None:
        self._parts = copy.deepcopy((learner.coder, learner.state, learner.pending))
        self._random = learner.rng.bit_generator.state

    def put_back(self, learner: Any) -> None:
        """Restore the learner, once: it changes these copies from then on."""
        learner.coder, learner.state, learner.pending = self._parts
        learner.rng.bit_generator.state = self._random


class Past:
    """Copies of a learner, and the transitions it has learned from since."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self._copies: Copies | None = None
        self._state: Any = None
        self._told: list[tuple[Any, ...]] = []
        self._due = 0.0

    def prepare(self) -> None:
        """Copy the learner before a step if it is time to, or if it was restored or has grown since."""
        now = time.perf_counter()
        other = self._learner.state is not self._state
        if self._copies is None or other or now >= self._due or len(self._told) == LONGEST:
            self._copies, self._state, self._told = Copies(self._learner), self._learner.state, []
            self._due = now + SHARE * (time.perf_counter() - now)

    def add(self, told: tuple[Any, ...]) -> None:
        """Record what the learner has learned from: a state if an episode began, or a step; and a mask if there is
        one."""
        self._told.append(tuple(part.copy() if isinstance(part, np.ndarray) else part for part in told))

    def come_back(self) -> None:
        """Restore the learner to the state after the last recorded step."""
        copies, told = self._copies, self._told
        self._copies, self._told = None, []
        if copies is not None:
            copies.put_back(self._learner)
            for each in told:
                self._learner.begin(*each) if len(each) <= 2 else self._learner.advance(*each)


class Undone:
    """A kernel of a learner; if its arithmetic fails, the learner is restored."""

    def __init__(self, kernel: Any, past: Past) -> None:
        self._kernel, self._past = kernel, past

    def __call__(self, parts: tuple[Any, ...], *rest: Any) -> Any:
        """Call the kernel; `rest` are the remaining arguments."""
        self._past.prepare()
        try:
            made = self._kernel(parts, *rest)
        except BROKEN:
            self._past.come_back()
            raise
        self._past.add(rest)
        return made
