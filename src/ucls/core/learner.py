"""A learner: an algorithm with its features, and the one kernel, `advance`, that makes it take a step.

The compiled loop and the Gymnasium shell both call `begin` and `advance`, so that a run is the same in either.
"""

import importlib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ucls import checkpoint
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core import state as states
from ucls.core.binding import BoundKernel
from ucls.core.config import DTYPES, SPARE, Plan, Resolved, brief, refuse_too_large, resolve_plan
from ucls.core.progress import tell_of_compiling
from ucls.core.saveable import ADVICE, AFTER, WHILE, Saveable
from ucls.core.steps import Pending, kernels
from ucls.errors import Notice, UserError
from ucls.features import FEATURES, Room, features_module, is_discrete
from ucls.kernels import active as la
from ucls.kernels.ranges import Sizes, check, require
from ucls.randomness import from_words, generator, spawn, to_words
from ucls.settings import completed

OWN_PARTS = ("coder", "pending")  # beside the state of the algorithm
BROKEN = (ZeroDivisionError, np.linalg.LinAlgError)  # what arithmetic raises in a kernel: its values mean nothing then


class FailedArithmetic(UserError):
    """The arithmetic of a kernel failed; what it changed before that may be inconsistent."""


class Uncertainty(NamedTuple):
    """The two parts of a radius, for every action: what is not known here, and what is noisy here."""

    unknown: np.ndarray
    noisy: np.ndarray


