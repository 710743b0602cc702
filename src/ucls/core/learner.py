"""A learner: an algorithm with its features, and `advance`, the kernel that takes a step.

The compiled loop and the agent for Gymnasium both call `begin` and `advance`, so a run is the same in either.
"""

import importlib
import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ucls._util.randomness import from_words, generator, spawn, to_words
from ucls.algorithms import ALGORITHMS
from ucls.core.binding import BoundKernel
from ucls.core.config import DTYPES, Plan, Resolved, brief, resolve_plan
from ucls.core.memory import SPARE, refuse_large_learner
from ucls.core.past import BROKEN, Past, Undone, can_fail
from ucls.core.progress import tell_of_compiling
from ucls.core.saving import checkpoint
from ucls.core.saving import state as states
from ucls.core.saving.saveable import ADVICE, AFTER, WHILE, Saveable
from ucls.core.steps import Pending, kernels
from ucls.errors import UclsWarning, UserError
from ucls.features import FEATURES, features_module, is_discrete
from ucls.kernels import active as la
from ucls.kernels.ranges import Sizes, check, require

OWN_PARTS = ("coder", "pending")  # saved in addition to the state of the algorithm


class FailedArithmetic(UserError):
    """The arithmetic of a kernel failed; the state may be inconsistent."""


class Uncertainty(NamedTuple):
    """The two terms of the radius of every action: the prior term, which data replace, and the noise term."""

    prior: np.ndarray
    noise: np.ndarray


