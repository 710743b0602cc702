"""Internal quantities of a learner that explain its bounds.

An algorithm reports them with `internals`, by name. If its squared radius consists of a decaying initial variance and a
learned part, `learned` gives the learned fraction. That fraction is averaged over a state distribution, as the radius
is, in two ways: weighted by the squared radius, and with equal weights. The second is larger where the initial variance
has decayed: the little that remains of the radius there is learned.
"""

import functools
from typing import Any

import numpy as np

from ucls.core.learned_features import functions_of
from ucls.core.learner import Learner
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import engine_of

LEARNED, ALIKE = "learned part", "learned part by state"


def internals(learner: Learner, points: np.ndarray, d_s: np.ndarray, d: np.ndarray | None = None) -> dict[str, float]:
    """Return the internal quantities of a learner by name; empty if it has none.

    The learned parts are means over the weights `d` of states and actions, or, where there are none, over `d_s` of
    states with the action that the agent would take.
    """
    algorithm: Any = learner.algorithm
    found = algorithm.internals(learner.state, learner.hyper) if hasattr(algorithm, "internals") else {}
    if not hasattr(algorithm, "learned"):
        return found
    mean, top = learner.survey(points)
    if d is None:
        d = d_s[:, None] * np.eye(learner.plan.n_actions)[np.argmax(top, axis=1)]
    parts, by_size = _parts(learner, points), d * (top - mean) ** 2
    whole = float(np.sum(by_size))
    learned = float(np.sum(by_size * parts)) / whole if whole > 0.0 else np.nan
    return {**found, LEARNED: learned, ALIKE: float(np.sum(d * parts))}


def columns(readings: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """Return successive measurements as an array for each name."""
    names = readings[0] if readings else ()
    return {name: np.array([reading[name] for reading in readings]) for name in names}


def _parts(learner: Learner, points: np.ndarray) -> np.ndarray:
    """The learned part of the squared radius of every action in many states."""
    parts = np.zeros((len(points), learner.plan.n_actions))
    xs = la.no_features(learner.plan.n_actions, learner.coder.n_active)
    where = np.ascontiguousarray(points, np.float64)
    _kernel(learner.algorithm, learner.features)(learner.hyper, learner.coder, learner.state, where, xs, parts)
    return parts


@functools.cache
def _kernel(algorithm: Any, features: Any) -> Any:
    learned, lookup = functions_of(algorithm).learned, features.lookup

    @engine_of(algorithm)
    def learned_parts(hyper, coder, state, points, xs, parts):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            for a in range(parts.shape[1]):
                parts[i, a] = learned(state, hyper, la.of_action(xs, a))

    return learned_parts
