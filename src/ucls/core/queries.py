"""Queries of a learner: values, bounds and choices in many states at once. They do not change its run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ucls.core.calls.masks import Masks
from ucls.core.config import Plan, brief
from ucls.core.masked_steps import masked_kernels
from ucls.core.steps import Kernels
from ucls.errors import UserError
from ucls.features import is_discrete
from ucls.kernels.active import Active


class FailedArithmetic(UserError):
    """The arithmetic of a kernel failed; the state may be inconsistent."""


class Uncertainty(NamedTuple):
    """The two terms of the radius of every action: the prior term, which data replace, and the noise term."""

    prior: np.ndarray
    noise: np.ndarray


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


class LearnerQueries:
    """The queries of a learner."""

    plan: Plan
    algorithm: Any
    hyper: Any
    features: Any
    coder: Any
    state: Any
    kernels: Kernels
    masks: Masks | None
    _scratch: Active
    _onlooker: np.random.Generator

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
            raise UserError(
                f"{self.plan.agent} does not separate prior and noise uncertainty: use ucls-plan or ucls-exact"
            )
        points = self._states(points)
        unknown, noisy, share = (np.zeros((len(points), self.plan.n_actions)) for _ in range(3))
        parts = self.hyper, self.coder, self.state
        with sound_arithmetic():
            self.kernels.split(*parts, points, self._scratch, unknown, noisy, share)
        return unknown, noisy, share

    def choose(self, s: np.ndarray, mask: np.ndarray | None = None) -> int:
        """The action that the algorithm itself chooses in state s, without changing the run."""
        return int(self.choices(self._states(s)[None], masks=None if mask is None else mask[None])[0])

    def choices(
        self, points: np.ndarray, rng: np.random.Generator | None = None, masks: np.ndarray | None = None
    ) -> np.ndarray:
        """The actions that the algorithm itself chooses in many states, like `choose` for each in turn; `masks` has a
        row of valid actions for each."""
        points = self._states(points)
        actions, rng = np.zeros(len(points), np.int64), rng or self._onlooker
        parts = self.hyper, self.coder, self.state, points, self._scratch, rng
        with sound_arithmetic():
            if masks is None:
                self.kernels.choices(*parts, actions)
            else:
                masked_kernels(self.algorithm, self.features).choices(*parts, np.array(masks, np.uint8), actions)
        return actions

    def met_masks(self, points: np.ndarray) -> np.ndarray:
        """The valid actions in many states, as far as their features have been met; all if nothing is known."""
        points = self._states(points)
        masks = np.ones((len(points), self.plan.n_actions), np.uint8)
        if self.masks is not None:
            kernel = masked_kernels(self.algorithm, self.features).recall
            kernel(self.coder, points, self._scratch, self.masks.met, masks)
        return masks.astype(bool)

    def survey(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean of every action's value in many states, and the quantity that the agent maximizes.

        The agent maximizes mean + radius, unless the algorithm defines `upper`. For an action that is invalid by the
        masks met so far, that is -inf.
        """
        points = self._states(points)
        if not hasattr(self.algorithm, "upper"):
            mean, radius = self.intervals(points)
            top = mean + radius
        else:
            mean, top = (np.zeros((len(points), self.plan.n_actions)) for _ in range(2))
            with sound_arithmetic():
                self.kernels.survey(self.hyper, self.coder, self.state, points, self._scratch, mean, top)
        return mean, top if self.masks is None else np.where(self.met_masks(points), top, -np.inf)

    def _states(self, points: Any) -> np.ndarray:
        """States as kernels take them; discrete states outside the bounds are refused."""
        points, low, high = np.ascontiguousarray(points, np.float64), self.plan.low, self.plan.high
        if points.shape[-1:] != (len(low),) or not np.isfinite(points).all():
            raise UserError(f"a state cannot be {brief(points)}: give {len(low)} finite numbers")
        if is_discrete(self.features) and not ((points >= low) & (points <= high)).all():
            limits = f"{low[0]:.0f} to {high[0]:.0f}" if len(low) == 1 else f"{brief(low)} to {brief(high)}"
            raise UserError(f"a state cannot be {brief(points)}: give integers from {limits}")
        return points
