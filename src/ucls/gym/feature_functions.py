"""Features precomputed by a user's function of the observation, or looked up in the rows of a user's array.

The function gets the observation as the environment returns it, from any space, and always returns the same number of
features.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ucls.core.config import Plan, brief
from ucls.errors import UserError
from ucls.features import is_precomputed
from ucls.gym import observations
from ucls.gym.layout import Leaf, real_numbers

MOST = 100_000


class FeaturesError(UserError):
    """A user's function returned invalid features; the environment is not the cause."""


class Mapped(observations.Observed):
    """Reads observations of `space` by a user's `function`, which returns features."""

    def __init__(self, function: Callable[[Any], Any], size: int, space: Any) -> None:
        self.function, self.space = function, space
        nothing = [np.nan] * size
        super().__init__(Leaf((), (size,), nothing, nothing, whole=False), nothing, nothing)

    def read(self, observation: Any) -> np.ndarray:
        """The features of an observation, which serve as the state of a learner."""
        numbers = features_of(self.function, observation)
        if len(numbers) != self.size:
            raise FeaturesError(
                f"{_called(self.function)} returned {len(numbers)} numbers for {brief(observation)}, but {self.size} "
                "before: always return the same number"
            )
        return numbers

    def read_many(self, observations: Any) -> np.ndarray | None:
        """The features of a batch of observations; None for a single observation."""
        shape = getattr(self.space, "shape", None)
        batch = real_numbers(observations)
        if shape is None or batch is None or batch.shape[1:] != shape or batch.ndim != len(shape) + 1:
            return None
        return np.array([self.read(observation) for observation in batch]).reshape(len(batch), self.size)

    def bounds(self, low: Any, high: Any) -> tuple[list[float], list[float]]:
        """Nominal bounds: precomputed features are used as they are."""
        if low is not None or high is not None:
            raise UserError(
                "low and high are for observations, but your own features are used as they are: leave them out"
            )
        return [0.0] * self.size, [1.0] * self.size

    def names(self) -> list[str]:
        """The names of the features."""
        return [f"features[{i}]" for i in range(self.size)]


def reader_of(features: Any, env: Any, seed: int) -> Mapped | None:
    """The reader for features that are a function or an array; the first observation determines their number.

    None for features by name or module.
    """
    if features is None or isinstance(features, str) or hasattr(features, "encode"):
        return None
    space = env.observation_space
    function = features if callable(features) else _row_of(features, space)
    given = env.reset(seed=seed)
    if not isinstance(given, tuple) or len(given) != 2:
        raise UserError(f"reset() cannot give {brief(given)}: return a pair (observation, info), info a mapping")
    size = len(features_of(function, given[0]))
    if not 0 < size <= MOST:
        raise UserError(f"{_called(function)} returned {size} numbers for {brief(given[0])}: return from 1 to {MOST:,}")
    return Mapped(function, size, space)


def saved_reader(plan: Plan, features: Any, env: Any) -> Mapped | None:
    """The reader for an agent from a file whose features are precomputed; None if they are not, or not given again."""
    if not is_precomputed(plan.features):
        return None
    if features is None and env is not None:
        raise UserError(
            "the agent's features were computed by your own function or array: give it again, load(features=...)"
        )
    if features is None:
        return None
    space = getattr(env, "observation_space", None)
    return Mapped(features if callable(features) else _row_of(features, space), len(plan.low), space)


def features_of(function: Callable[[Any], Any], observation: Any) -> np.ndarray:
    """The features that a user's function returns for an observation: a one-dimensional array of finite numbers."""
    try:
        given = function(observation)
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise FeaturesError(f"{_called(function)} failed for {brief(observation)}: {told}") from error
    numbers = real_numbers(given)
    if numbers is None or numbers.ndim != 1 or not np.isfinite(numbers).all():
        made = f"{brief(given)} for {brief(observation)}"
        raise FeaturesError(f"{_called(function)} returned {made}: return a one-dimensional array of finite numbers")
    return numbers.astype(np.float64)


def _called(function: Callable[[Any], Any]) -> str:
    """The name of a features function in messages."""
    return f"the features function {getattr(function, '__name__', type(function).__name__)!r}"


def _row_of(features: Any, space: Any) -> Callable[[Any], np.ndarray]:
    """The row of an array for each state of a discrete space."""
    rows = real_numbers(features)
    if rows is None or rows.ndim != 2 or not np.isfinite(rows).all():
        raise UserError(f"features cannot be {brief(features)}: give a name, a module, a function, or an array of rows")
    if not hasattr(space, "n") or len(rows) != space.n:
        raise UserError(f"features with {len(rows)} rows need as many discrete states: the observations are {space}")

    def row_of_array(observation: Any) -> np.ndarray:
        return rows[int(observation) - int(space.start)]

    return row_of_array
