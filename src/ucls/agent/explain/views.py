"""The views of a map: a line, a plane, the cells of a grid, or planes through a state with more dimensions."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.errors import UserError

LINE, PLANE, SLICE = 161, 41, 25  # points along a dimension: where there is one, two, or more
PAIRS = 6  # planes that are shown of a state with many dimensions: those of neighbors first, which belong together
CELLS = 2500  # states that are shown of an environment with discrete ones


class Axis(NamedTuple):
    """A dimension of the observation on a map."""

    name: str
    low: float
    high: float


class View(NamedTuple):
    """Points of one map, row by row: `rows` of them, each with `columns` points.

    `across` and `up` are the axes of a plane, `up` is None on a line, and both are None where states are cells of a
    grid, the first row on top. `dims` are the dimensions that the map shows, `through` is the state that the others
    are held at.
    """

    title: str
    points: np.ndarray
    rows: int
    columns: int
    across: Axis | None
    up: Axis | None
    dims: tuple[int, ...]
    through: tuple[float, ...] | None = None

    def place(self, states: np.ndarray) -> np.ndarray:
        """The points of the map that some states are nearest to, in the dimensions that it shows."""
        if self.across is None:
            return np.asarray(states[:, 0] - self.points[0, 0], np.int64)
        column = _nearest(states[:, self.dims[0]], self.across, self.columns)
        row = 0 if self.up is None else _nearest(states[:, self.dims[1]], self.up, self.rows)
        return row * self.columns + column

    def moved(self, state: np.ndarray) -> "View":
        """The same plane through another state."""
        points = np.tile(state, (len(self.points), 1))
        points[:, self.dims] = self.points[:, self.dims]
        return self._replace(points=points, through=tuple(float(x) for x in state))


def views_of(
    low: Sequence[float],
    high: Sequence[float],
    discrete: bool = False,
    grid: tuple[int, int] | None = None,
    through: Sequence[float] | None = None,
    names: Sequence[str] = (),
) -> list[View]:
    """Return the maps of an environment with these bounds; `names` are those of the dimensions, if they have any.

    `grid` are the rows and columns that discrete states are the cells of, if they are; `through` is the state that
    planes go through where there are more than two dimensions, the middle of the bounds by default.
    """
    names = names if len(names) == len(low) else [f"observation[{i}]" for i in range(len(low))]
    axes = [Axis(name, float(a), float(b)) for name, a, b in zip(names, low, high, strict=True)]
    if discrete and len(axes) == 1:
        return [_cells(axes[0], grid)]
    if len(axes) == 1:
        points = np.linspace(axes[0].low, axes[0].high, LINE)[:, None]
        return [View("all states", points, 1, LINE, axes[0], None, (0,))]
    if through is not None and len(through) != len(axes):
        raise UserError(f"a state of this environment has {len(axes)} numbers, not {len(through)}")
    middle = np.array([(axis.low + axis.high) / 2 for axis in axes] if through is None else through, np.float64)
    middle = np.floor(middle) if discrete else middle
    if len(axes) == 2:
        return [_plane(axes, (0, 1), middle, PLANE, discrete)._replace(title="all states", through=None)]
    pairs = list(itertools.combinations(range(len(axes)), 2))
    if len(pairs) > PAIRS:
        pairs.sort(key=lambda pair: pair[0] % 2 == 1 or pair[1] != pair[0] + 1)
    return [_plane(axes, pair, middle, SLICE, discrete) for pair in pairs[:PAIRS]]


def _cells(axis: Axis, grid: tuple[int, int] | None) -> View:
    states = int(axis.high - axis.low) + 1
    if states > CELLS:
        raise UserError(f"{states:,} states are too many for a map: at most {CELLS:,} are shown")
    rows, columns = grid if grid is not None and grid[0] * grid[1] == states else (-(-states // 20), min(states, 20))
    points = axis.low + np.arange(states, dtype=np.float64)[:, None]
    return View("all states" if grid else "states by number", points, rows, columns, None, None, (0,))


def _plane(axes: Sequence[Axis], pair: tuple[int, int], through: np.ndarray, count: int, discrete: bool) -> View:
    across, up = axes[pair[0]], axes[pair[1]]
    columns, rows = _marks(across, count, discrete), _marks(up, count, discrete)
    points = np.tile(through, (len(columns) * len(rows), 1))
    points[:, pair[0]] = np.tile(columns, len(rows))
    points[:, pair[1]] = np.repeat(rows, len(columns))
    state = tuple(float(x) for x in through)
    return View(f"{across.name} and {up.name}", points, len(rows), len(columns), across, up, pair, state)


def _marks(axis: Axis, count: int, discrete: bool) -> np.ndarray:
    """Return so many points along a dimension, or fewer if states are integers."""
    if not discrete:
        return np.linspace(axis.low, axis.high, count)
    return np.rint(np.linspace(axis.low, axis.high, min(count, int(axis.high - axis.low) + 1)))


def _nearest(values: np.ndarray, axis: Axis, count: int) -> np.ndarray:
    part = (values - axis.low) / ((axis.high - axis.low) or 1.0)
    return np.clip(np.rint(part * (count - 1)), 0, count - 1).astype(np.int64)
