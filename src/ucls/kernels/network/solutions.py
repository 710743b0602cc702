"""The last few solutions: the frozen network, the last layer of W, its corrections, and how states were normalized.

The value estimate is the mean of W over them. One solution in ten or so is poor, because the features have changed
since the last one; the mean of five is not (`docs/deep.md` has the measurements).
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Array, IntScalar, Matrix, Vector
from ucls.kernels.network import network as nw
from ucls.kernels.network import partitions as pt
from ucls.kernels.ranges import POSITIVE, Within

CLIP = 3.0  # standard deviations up to which inputs are linear; beyond, they grow like a logarithm


class Solutions(NamedTuple):
    """The newest comes first: weights of the networks, last layers by action, corrections of the partitions, values
    without data, and the normalizations of states; how many solutions there are."""

    weights: Matrix
    last: Array
    corrections: Array
    base: Vector
    center: Matrix
    spread: Annotated[Matrix, POSITIVE]
    used: Annotated[IntScalar, Within(0, 1000)]


def solutions(limit: int, parts: pt.Partitions, dimensions: int, hidden: int, n_actions: int) -> Solutions:
    """None yet; the first place has what the agent begins with."""
    return Solutions(
        weights=np.zeros((limit, nw.size(dimensions, hidden, n_actions)), np.float32),
        last=np.zeros((limit, n_actions, hidden + 1)),
        corrections=np.zeros((limit, *parts.mean.shape), np.float32),
        base=np.zeros(limit),
        center=np.zeros((limit, dimensions)),
        spread=np.ones((limit, dimensions)),
        used=np.zeros(1, np.int64),
    )


def room(limit: int, many: int, cells: int, dimensions: int, hidden: int, n_actions: int) -> int:
    """Numbers of 8 bytes."""
    tables = nw.size(dimensions, hidden, n_actions) + many * cells * n_actions
    return limit * (tables // 2 + n_actions * (hidden + 1) + 2 * dimensions + 2)


def push(recent: Solutions) -> None:
    """Make place for a new solution before the others; the oldest is forgotten if there is no more room."""
    recent.used[0] = min(recent.used[0] + 1, len(recent.base))
    for part in recent[:-1]:
        part[1:] = part[:-1].copy()


def normalized(states: np.ndarray, center: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """States with mean 0 and standard deviation 1."""
    return ((states - center) / spread).astype(np.float32)


def inputs_of(z: np.ndarray) -> np.ndarray:
    """Normalized states as the network gets them: outliers are drawn in."""
    far = np.abs(z) - np.float32(CLIP)
    return np.where(far > 0.0, np.sign(z) * (np.float32(CLIP) + np.log1p(np.maximum(far, 0.0))), z)


def value(recent: Solutions, parts: pt.Partitions, s: np.ndarray) -> np.ndarray:
    """The mean of W over the solutions, for every action in one state."""
    k, (n_actions, width) = max(1, int(recent.used[0])), recent.last.shape[1:]
    z = normalized(s, recent.center[:k], recent.spread[:k])
    net = nw.layers_of(recent.weights[:k], len(s), width - 1, n_actions)
    phi = nw.features_of_each(net, inputs_of(z))
    last = recent.last[:k]
    W = recent.base[:k, None] + (last[:, :, :-1] @ phi[:, :, None])[:, :, 0] + last[:, :, -1]
    found = recent.corrections[np.arange(k)[:, None], np.arange(len(parts.shifts) // 2), pt.cells_of(parts, z)]
    return (W + found.mean(axis=1)).mean(axis=0)
