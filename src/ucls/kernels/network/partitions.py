"""Random partitions of the state space: what was visited, how well values fit there, and what corrects them.

Each partition projects a normalized state onto two random directions and divides that plane into squares, which share
the cells of a table by hashing. In every cell, for every action, there are the number of visits n, the squared
residuals of the values' targets, and the mean residual of the two regressions. The partitions are fixed, so that they
tell apart what the learned features do not (Deep Sea with coordinates has 210 cells of unrelated actions), and cost the
same for any number of dimensions. With P partitions,

    q       = m mean_p 1 / (n_p + 0.01)                        the prior's visits over those of the place
    noise^2 = mean_p (sum delta^2 + l sigma^2) / (n_p + 0.01)^2    l = mean_p 1/n_p, sigma^2 = sum delta^2 / sum (1 - l)
    c       = mean_p (sum delta) / (n_p + shrink)                  correction of a regression, in a few passes

where one partition with one cell for each state makes these the formulas of one-hot features. Related: tile coding,
and counts of hashed states (Tang et al. 2017).
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import Array, Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import NOT_NEGATIVE

LEAST = 0.01  # visits of a place that was never visited
PRIMES = 73856093, 19349663  # of the hash (Teschner et al. 2003)


class Partitions(NamedTuple):
    """Directions (two rows for each partition) and shifts; tables by partition, cell and action."""

    directions: Matrix
    shifts: Vector
    visits: Annotated[Array, NOT_NEGATIVE]
    squares: Annotated[Array, NOT_NEGATIVE]
    mean: Array
    upper: Array


def partitions(many: int, cells: int, dimensions: int, n_actions: int) -> Partitions:
    """Partitions without data; `draw` makes them random."""
    tables = [np.zeros((many, cells, n_actions), np.float32) for _ in range(4)]
    return Partitions(np.zeros((2 * many, dimensions), np.float32), np.zeros(2 * many, np.float32), *tables)


def room(many: int, cells: int, dimensions: int, n_actions: int) -> int:
    """Numbers of 8 bytes."""
    return many * (dimensions + 1) + 2 * many * cells * n_actions


def draw(parts: Partitions, width: float, rng: np.random.Generator) -> None:
    """Random directions, orthogonal in pairs, in which a square is `width` long; and shifts of up to a square.

    With d < 3 dimensions squares are sqrt(d / 3) times as long: states are closer together there.
    """
    many, dimensions = len(parts.visits), parts.directions.shape[1]
    width *= min(1.0, np.sqrt(dimensions / 3.0))
    for p in range(many):
        pair = rng.normal(size=(2, dimensions))
        pair[0] /= np.linalg.norm(pair[0])
        if dimensions > 1:
            pair[1] -= (pair[1] @ pair[0]) * pair[0]
        parts.directions[2 * p : 2 * p + 2] = pair / (width * np.linalg.norm(pair, axis=1, keepdims=True))
    parts.shifts[:] = rng.uniform(0.0, 1.0, 2 * many)


def cells_of(parts: Partitions, z: np.ndarray) -> np.ndarray:
    """The cell of each normalized state in each partition."""
    at = np.floor(z @ parts.directions.T + parts.shifts).astype(np.int64)
    mixed = (at[:, 0::2] * PRIMES[0]) ^ (at[:, 1::2] * PRIMES[1])
    return mixed % parts.visits.shape[1]


@jit
def visit(parts, cells, a):
    """Count a visit of the cells of a state."""
    for p in range(len(cells)):
        parts.visits[p, cells[p], a] += 1.0


@jit
def visits_of_prior(parts, cells, m, q):
    """Write q, the prior's visits over those of the place, for every row of cells and every action."""
    P, n_actions = len(parts.visits), q.shape[1]
    for i in range(len(cells)):
        for a in range(n_actions):
            q[i, a] = 0.0
        for p in range(P):
            for a in range(n_actions):
                q[i, a] += m / (P * (parts.visits[p, cells[i, p], a] + LEAST))