class Learner:
    """An algorithm with its features, created from a configuration."""

    def __init__(self, resolved: Resolved, file: int | None = None) -> None:
        """Create an untrained learner.

        `file` is the number of bytes of the file that the configuration was read from, if any: a small file must not
        request much memory.
        """
        tell_of_compiling()
        plan, self.algorithm, self.hyper, features, settings = resolved
        self.plan, self.features, self.feature_settings = plan, features, settings
        self._trims = 8 * refuse_large_learner(resolved, file) <= SPARE
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

    def refuse_growth(self, steps: int) -> None:
        """Refuse to learn for so many steps in all if its data, which grow, would not fit in memory."""
        if hasattr(self.algorithm, "allocation_at"):
            parts = self.plan, self.algorithm, self.hyper, self.features, self.feature_settings
            refuse_large_learner(Resolved(*parts), steps=steps)

    @property
    def action(self) -> int:
        """The action chosen in the current state."""
        return int(self.pending.a[0])

    def _bind(self, features: Any) -> None:
        self.kernels = kernels(self.algorithm, features)
        self._begin, self._advance = BoundKernel(self.kernels.begin), BoundKernel(self.kernels.advance)
        if can_fail(self.algorithm):
            past = Past(self)
            self._begin, self._advance = Undone(self._begin, past), Undone(self._advance, past)
        self._s = np.zeros(len(self.plan.low))  # the state that kernels read, copied from any array

    def begin(self, s: np.ndarray) -> None:
        """Begin an episode in state s."""
        self._s[:] = s
        with sound_arithmetic():
            self._begin((self.hyper, self.coder, self.state, self.pending, self.rng), self._s)

    def advance(self, r: float, gamma: float, s_next: np.ndarray, terminated: bool) -> bool | None:
        """Learn from the result of the chosen action and choose the next one. Return False if the values have diverged,
        None if the arithmetic failed: then the step does not count, and if the algorithm can fail (`core.past`), the
        learner is as it was before."""
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
        """Enlarge the arrays for more data; their content does not change."""
        self.state = self.algorithm.grow(self.state, self.hyper)

    def interval(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value in state s, without changing the run.

        An algorithm without confidence bounds has a radius of 0.
        """
        mean, radius = self.intervals(self._states(s)[None])
        return mean[0], radius[0]

    def intervals(self, points: np.ndarray, rng: np.random.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value in many states, like `interval` for each in turn; random
        numbers come from `rng` if it is given."""
        points = self._states(points)
        mean, radius = (np.zeros((len(points), self.plan.n_actions)) for _ in range(2))
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.intervals(*parts, points, self._scratch, rng or self._onlooker, mean, radius)
        return mean, radius

    def uncertainty(self, s: np.ndarray) -> "Uncertainty":
        """The prior term and the noise term of every action's radius in state s, if the algorithm separates them."""
        unknown, noisy, _ = self.split(self._states(s)[None])
        return Uncertainty(unknown[0], noisy[0])

    def split(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In many states, for every action: the prior term, the noise term, and the prior's remaining weight in the
        value, from 0 to 1 (NaN if the algorithm does not provide it)."""
        if not hasattr(self.algorithm, "radius_terms"):
            raise UserError(f"{self.plan.agent} does not separate prior and noise uncertainty: use ucls-exact")
        points = self._states(points)
        unknown, noisy, share = (np.zeros((len(points), self.plan.n_actions)) for _ in range(3))
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.split(*parts, points, self._scratch, unknown, noisy, share)
        return unknown, noisy, share

    def tell(self, steps: int | None = None) -> None:
        """Warn the user of what the algorithm and the features report (`notices`), each message once.

        With the number of steps, also warn if the learner can no longer be saved.
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
        """Issue a warning, unless one of this kind was issued before."""
        if kind not in self._told:
            self._told.add(kind)
            warnings.warn(text, UclsWarning, stacklevel=4)

    def choose(self, s: np.ndarray) -> int:
        """The action that the algorithm itself chooses in state s, without changing the run."""
        return int(self.choices(self._states(s)[None])[0])

    def choices(self, points: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
        """The actions that the algorithm itself chooses in many states, like `choose` for each in turn."""
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
        """The mean of every action's value in many states, and the quantity that the agent maximizes.

        The agent maximizes mean + radius, unless the algorithm defines `upper`.
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
        """States as kernels take them; discrete states outside the bounds are refused."""
        points, low, high = np.ascontiguousarray(points, np.float64), self.plan.low, self.plan.high
        if points.shape[-1:] != (len(low),) or not np.isfinite(points).all():
            raise UserError(f"a state cannot be {brief(points)}: give {len(low)} finite numbers")
        if is_discrete(self.features) and not ((points >= low) & (points <= high)).all():
            limits = f"{low[0]:.0f} to {high[0]:.0f}" if len(low) == 1 else f"{brief(low)} to {brief(high)}"
            raise UserError(f"a state cannot be {brief(points)}: give integers from {limits}")
        return points

    def checkpoint(self) -> dict[str, np.ndarray]:
        """A copy of everything that the next step reads; large matrices are trimmed to the visited part (see
        `ucls.core.saving.checkpoint`)."""
        arrays = {"rng": to_words(self.rng), **states.to_arrays(self.algorithm, self.state, self._trims)}
        for name in OWN_PARTS:
            arrays |= checkpoint.flatten(name, getattr(self, name), self._trims)
        return arrays

    def refuse_unsound(self) -> None:
        """Refuse to save a state that could not be loaded: it contains numbers that are not finite."""
        sizes = Sizes(self.coder.size, self.plan.n_actions)
        try:
            states.refuse_unsound(self.algorithm, self.state, sizes)
            for name in OWN_PARTS:
                check(name, getattr(self, name), getattr(self, name), sizes)
        except UserError as error:
            fault = str(error).removeprefix("the checkpoint cannot be right: ")
            raise UserError(f"{fault}; start again, and {ADVICE}") from None

    def look(self, steps: int, share: float = WHILE) -> None:
        """Warn once if the learner can no longer be saved; checks are rare enough to cost almost nothing."""
        self._saveable.look(self, steps, share)

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Continue from a copy of a checkpoint of a learner with the same configuration; a refused one changes nothing.

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
    """The initial state of an algorithm.

    Modules outside the package may still have the `init` of an earlier contract, with `steps` before `dtype`.
    """
    earlier = "steps" in inspect.signature(algorithm.init).parameters
    return algorithm.init(hyper, size, n_actions, n_active, *([0] if earlier else []), dtype)


@contextmanager
def sound_arithmetic() -> Iterator[None]:
    """Turn failed arithmetic in a kernel into a one-line error."""
    try:
        yield
    except ZeroDivisionError:
        raise FailedArithmetic("the algorithm divided by zero: start again, with other settings or features") from None
    except np.linalg.LinAlgError as error:
        raise FailedArithmetic(
            f"the algorithm's linear algebra failed ({error}): start again, with other settings"
        ) from None


def refuse_diverged(diverged: bool) -> None:
    """Refuse to use values that have diverged."""
    if diverged:
        raise UserError("the values have diverged: start again, with smaller steps or other features")


def saved_learner(plan: Plan, given: Any, arrays: Mapping[str, np.ndarray], features: Any = None) -> Learner:
    """A learner that the arrays of a checkpoint can be restored to.

    Its algorithm and features are built-in, or modules given by the caller: a file never decides what code runs.
    """
    if given is None and plan.agent not in ALGORITHMS:
        name = brief(plan.agent)
        raise UserError(f"the checkpoint needs the algorithm {name}, which is not built in: give its module")
    if plan.features in FEATURES:
        features = None
    elif features is None:
        name = brief(plan.features)
        raise UserError(f"the checkpoint needs the features {name}, which are not built in: give their module")
    size = sum(array.nbytes for array in arrays.values())
    return Learner(resolve_plan(plan, given, features=features and features_module(features)), size)
