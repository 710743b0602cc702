"""Deep Sea: a diver sinks through a square of cells, and only going right in every step leads to the treasure.

The sea has `size` rows and columns, N. An episode starts at the top left and goes down one row with every step, to the
left or to the right, so that it terminates after N steps. Going right costs `move_cost` / N; going right N times in a
row yields the treasure, +1, in the bottom right corner. Which of the two actions goes right differs between cells and
never changes. A random policy finds the treasure once in 2^N episodes: this is a test of deep exploration (Osband et
al. 2019, "Deep exploration via randomized value functions"; deep_sea of bsuite, whose rules these are).

In the stochastic sea going right fails with probability 1/N (the diver sinks straight down, at the same cost), and
normal noise of variance 1 is added to the last reward in the two bottom corners.

The state is the number of the cell among the reachable ones, row by row: row * (row + 1) / 2 + column. After the last
step it stays in the bottom row.

Deviations: bsuite draws the action map with NumPy's old generator; here it is a hash of `mapping_seed` and the cell's
number, so that it is the same on every machine, and a shallower sea is the top of a deeper one. bsuite's own discount
is 1 and its agents use 0.99; so it is 0.99 here. Its observation has all N^2 cells, and is empty after termination;
the cells right of the diagonal cannot be reached and have no number here.
"""

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GOLD, INK, MIST, ORANGE, SAND, WATER, WHITE, Canvas, mix
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Nodes, Optimal, Problem
from ucls.settings import NOT_NEGATIVE, UNIT, Flag, Whole

