"""What an environment gives, read before a kernel sees it: numbers of the right kind, or one line that names the fault.

Kernels do not check the indices they make of an observation, so this is where it is done.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ucls.core.config import Plan, brief, checked_discount
from ucls.errors import UserError
from ucls.gym.layout import Layout, Leaf, as_floats, flatten, layout_of, leaves, real_numbers

PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
WHOLE = (int, np.int64)
FIVE = "(observation, reward, terminated, truncated, info)"


class Observed:
    """What an observation is: its layout, and which of its numbers are whole, of which none lies outside its bounds."""

    def __init__(self, layout: Layout, low: Any, high: Any, whole: bool = False) -> None:
        """Take the bounds of a plan; with `whole`, every number is a whole one, whatever its space says."""
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
        """The observation as the state of a learner."""
        if type(observation) in WHOLE and self._number is not None and observation in self._number:
            return np.array([observation], np.float64)
        if type(observation) is np.ndarray and observation.dtype in PLAIN and observation.shape == self._plain:
            s = observation.astype(np.float64).ravel()
            if np.logical_and.reduce(np.isfinite(s)):
                return s
        return self._read_any(observation)

    def _read_any(self, observation: Any) -> np.ndarray:
        """The observation, whatever it is, or what is wrong with it."""
        s = flatten(self.layout, observation)
        if self._any_whole and not (sound := self.sound(s)).all():
            i = int(np.argmin(sound))
            name, limits = self.names()[i], f"{self._low[i]:.0f} to {self._high[i]:.0f}"
            where = "here it" if self.size == 1 else f"there {name}"
            raise UserError(f"an observation cannot be {brief(observation)}: {where} is a whole number from {limits}")
        return s

    def sound(self, states: np.ndarray) -> np.ndarray:
        """Which numbers of states can be: finite ones, and of whole numbers those within their bounds."""
        possible = (states == np.floor(states)) & (self._low <= states) & (states <= self._high)
        return np.isfinite(states) & (possible | ~self._whole)

    def names(self) -> list[str]:
        """What the numbers of a state are called."""
        return [name for leaf in leaves(self.layout) for name in leaf.names()]


class Step(NamedTuple):
    """What a step led to; the discount is None if the environment does not say one."""

    s: np.ndarray
    reward: float
    terminated: bool
    truncated: bool
    discount: float | None


def observed(space: Any, plan: Plan, discrete: bool) -> Observed:
    """What observations are for the learner of a plan, from what `spaces.describe` said of their space.

    A file of the compiled loop says nothing of it: there an observation is the state.
    """
    size = len(plan.low)
    layout = Leaf((), (size,), plan.low, plan.high, whole=False) if space is None else layout_of(space)
    if sum(len(leaf.low) for leaf in leaves(layout)) != size:
        raise UserError(f"the checkpoint cannot be right: its observations are {brief(space)}, its bounds {size}")
    return Observed(layout, plan.low, plan.high, discrete)


def check_fit(actions: Any, own: Mapping[str, Any] | None, plan: Plan, saved: Any) -> None:
    """Refuse spaces that are not those of the plan; `own` is what `spaces.describe` says of the observations, `saved`
    what it said when the plan was made, or None. Where features are made by somebody's function, `own` is None: it may
    read anything.

    A file of the compiled loop says nothing of a space: there the bounds of the plan are those of the world.
    """
    size = len(plan.low) if own is None else sum(len(leaf.low) for leaf in leaves(layout_of(own)))
    if actions.n != plan.n_actions or size != len(plan.low):
        raise UserError(
            f"the agent was saved for {plan.n_actions} actions and {len(plan.low)} observed numbers, "
            f"but the environment has {actions.n} and {size}"
        )
    if own is None:
        return
    before = {"kind": own["kind"], "low": plan.low, "high": plan.high} if saved is None else saved
    if isinstance(before, Mapping) and before.get("kind") == "box" and "shape" not in before:
        own = {name: value for name, value in own.items() if name != "shape"}  # files of before do not say it
    same_states = own["kind"] != "discrete" or (own["low"], own["high"]) == (plan.low, plan.high)
    if before != own or not same_states:
        raise UserError(f"the agent was saved for observations {brief(before)}, but the environment's are {brief(own)}")


def read_reset(given: Any, kind: Observed) -> np.ndarray:
    """The state that `reset` gave."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[1], Mapping):
        raise UserError(f"reset() cannot give {brief(given)}: it is a pair (observation, info), info a mapping")
    return kind.read(given[0])


def read_step(given: Any, kind: Observed) -> Step:
    """What `step` gave."""
    if not isinstance(given, tuple) or len(given) != 5:
        many = f"{len(given)} values" if isinstance(given, tuple) else brief(given)
        raise UserError(f"step() cannot give {many}: it is {FIVE}; an environment of the old Gym needs a wrapper")
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
    """The number of a scalar, or of an array of one; None for anything else. Infinite if it is too large."""
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
