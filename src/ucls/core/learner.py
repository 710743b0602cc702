"""A learner: an algorithm with its features, and `advance`, the kernel that takes a step.

The compiled loop and the agent for Gymnasium both call `begin` and `advance`, so a run is the same in either.
"""

import importlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucls._util.randomness import from_words, generator, spawn, to_words
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.calls.binding import BoundKernel
from ucls.core.calls.masks import MET, Masks, checked_met
from ucls.core.calls.past import BROKEN, Past, Undone, can_fail
from ucls.core.config import DTYPES, Plan, Resolved, brief, resolve_plan
from ucls.core.masked_steps import masked_kernels
from ucls.core.memory import SPARE, refuse_large_learner
from ucls.core.progress import tell_of_compiling
from ucls.core.queries import LearnerQueries, sound_arithmetic
from ucls.core.saving import checkpoint
from ucls.core.saving import state as states
from ucls.core.saving.saveable import ADVICE, AFTER, WHILE, Saveable
from ucls.core.steps import Pending, kernels
from ucls.errors import UclsWarning, UserError
from ucls.features import FEATURES, features_module
from ucls.kernels import active as la
from ucls.kernels.ranges import Sizes, check, require

OWN_PARTS = ("coder", "pending")  # saved in addition to the state of the algorithm


class Learner(LearnerQueries):
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
        self.masks: Masks | None = None  # once an action mask was met
        self._told: set[str] = set()
        self._saveable = Saveable()

    def _initial_state(self) -> Any:
        sizes = self.coder.size, self.plan.n_actions, self.coder.n_active
        return self.algorithm.init(self.hyper, *sizes, DTYPES[self.plan.dtype])

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
        self._past = Past(self) if can_fail(self.algorithm) else None
        self._begin, self._advance = self._bound(self.kernels.begin), self._bound(self.kernels.advance)
        self._s = np.zeros(len(self.plan.low))  # the state that kernels read, copied from any array

    def _bound(self, kernel: Any) -> Any:
        return BoundKernel(kernel) if self._past is None else Undone(BoundKernel(kernel), self._past)

    def _masked(self, met: np.ndarray | None = None) -> Masks:
        """Its steps with masks; `met` has the masks met."""
        if self.masks is None or met is not None:
            met = np.zeros(self.coder.size, np.uint8) if met is None else met
            self.masks = Masks(masked_kernels(self.algorithm, self.features), met, self.plan.n_actions, self._bound)
        return self.masks

    def begin(self, s: np.ndarray, mask: np.ndarray | None = None) -> None:
        """Begin an episode in state s; `mask` says which actions are valid there, None that all are."""
        self._s[:] = s
        parts = self.hyper, self.coder, self.state, self.pending, self.rng
        with sound_arithmetic():
            if mask is None:
                self._begin(parts, self._s)
            else:
                self._masked().begin(parts, self._s, mask)

    def advance(
        self, r: float, gamma: float, s_next: np.ndarray, terminated: bool, mask: np.ndarray | None = None
    ) -> bool | None:
        """Learn from the result of the chosen action and choose the next one, valid by `mask`. Return False if the
        values have diverged, None if the arithmetic failed: then the step does not count, and if the algorithm can fail
        (`core.calls.past`), the learner is as it was before."""
        self._s[:] = s_next
        parts = self.hyper, self.coder, self.state, self.pending, self.rng
        try:
            if mask is None:
                healthy, full = self._advance(parts, float(r), float(gamma), self._s, bool(terminated))
            else:
                step = float(r), float(gamma), self._s, bool(terminated)
                healthy, full = self._masked().advance(parts, *step, mask)
        except BROKEN:
            return None
        if full:
            self.grow()
        return healthy

    def grow(self) -> None:
        """Enlarge the arrays for more data; their content does not change."""
        self.state = self.algorithm.grow(self.state, self.hyper)

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

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: algorithm and features by their import path, and no compiled code."""
        compiled = dict.fromkeys(("kernels", "_begin", "_advance", "_past"))
        met = None if self.masks is None else self.masks.met
        modules = {"algorithm": self.algorithm.__name__, "features": self.features.__name__}
        state = states.to_arrays(self.algorithm, self.state) if states.has_hooks(self.algorithm) else self.state
        return {**self.__dict__, **modules, **compiled, "state": state, "masks": met}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self.algorithm = importlib.import_module(state["algorithm"])
        self.features = importlib.import_module(state["features"])
        if states.has_hooks(self.algorithm):
            sizes = Sizes(self.coder.size, self.plan.n_actions)
            self.state = states.from_arrays(self.algorithm, self._initial_state(), self.state, sizes)
        self._bind(self.features)
        met, self.masks = state.get("masks"), None
        if met is not None:
            self._masked(met)
        self._saveable = Saveable()  # its clock is that of one process

    def checkpoint(self) -> dict[str, np.ndarray]:
        """A copy of everything that the next step reads; large matrices are trimmed to the visited part (see
        `ucls.core.saving.checkpoint`)."""
        arrays = {"rng": to_words(self.rng), **states.to_arrays(self.algorithm, self.state, self._trims)}
        for name in OWN_PARTS:
            arrays |= checkpoint.flatten(name, getattr(self, name), self._trims)
        return arrays if self.masks is None else {**arrays, MET: self.masks.met.copy()}

    def refuse_unsound(self) -> None:
        """Refuse to save a state that contains numbers that are not finite, because it could not be loaded."""
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
        met = checked_met(arrays, self.coder.size)
        from_words(self.rng, arrays.get("rng"))
        self.coder, self.state, self.pending, self.masks = coder, state, pending, None
        if met is not None:
            self._masked(met)


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
    algorithm = None if given is None else algorithm_module(given)
    try:
        resolved = resolve_plan(plan, algorithm, features=features and features_module(features))
    except UserError as error:
        raise UserError(f"{error}; a file of an earlier ucls needs that version, or train again") from None
    return Learner(resolved, size)