ACTIONS = ("one", "other")
LOW, HIGH = (0.0,), (54.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of Deep Sea."""

    size: Annotated[int, Whole(2, 100), "rows of the sea, and steps of an episode; bsuite has 10 to 50"] = 10
    stochastic: Annotated[int, Flag(), "whether going right may fail and the rewards in the corners are noisy"] = 0
    mapping_seed: Annotated[int, Whole(0, 2**32 - 1), "which map of the actions"] = 0
    move_cost: Annotated[float, NOT_NEGATIVE, "cost of going right all the way"] = 0.01
    discount: Annotated[float, UNIT, "discount of every step"] = 0.99
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 0


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms; the noise of a stochastic sea is not counted."""
    return {"reward_max": 1.0, "return_max": 1.0, "time_limit": float(longest(env))}


def longest(env: Settings) -> int:
    """Return the number of steps of an episode."""
    return min(env.time_limit or env.size, env.size)


def cells(env: Settings) -> int:
    """Return the number of cells that can be reached."""
    return env.size * (env.size + 1) // 2


def bounds(env: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state: the numbers of the first and the last cell."""
    return LOW, (cells(env) - 1.0,)


@exact
def reset(env, s, rng):
    """Start at the top left."""
    s[0] = 0.0


@exact
def step(env, s, a, rng):
    """Sink for one step."""
    if not env.stochastic:
        return move(env, s, a, 0.0, 0.0)
    u = rng.random()
    return move(env, s, a, u, rng.standard_normal())


@exact
def move(env, s, a, u, n):
    """Sink for one step, with the random numbers of going right, `u` (uniform), and of the reward in a corner, `n`
    (normal), given."""
    cell, last = int(s[0]), env.size - 1
    row, column = place(cell)
    r = 0.0
    if a == right(env, cell):
        r = -env.move_cost / env.size
        if column == last:
            r += 1.0
        if not env.stochastic or u >= 1.0 / env.size:
            column += 1
    else:
        column = max(0, column - 1)
    if row < last:
        s[0] = number(row + 1, column)
        return r, env.discount, False
    if env.stochastic and (cell == number(last, 0) or cell == number(last, last)):
        r += n
    return r, 0.0, True


@exact
def number(row, column):
    """The number of a cell."""
    return row * (row + 1) // 2 + column


@exact
def place(cell):
    """The row and the column of a cell."""
    row = int((math.sqrt(8.0 * cell + 1.0) - 1.0) / 2.0)
    return row, cell - number(row, 0)


@exact
def right(env, cell):
    """The action that goes right in a cell: the last bit of a hash."""
    return scramble(scramble(env.mapping_seed) ^ cell) & 1


@exact
def scramble(x):
    """Mix the bits of a number below 2^32; no product exceeds 63 bits, so Python's numbers and machine words agree."""
    for _ in range(2):
        x = (((x >> 16) ^ x) * 0x45D9F3B) & 0xFFFFFFFF
    return (x >> 16) ^ x


@exact
def nowhere(env, s):
    """An episode ends with the last step, in no state."""
    return False


def problem(env: Settings) -> Problem:
    """Return the input of planning: a point for every cell. The noise of the corners is 0 on average."""
    fails = 1 / env.size if env.stochastic else 0.0
    nodes = Nodes(np.array([0.0, 0.5]), np.zeros(2), np.array([fails, 1 - fails]))
    return Problem(reset, step, move, len(ACTIONS), *bounds(env), (cells(env),), nodes, nowhere)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, exactly: every step but the last leads to a cell with a higher
    number."""
    q, reach, earned = np.zeros((cells(env), len(ACTIONS))), np.zeros(cells(env)), 0.0
    for cell in reversed(range(cells(env))):
        for a in range(len(ACTIONS)):
            for chance, r, gamma, cell_next in _outcomes(env, cell, a):
                q[cell, a] += chance * (r + gamma * q[cell_next].max())
    steps = longest(env)
    reach[0] = 1.0
    for cell in range(number(steps, 0)):
        here = float(reach[cell])
        for chance, r, _, cell_next in _outcomes(env, cell, int(np.argmax(q[cell]))):
            earned += here * chance * r
            reach[cell_next] += here * chance
    ends = steps == env.size
    grid = (np.arange(cells(env), dtype=np.float64),)
    return Optimal(earned / steps, earned if ends else None, float(steps) if ends else None, grid, q)


def _outcomes(env: Settings, cell: int, a: int) -> Iterator[tuple[float, float, float, int]]:
    """Return the possible outcomes of an action: probability, reward, discount and next cell."""
    nodes = problem(env).nodes
    for u, n, chance in zip(nodes.u, nodes.n, nodes.weight, strict=True):
        s = np.array([float(cell)])
        r, gamma, _ = move(env, s, a, u, n)
        yield float(chance), r, gamma, int(s[0])


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the cells that can be reached, lighter where the actions are swapped, the treasure and the diver."""
    side = canvas.height - 44.0
    wide, left, top = side / env.size, (canvas.width - side) / 2, 16.0

    def middle(row, column):
        return left + (column + 0.5) * wide, top + (row + 0.5) * wide

    canvas.gradient(mix(WATER, MIST, 0.6), DEEP)
    columns = np.arange(canvas.width)
    canvas.below(top + side + 4 + 3 * np.sin(columns / 37), SAND)
    for cell in range(cells(env)):
        row, column = place(cell)
        shade = mix(mix(MIST, WATER, 0.5), DEEP, 0.8 * row / env.size)
        if right(env, cell) == 0:
            shade = mix(shade, WHITE, 0.25)
        canvas.box(middle(row, column), (0.46 * wide, 0.46 * wide), 0.12 * wide, shade)
    _chest(canvas, middle(env.size - 1, env.size - 1), max(9.0, 0.36 * wide))
    _diver(canvas, middle(*place(int(s[0]))), max(6.0, 0.34 * wide))


def _chest(canvas: Canvas, at: tuple[float, float], half: float) -> None:
    x, y = at
    wood = mix(ORANGE, INK, 0.45)
    canvas.disc((x, y - 0.15 * half), 0.95 * half, GOLD, 0.55)
    canvas.box((x, y + 0.2 * half), (half, 0.6 * half), 0.15 * half, wood)
    canvas.box((x, y - 0.35 * half), (half, 0.3 * half), 0.3 * half, mix(wood, INK, 0.3))
    canvas.line((x - 0.9 * half, y - 0.05 * half), (x + 0.9 * half, y - 0.05 * half), 0.16 * half, GOLD)
    canvas.box((x, y + 0.1 * half), (0.18 * half, 0.22 * half), 0.06 * half, GOLD)


def _diver(canvas: Canvas, at: tuple[float, float], radius: float) -> None:
    x, y = at
    for i, size in enumerate((0.16, 0.12, 0.09)):
        canvas.disc((x + (0.5 - 0.3 * (i % 2)) * radius, y - (1.35 + 0.4 * i) * radius), size * radius, WHITE, 0.8)
    canvas.disc((x, y + 0.12 * radius), 1.05 * radius, INK, 0.25)
    canvas.disc((x, y), radius, ORANGE)
    canvas.disc((x, y - 0.05 * radius), 0.66 * radius, INK)
    canvas.disc((x, y - 0.05 * radius), 0.54 * radius, MIST)
    canvas.disc((x - 0.18 * radius, y - 0.22 * radius), 0.14 * radius, WHITE)
