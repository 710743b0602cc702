"""Predictions and intervals for one observation or a batch; the shape of the space tells which it is.

A batch has a leading dimension, as in vector environments, and is processed in one compiled call, with the same result
as its observations one by one.
"""

from html import escape
from typing import Any, NamedTuple

import numpy as np

from ucls._util.notebook import intervals
from ucls.core.learner import Learner
from ucls.core.queries import Uncertainty
from ucls.gym.action_masks import checked_masks, mask_in
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
    observation = kind.part_read(observation)
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


def masks_for(learner: Learner, points: np.ndarray, observation: Any, given: Any) -> np.ndarray | None:
    """Return the masks of some states: those that are given, those in their observations, or those that the agent met
    there; None if there are none."""
    given = mask_in(observation) if given is None else given
    if given is not None:
        return checked_masks(given, len(points), learner.plan.n_actions)
    return None if learner.masks is None else learner.met_masks(points)


def predict(learner: Learner, kind: Observed, observation: Any, deterministic: bool, masks: Any = None) -> Any:
    """The action, numbered from 0: the first with the highest mean, or the one that the algorithm chooses."""
    s, many = read(kind, observation)
    points = s if many else s[None]
    best = best_actions(learner, points, deterministic, masks=masks_for(learner, points, observation, masks))
    return best if many else int(best[0])


def best_actions(
    learner: Learner,
    points: np.ndarray,
    deterministic: bool,
    rng: np.random.Generator | None = None,
    masks: np.ndarray | None = None,
) -> np.ndarray:
    """The actions in many states, valid by `masks`; random numbers come from `rng` if it is given."""
    if not deterministic:
        return learner.choices(points, rng, masks)
    return np.argmax(valid(learner.intervals(points, rng)[0], masks, -np.inf), axis=1)


def valid(values: np.ndarray, masks: np.ndarray | None, other: float = np.nan) -> np.ndarray:
    """Values of actions; those of invalid ones replaced."""
    return values if masks is None else np.where(masks, values, other)


class Estimates(NamedTuple):
    """The mean and the radius of every action's value; a notebook shows them as intervals."""

    mean: np.ndarray
    radius: np.ndarray

    def _repr_html_(self) -> str:
        if self.mean.ndim > 1 or not np.isfinite(self.mean).any():
            return f"<pre>{escape(repr(self))}</pre>"
        known = [a for a in range(len(self.mean)) if np.isfinite(self.mean[a])]  # the others are not allowed
        return intervals([(f"action {a}", float(self.mean[a]), float(self.radius[a])) for a in known])


def value_estimates(learner: Learner, kind: Observed, observation: Any, masks: Any) -> Estimates:
    """The mean and the radius of every action; for a batch, one row per observation."""
    s, many = read(kind, observation)
    points = s if many else s[None]
    masks = masks_for(learner, points, observation, masks)
    mean, radius = (valid(part, masks) for part in learner.intervals(points))
    return Estimates(mean, radius) if many else Estimates(mean[0], radius[0])


def uncertainty(learner: Learner, kind: Observed, observation: Any, masks: Any) -> Uncertainty:
    """The two terms of the radius of every action; for a batch, one row per observation."""
    s, many = read(kind, observation)
    points = s if many else s[None]
    masks = masks_for(learner, points, observation, masks)
    parts = [valid(part, masks) for part in learner.split(points)[:2]]
    return Uncertainty(*parts) if many else Uncertainty(*(part[0] for part in parts))
