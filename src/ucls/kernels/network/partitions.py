"""Random partitions of the state space: what was visited, how well values fit there, and what corrects them.

Each partition projects a normalized state onto two random directions and divides that plane into squares. In every
cell, for every action, there are the number of visits n, the squared residuals of the values' targets, and the mean
residual of the two regressions. They are fixed, so that they tell apart what the learned features do not (Deep Sea
with coordinates has 210 cells of unrelated actions), and cost the same for any number of dimensions. With P partitions,

    q       = m mean_p 1 / (n_p + 0.01)                        the prior's visits over those of the place
    noise^2 = mean_p (sum delta^2 + l sigma^2) / (n_p + 0.01)^2    l = mean_p 1/n_p, sigma^2 = sum delta^2 / sum (1 - l)
    c       = mean_p (sum delta) / (n_p + shrink)              correction of a regression

where one partition with one cell for each state makes these the formulas of one-hot features. Related: tile coding,
and counts of hashed states (Tang et al. 2017).
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Array, Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import NOT_NEGATIVE

LEAST = 0.01  # visits of a place that was never visited
REACH = 3.0  # standard deviations from the center to the last cells


class Partitions(NamedTuple):
    """Directions (two rows for each partition) and shifts; tables by partition, cell and action."""

    directions: Matrix
    shifts: Vector
    visits: Annotated[Array, NOT_NEGATIVE]
    squares: Annotated[Array, NOT_NEGATIVE]
    mean: Array
    upper: Array


def partitions(many: int, bins: int, dimensions: int, n_actions: int) -> Partitions:
    """Partitions without data; `draw` makes them random."""
    tables = [np.zeros((many, bins * bins, n_actions), np.float32) for _ in range(4)]
    return Partitions(np.zeros((2 * many, dimensions), np.float32), np.zeros(2 * many, np.float32), *tables)


def room(many: int, bins: int, dimensions: int, n_actions: int) -> int:
    """Numbers of 8 bytes."""
    return many * (dimensions + 1) + 2 * many * bins * bins * n_actions


def draw(parts: Partitions, rng: np.random.Generator) -> None:
    """Random directions of length 1, orthogonal in pairs, and shifts of up to a cell."""
    many, dimensions = len(parts.visits), parts.directions.shape[1]
    for p in range(many):
        pair = rng.normal(size=(2, dimensions))
        pair[0] /= np.linalg.norm(pair[0])
        if dimensions > 1:
            pair[1] -= (pair[1] @ pair[0]) * pair[0]
        parts.directions[2 * p : 2 * p + 2] = pair / np.linalg.norm(pair, axis=1, keepdims=True)
    parts.shifts[:] = rng.uniform(0.0, 1.0, 2 * many)


def cells_of(parts: Partitions, inputs: np.ndarray) -> np.ndarray:
    """The cell of each row in each partition."""
    bins = round(np.sqrt(parts.visits.shape[1]))
    at = inputs @ parts.directions.T
    at *= np.float32(bins / (2.0 * REACH))
    at += parts.shifts + np.float32(bins / 2.0 - 0.5)
    at = np.clip(np.floor(at), 0, bins - 1).astype(np.int32)
    return at[:, 0::2] * bins + at[:, 1::2]


@jit
def visit(parts, cells, a):
    """Count a visit of the cells of a state."""
    for p in range(len(cells)):
        parts.visits[p, cells[p], a] += 1.0


@jit
def prior(parts, cells, a, m):
    """q, the prior's visits over those of the place."""
    total = 0.0
    for p in range(len(cells)):
        total += 1.0 / (parts.visits[p, cells[p], a] + LEAST)
    return m * total / len(cells)


@jit
def noise(parts, cells, a):
    """The standard error of the value of a place."""
    total = 0.0
    for p in range(len(cells)):
        n = parts.visits[p, cells[p], a] + LEAST
        total += parts.squares[p, cells[p], a] / (n * n)
    return np.sqrt(total / len(cells))


@jit
def correction(table, cells, a):
    """What to add to a regression."""
    total = 0.0
    for p in range(len(cells)):
        total += table[p, cells[p], a]
    return total / len(cells)
