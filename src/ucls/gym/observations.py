"""Observations, rewards and flags, validated before a kernel sees them; errors are one line that names the problem.

Kernels do not check the indices they compute from an observation, so this is where they are checked.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ucls.core.config import Plan, brief, checked_discount
from ucls.errors import UserError
from ucls.gym.action_masks import without_mask
from ucls.gym.layout import Layout, Leaf, as_floats, flatten, layout_of, leaves, real_numbers

PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
WHOLE = (int, np.int64)
FIVE = "(observation, reward, terminated, truncated, info)"


class Observed:
    """Reads observations: their layout, and which components are integers, which must lie within their bounds."""

    def __init__(self, layout: Layout, low: Any, high: Any, whole: bool = False) -> None:
        """Take the bounds of a configuration; with `whole`, every component is an integer, whatever its space is."""
        self.layout = layout
        self._whole = np.concatenate([np.full(len(leaf.low), whole or leaf.whole) for leaf in leaves(layout)])
        self.size = len(self._whole)
        self.shape = layout.shape if isinstance(layout, Leaf) else (self.size,)
        self._low = np.where(self._whole, low, -np.inf)
        self._high = np.where(self._whole, high, np.inf)
        self._any_whole = bool(self._whole.any())
        discrete = isinstance(layout, Leaf) and layout.shape == () and self._any_whole
        self._number = range(int(low[0]), int(high[0]) + 1) if discrete else None
        self._plain = self.shape if isinstance(layout, Leaf) and not self._any_whole else None

    def read(self, observation: Any) -> np.ndarray:
        """The state for an observation."""
        if type(observation) in WHOLE and self._number is not None and observation in self._number:
            return np.array([observation], np.float64)
        if type(observation) is np.ndarray and observation.dtype in PLAIN and observation.shape == self._plain:
            s = observation.astype(np.float64).ravel()
            if np.logical_and.reduce(np.isfinite(s)):
                return s
        return self._read_any(observation)

    def _read_any(self, observation: Any) -> np.ndarray:
        """The state for any kind of observation, or an error that says what is wrong with it."""
        s = flatten(self.layout, self.part_read(observation))
        if self._any_whole and not (sound := self.sound(s)).all():
            i = int(np.argmin(sound))
            name, limits = self.names()[i], f"{self._low[i]:.0f} to {self._high[i]:.0f}"
            where = "here it" if self.size == 1 else f"there {name}"
            raise UserError(f"an observation cannot be {brief(observation)}: {where} is an integer from {limits}")
        return s

    def part_read(self, observation: Any) -> Any:
        """What is read of an observation: not its action mask."""
        return without_mask(observation)

    def sound(self, states: np.ndarray) -> np.ndarray:
        """Which components of states are valid: finite and, for integers, within their bounds."""
        possible = (states == np.floor(states)) & (self._low <= states) & (states <= self._high)
        return np.isfinite(states) & (possible | ~self._whole)

    def names(self) -> list[str]:
        """The names of the components of a state."""
        return [name for leaf in leaves(self.layout) for name in leaf.names()]


class Step(NamedTuple):
    """The result of a step; the discount is None if the environment does not report one."""

    s: np.ndarray
    reward: float
    terminated: bool
    truncated: bool
    discount: float | None


def observed(space: Any, plan: Plan, discrete: bool) -> Observed:
    """The reader of observations for a configuration, given what `spaces.describe` returned for their space.

    Files of the compiled loop do not describe a space: there an observation is the state.
    """
    size = len(plan.low)
    layout = Leaf((), (size,), plan.low, plan.high, whole=False) if space is None else layout_of(space)
    if sum(len(leaf.low) for leaf in leaves(layout)) != size:
        raise UserError(f"the checkpoint cannot be right: its observations are {brief(space)}, its bounds {size}")
    return Observed(layout, plan.low, plan.high, discrete)


def check_fit(actions: Any, own: Mapping[str, Any] | None, plan: Plan, saved: Any) -> None:
    """Refuse spaces that do not match the configuration.

    `own` is what `spaces.describe` returns for the observations, or None if a user's function computes the features;
    `saved` is what it returned when the agent was made, or None for files of the compiled loop, where the bounds of the
    configuration are those of the environment.
    """
    size = len(plan.low) if own is None else sum(len(leaf.low) for leaf in leaves(layout_of(own)))
    if actions.n != plan.n_actions or size != len(plan.low):
        raise UserError(
            f"the agent was saved for {plan.n_actions} actions and {len(plan.low)} observation components, "
            f"but the environment has {actions.n} and {size}"
        )
    if own is None:
        return
    before = {"kind": own["kind"], "low": plan.low, "high": plan.high} if saved is None else saved
    same_states = own["kind"] != "discrete" or (own["low"], own["high"]) == (plan.low, plan.high)
    if before != own or not same_states:
        raise UserError(f"the agent was saved for observations {brief(before)}, but the environment's are {brief(own)}")


def read_reset(given: Any, kind: Observed) -> np.ndarray:
    """The state in what `reset` returned."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
        raise UserError(f"reset() cannot give {brief(given)}: return a pair (observation, info), info a mapping")
    return kind.read(given[0])


def read_step(given: Any, kind: Observed) -> Step:
    """The result in what `step` returned."""
    if not isinstance(given, tuple) or len(given) != 5:
        many = f"{len(given)} values" if isinstance(given, tuple) else brief(given)
        raise UserError(f"step() cannot give {many}: return {FIVE}; an environment for the old Gym API needs a wrapper")
    observation, reward, terminated, truncated, info = given
    if type(info) is not dict and not isinstance(info, Mapping):
        raise UserError(f"info cannot be {brief(info)}: it is a mapping")
    return Step(
        kind.read(observation),
        _reward(reward),
        _flag("terminated", terminated),
        _flag("truncated", truncated),
        checked_discount(info.get("discount")),
    )


def _reward(given: Any) -> float:
    if type(given) in (float, np.float64) and math.isfinite(given):
        return float(given)
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise UserError("a reward cannot be masked: it is one number")
    number = _rounded(given) if type(given) is int else _single(given)
    if number is None:
        raise UserError(f"a reward cannot be {brief(given)}: it is one number")
    if not math.isfinite(number):
        raise UserError(f"a reward cannot be {brief(given)}: rewards must be finite, below 1.8e308")
    return number


def _single(given: Any) -> float | None:
    """The value of a scalar or of an array with one element; None for anything else; infinite if it is too large."""
    numbers = real_numbers(given)
    sole = numbers is not None and (numbers.shape == () or (isinstance(given, np.ndarray) and numbers.size == 1))
    return float(as_floats(numbers).reshape(())) if numbers is not None and sole else None


def _rounded(given: int) -> float:
    try:
        return float(given)
    except OverflowError:
        return math.inf


def _flag(name: str, given: Any) -> bool:
    if type(given) in (bool, np.bool_):
        return bool(given)
    numbers = real_numbers(given)
    if numbers is None or numbers.shape != () or numbers not in (0, 1):
        raise UserError(f"{name} cannot be {brief(given)}: it is True or False")
    return bool(numbers)
