"""What an environment gives, read before a kernel sees it: numbers of the right kind, or one line that names the fault.

Kernels do not check the indices they make of an observation, so this is where it is done.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.runs.plan import Plan, brief, checked_discount

PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
FIVE = "(observation, reward, terminated, truncated, info)"


class Observed(NamedTuple):
    """What an observation is: its shape, its bounds, and whether it is a whole number, of which none lies outside."""

    shape: tuple[int, ...]
    low: list[float]
    high: list[float]
    whole: bool

    def read(self, observation: Any) -> np.ndarray:
        """The observation as the state of a learner."""
        if type(observation) is np.ndarray and observation.dtype in PLAIN and observation.shape == self.shape:
            s = observation.astype(np.float64).ravel()
            if not self.whole and np.logical_and.reduce(np.isfinite(s)):
                return s
        return self._read_any(observation)

    def _read_any(self, observation: Any) -> np.ndarray:
        """The observation, whatever it is, or what is wrong with it."""
        s = real_numbers(observation)
        if s is None or s.shape not in (self.shape, (len(self.low),)):
            kind = "one number" if len(self.low) == 1 else f"{len(self.low)} numbers"
            raise UserError(f"an observation cannot be {brief(observation)}: here it is {kind}, of shape {self.shape}")
        s = s.astype(np.float64).ravel()
        if not np.isfinite(s).all():
            raise UserError(f"an observation cannot be {brief(observation)}: observations must be finite")
        if self.whole and not (s[0] == np.floor(s[0]) and self.low[0] <= s[0] <= self.high[0]):
            limits = f"{self.low[0]:.0f} to {self.high[0]:.0f}"
            raise UserError(f"an observation cannot be {brief(observation)}: here it is a whole number from {limits}")
        return s


class Step(NamedTuple):
    """What a step led to; the discount is None if the environment does not say one."""

    s: np.ndarray
    reward: float
    terminated: bool
    truncated: bool
    discount: float | None


def observed(space: Any, plan: Plan) -> Observed:
    """What the observations of a Gymnasium space are for the learner of a plan."""
    whole = hasattr(space, "n") or plan.features == "one_hot"
    return Observed(space.shape, plan.low, plan.high, whole)


def remembered(space: Any, plan: Plan) -> Observed:
    """What the observations were, from what `describe` said of their space, if a file keeps that."""
    discrete = isinstance(space, Mapping) and space.get("kind") == "discrete"
    shape = () if discrete else (len(plan.low),)
    return Observed(shape, plan.low, plan.high, discrete or plan.features == "one_hot")


def describe(space: Any) -> dict[str, Any]:
    """A space of observations as data, to be compared: its kind and its own bounds, None where it has none."""
    if hasattr(space, "n"):
        return {"kind": "discrete", "low": [float(space.start)], "high": [float(space.start + space.n - 1)]}
    bounds = {"low": space.low, "high": space.high}
    numbers = {name: np.asarray(bound, np.float64).ravel().tolist() for name, bound in bounds.items()}
    return {"kind": "box", **{name: [x if np.isfinite(x) else None for x in bound] for name, bound in numbers.items()}}


def check_fit(actions: Any, observations: Any, plan: Plan, saved: Any) -> None:
    """Refuse spaces that are not those of the plan; `saved` is what `describe` said of the observations, or None.

    A file of the compiled loop says nothing of a space: there the bounds of the plan are those of the world.
    """
    if not hasattr(observations, "n") and not hasattr(observations, "low"):
        raise UserError(f"the agent was saved for other observations than {brief(observations)}: wrap the environment")
    own = describe(observations)
    if actions.n != plan.n_actions or len(own["low"]) != len(plan.low):
        raise UserError(
            f"the agent was saved for {plan.n_actions} actions and {len(plan.low)} observed numbers, "
            f"but the environment has {actions.n} and {len(own['low'])}"
        )
    before = {"kind": own["kind"], "low": plan.low, "high": plan.high} if saved is None else saved
    same_states = own["kind"] == "box" or (own["low"], own["high"]) == (plan.low, plan.high)
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
    numbers = real_numbers(given)
    if numbers is None or numbers.shape != ():
        raise UserError(f"a reward cannot be {brief(given)}: it is one number")
    if not np.isfinite(numbers):
        raise UserError(f"a reward cannot be {brief(given)}: rewards must be finite")
    return float(numbers)


def _flag(name: str, given: Any) -> bool:
    if type(given) in (bool, np.bool_):
        return bool(given)
    numbers = real_numbers(given)
    if numbers is None or numbers.shape != () or numbers not in (0, 1):
        raise UserError(f"{name} cannot be {brief(given)}: it is True or False")
    return bool(numbers)


def real_numbers(given: Any) -> np.ndarray | None:
    """Real numbers as an array; None for what is anything else."""
    try:
        numbers = np.asarray(given)
    except Exception:  # ragged lists, and whatever the object of a stranger raises
        return None
    return numbers if numbers.dtype.kind in "biuf" else None