class Learner:
    """An algorithm at work on features, made from a plan."""

    def __init__(self, resolved: Resolved, file: int | None = None) -> None:
        """Make a learner that knows nothing yet.

        `file` is the number of bytes that the plan came with, if it came with arrays to restore: a small file must not
        ask for much memory.
        """
        tell_of_compiling()
        plan, self.algorithm, self.hyper, features, settings = resolved
        self.plan, self.features, self.feature_settings = plan, features, settings
        self._refuse_too_large(features.room(settings, plan.low, plan.high, plan.n_actions), file)
        self.coder = features.make(settings, plan.low, plan.high, plan.n_actions)
        self.state = self._initial_state()
        require("Coder", self.coder, constants=True)
        states.require_state(self.algorithm, self.state)
        rows = [la.no_features(plan.n_actions, self.coder.n_active) for _ in range(3)]
        self.pending = Pending(rows[0], rows[1], np.zeros(1, np.int64), np.ones(1))
        self._scratch = rows[2]
        seeds = spawn(plan.seed)
        self.rng, self._onlooker = generator(seeds.learner), generator(seeds.onlooker)
        self._bind(features)
        self._told: set[str] = set()
        self._saveable = Saveable()

    def _initial_state(self) -> Any:
        sizes = self.coder.size, self.plan.n_actions, self.coder.n_active
        return initial_state(self.algorithm, self.hyper, *sizes, DTYPES[self.plan.dtype])

    def _refuse_too_large(self, room: Room, file: int | None) -> None:
        """Refuse a plan before its memory is asked for; an algorithm that says nothing is taken to be quadratic."""
        n_actions = self.plan.n_actions
        sizes = room.size, n_actions, room.n_active
        said = hasattr(self.algorithm, "room")
        own = self.algorithm.room(self.hyper, *sizes) if said else 4 * room.size**2
        pending = 6 * n_actions * room.n_active
        what = f"{self.plan.agent} with {room.size:,} features ({self.plan.features}, {n_actions:,} actions)"
        what += "" if said else ", which does not say by `room` that it needs less than 4 features^2 numbers,"
        amount = room.numbers + pending + own
        refuse_too_large(amount, what, file)
        self._trims = 8 * amount <= SPARE

    @property
    def action(self) -> int:
        """The action chosen for the state it is in."""
        return int(self.pending.a[0])

    def _bind(self, features: Any) -> None:
        self.kernels = kernels(self.algorithm, features)
        self._begin, self._advance = BoundKernel(self.kernels.begin), BoundKernel(self.kernels.advance)
        self._s = np.zeros(len(self.plan.low))  # where kernels find the state, whatever array it came in

    def begin(self, s: np.ndarray) -> None:
        """Begin an episode in state s."""
        self._s[:] = s
        with sound_arithmetic():
            self._begin((self.hyper, self.coder, self.state, self.pending, self.rng), self._s)

    def advance(self, r: float, gamma: float, s_next: np.ndarray, terminated: bool) -> bool | None:
        """Learn from what the chosen action led to, choose the next; false if the values have diverged, None if the
        arithmetic failed: then the step does not count."""
        self._s[:] = s_next
        parts = self.hyper, self.coder, self.state, self.pending, self.rng
        try:
            healthy, full = self._advance(parts, float(r), float(gamma), self._s, bool(terminated))
        except BROKEN:
            return None
        if full:
            self.grow()
        return healthy

    def grow(self) -> None:
        """Make room for more data; what was learned stays the same."""
        self.state = self.algorithm.grow(self.state, self.hyper)

    def interval(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value in state s, without changing the run.

        An algorithm that keeps no bounds has a radius of 0.
        """
        mean, radius = self.intervals(self._states(s)[None])
        return mean[0], radius[0]

    def intervals(self, points: np.ndarray, rng: np.random.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value in many states, as `interval` one after the other; what is
        drawn for them may come from a generator of the caller's."""
        points = self._states(points)
        mean, radius = (np.zeros((len(points), self.plan.n_actions)) for _ in range(2))
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.intervals(*parts, points, self._scratch, rng or self._onlooker, mean, radius)
        return mean, radius

    def uncertainty(self, s: np.ndarray) -> "Uncertainty":
        """The two parts of the radius of every action's value in state s, where the algorithm can tell them apart."""
        unknown, noisy, _ = self.split(self._states(s)[None])
        return Uncertainty(unknown[0], noisy[0])

    def split(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In many states, of every action: what is not known, what is noisy, and the part of the value, from 0 to 1,
        that no data have overruled (NaN where the algorithm does not tell)."""
        if not hasattr(self.algorithm, "parts"):
            raise UserError(f"{self.plan.agent} does not tell what is not known from what is noisy: ucls-exact does")
        points = self._states(points)
        unknown, noisy, share = (np.zeros((len(points), self.plan.n_actions)) for _ in range(3))
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.split(*parts, points, self._scratch, unknown, noisy, share)
        return unknown, noisy, share

    def tell(self, steps: int | None = None) -> None:
        """Warn of what a person should know of what was learned; each thing is said once.

        Given the number of steps, that includes whether it can still be saved.
        """
        if steps is not None:
            self.look(steps, AFTER)
        told: list[str] = []
        for module, of in (
            (self.algorithm, (self.state, self.hyper)),
            (self.features, (self.coder, self.feature_settings)),
        ):
            if (notices := getattr(module, "notices", None)) is not None:
                told += notices(*of)
        for text in told:
            self.warn_once(text, text)

    def warn_once(self, kind: str, text: str) -> None:
        """Give a notice, unless one of this kind was given before."""
        if kind not in self._told:
            self._told.add(kind)
            warnings.warn(text, Notice, stacklevel=4)

    def choose(self, s: np.ndarray) -> int:
        """The action that the algorithm's own rule takes in state s, without changing the run."""
        return int(self.choices(self._states(s)[None])[0])

    def choices(self, points: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """The actions that the algorithm's own rule takes in many states, as `choose` one after the other."""
        points = self._states(points)
        actions = np.zeros(len(points), np.int64)
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.choices(*parts, points, self._scratch, rng or self._onlooker, actions)
        return actions

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: algorithm and features by their import path, and no compiled code."""
        compiled = dict.fromkeys(("kernels", "_begin", "_advance"))
        modules = {"algorithm": self.algorithm.__name__, "features": self.features.__name__}
        state = states.to_arrays(self.algorithm, self.state) if states.has_hooks(self.algorithm) else self.state
        return {**self.__dict__, **modules, **compiled, "state": state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self.algorithm = importlib.import_module(state["algorithm"])
        self.features = importlib.import_module(state["features"])
        if states.has_hooks(self.algorithm):
            sizes = Sizes(self.coder.size, self.plan.n_actions)
            self.state = states.from_arrays(self.algorithm, self._initial_state(), self.state, sizes)
        self._bind(self.features)
        self._saveable = Saveable()  # its clock is that of one process

    def survey(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean of every action's value in many states, and what the agent maximizes, without changing the run.

        That is mean + radius, unless the algorithm says by `upper` that it is something else.
        """
        if not hasattr(self.algorithm, "upper"):
            mean, radius = self.intervals(points)
            return mean, mean + radius
        points = self._states(points)
        mean, top = (np.zeros((len(points), self.plan.n_actions)) for _ in range(2))
        with sound_arithmetic():
            self.kernels.survey(self.hyper, self.coder, self.state, points, self._scratch, mean, top)
        return mean, top

    def _states(self, points: Any) -> np.ndarray:
        """States that kernels may look at; those of one-hot features have no others beyond the bounds."""
        points, low, high = np.ascontiguousarray(points, np.float64), self.plan.low, self.plan.high
        if points.shape[-1:] != (len(low),) or not np.isfinite(points).all():
            raise UserError(f"a state is {len(low)} finite numbers, not {brief(points)}")
        if is_discrete(self.features) and not ((points >= low) & (points <= high)).all():
            limits = f"{low[0]:.0f} to {high[0]:.0f}" if len(low) == 1 else f"{brief(low)} to {brief(high)}"
            raise UserError(f"there are no states outside {limits}: {brief(points)}")
        return points

    def checkpoint(self) -> dict[str, np.ndarray]:
        """A copy of everything that the next step reads; of large matrices only the part that something was learned of
        (see `ucls.checkpoint`)."""
        arrays = {"rng": to_words(self.rng), **states.to_arrays(self.algorithm, self.state, self._trims)}
        for name in OWN_PARTS:
            arrays |= checkpoint.flatten(name, getattr(self, name), self._trims)
        return arrays

    def refuse_unsound(self) -> None:
        """Refuse to save what could not be loaded: numbers that are not finite, though the values were."""
        sizes = Sizes(self.coder.size, self.plan.n_actions)
        try:
            states.refuse_unsound(self.algorithm, self.state, sizes)
            for name in OWN_PARTS:
                check(name, getattr(self, name), getattr(self, name), sizes)
        except UserError as error:
            fault = str(error).removeprefix("the checkpoint cannot be right: ")
            raise UserError(f"{fault}; start again, and {ADVICE}") from None

    def look(self, steps: int, share: float = WHILE) -> None:
        """Warn once, after so many steps, if what was learned can no longer be saved; seldom enough to cost nothing."""
        self._saveable.look(self, steps, share)

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from a copy of a checkpoint of a learner of the same plan; one that is refused changes nothing.

        The checkpoint may be from before some arrays grew.
        """
        sizes, grows = Sizes(self.coder.size, self.plan.n_actions), hasattr(self.algorithm, "grow")
        coder, pending = (checkpoint.rebuild(name, getattr(self, name), arrays, sizes) for name in OWN_PARTS)
        state = states.from_arrays(self.algorithm, self._initial_state() if grows else self.state, arrays, sizes)
        if grows and self.algorithm.full(state):
            state = self.algorithm.grow(state, self.hyper)
        from_words(self.rng, arrays.get("rng"))
        self.coder, self.state, self.pending = coder, state, pending


def initial_state(algorithm: Any, hyper: Any, size: int, n_actions: int, n_active: int, dtype: Any) -> Any:
    """What the algorithm knows before it has seen anything.

    Modules outside the package may still have the `init` of an earlier contract, with `steps` before `dtype`.
    """
    earlier = "steps" in inspect.signature(algorithm.init).parameters
    return algorithm.init(hyper, size, n_actions, n_active, *([0] if earlier else []), dtype)


@contextmanager
def sound_arithmetic() -> Iterator[None]:
    """Say in one line that the arithmetic of a kernel failed."""
    try:
        yield
    except ZeroDivisionError:
        raise FailedArithmetic("the algorithm divided by zero: start again, with other settings or features") from None
    except np.linalg.LinAlgError as error:
        raise FailedArithmetic(
            f"the algorithm's linear algebra failed ({error}): start again, with other settings"
        ) from None


def refuse_diverged(diverged: bool) -> None:
    """Hand nothing on from values that mean nothing."""
    if diverged:
        raise UserError("the values have diverged: start again, with smaller steps or other features")


def saved_learner(plan: Plan, given: Any, arrays: Mapping[str, np.ndarray], features: Any = None) -> Learner:
    """A learner that the arrays of a checkpoint may be restored to.

    Its algorithm and features are ours, or modules that were given: a file never names code to run.
    """
    if given is None and plan.agent not in ALGORITHMS:
        raise UserError(f"the checkpoint needs the algorithm {brief(plan.agent)}, not one of ours: give its module")
    if plan.features in FEATURES:
        features = None
    elif features is None:
        raise UserError(f"the checkpoint needs the features {brief(plan.features)}, not ours: give their module")
    size = sum(array.nbytes for array in arrays.values())
    hyper: Any = (given or algorithm_module(plan.agent)).Hyper
    plan = replace(plan, settings=completed(hyper, plan.settings))
    return Learner(resolve_plan(plan, given, features=features and features_module(features)), size)
