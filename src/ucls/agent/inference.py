"""Predictions and intervals for one observation or a batch, which are told apart by the shape of the space.

A batch has a leading dimension, as in vector environments, and is processed in one compiled call, with the same result
as its observations one by one.
"""

from typing import Any

import numpy as np

from ucls.core.learner import Learner, Uncertainty
from ucls.gym.feature_functions import Mapped
from ucls.gym.layout import Branch, real_numbers, stack
from ucls.gym.observations import Observed


def read(kind: Observed, observation: Any) -> tuple[np.ndarray, bool]:
    """The state of an observation, or the states of a batch; and whether it is a batch.

    The shape of the space takes precedence: if observations are single numbers, a list of one is a batch of one.
    """
    if isinstance(kind, Mapped):
        many = kind.read_many(observation)
        return (kind.read(observation), False) if many is None else (many, True)
    if isinstance(kind.layout, Branch):
        many = stack(kind.layout, observation)
        return (kind.read(observation), False) if many is None else (read_batch(kind, many), True)
    given, flat = real_numbers(observation), (kind.size,)
    if given is None or given.shape == kind.shape:
        return kind.read(observation), False
    if given.shape[1:] != kind.shape and (given.shape == flat or given.shape[1:] != flat):
        return kind.read(observation), False
    return read_batch(kind, given), True


def read_batch(kind: Observed, given: np.ndarray) -> np.ndarray:
    """The states of observations with a leading dimension; an error names the first invalid one."""
    points = given.reshape(len(given), kind.size).astype(np.float64)
    for i in np.flatnonzero(~kind.sound(points).all(axis=1))[:1]:
        kind.read(given[i])  # raises an error that says what is wrong
    return points


def predict(learner: Learner, kind: Observed, observation: Any, deterministic: bool) -> Any:
    """The action, numbered from 0: the first with the highest mean, or the one that the algorithm chooses."""
    s, many = read(kind, observation)
    if many:
        return best_actions(learner, s, deterministic)
    return int(np.argmax(learner.interval(s)[0])) if deterministic else learner.choose(s)


def best_actions(
    learner: Learner, points: np.ndarray, deterministic: bool, rng: np.random.Generator | None = None
) -> np.ndarray:
    """The actions in many states; random numbers come from `rng` if it is given."""
    return np.argmax(learner.intervals(points, rng)[0], axis=1) if deterministic else learner.choices(points, rng)


def value_estimates(learner: Learner, kind: Observed, observation: Any) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the radius of every action; for a batch, one row per observation."""
    s, many = read(kind, observation)
    return learner.intervals(s) if many else learner.interval(s)


def uncertainty(learner: Learner, kind: Observed, observation: Any) -> Uncertainty:
    """The two terms of the radius of every action; for a batch, one row per observation."""
    s, many = read(kind, observation)
    return Uncertainty(*learner.split(s)[:2]) if many else learner.uncertainty(s)
