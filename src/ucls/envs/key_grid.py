"""Grid with keys: a square of cells whose door opens, for a reward, only to an agent that has all the keys.

An episode starts in one corner of a square with `size` cells a side; the door is in the opposite corner. Each of `keys`
keys lies in a cell of its own, and is picked up by entering that cell. Entering the door with all keys yields 1 and
ends the episode; without them it does nothing. With probability `slip` a step goes in a random direction. There is no
other reward, so an agent that does not explore on purpose has to collect the keys by chance.

The state is keys * size^2 + cell, where `keys` has a bit for every key and `cell` is row * size + column. Where the
keys are, and which action goes where, is drawn from `mapping_seed`.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import GOLD, GRASS, INK, MIST, ORANGE, SAND, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, uniform_nodes
from ucls.kernels.dynamic_programming.tabular import solve
from ucls.kernels.hashing import scramble
from ucls.settings import UNIT, Real, Whole

DIRECTIONS = 4

ACTIONS = ("first", "second", "third", "fourth")
OBSERVATIONS = ("state",)
LOW, HIGH = (0.0,), (143.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of the grid."""

    size: Annotated[int, Whole(3, 16), "cells a side"] = 6
    keys: Annotated[int, Whole(0, 4), "number of keys"] = 2
    slip: Annotated[float, Real(at_least=0, below=1), "probability of a step in a random direction"] = 0.1
    mapping_seed: Annotated[int, Whole(0, 2**32 - 1), "where the keys are, and which order the actions have"] = 0
    discount: Annotated[float, UNIT, "discount of every step"] = 0.99
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 200


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "mean_return"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 1.0, "return_max": 1.0}


def states(env: Settings) -> int:
    """The number of states."""
    return env.size * env.size << env.keys


def bounds(env: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state."""
    return LOW, (states(env) - 1.0,)


@exact
def key_cell(env, key):
    """The cell of a key: neither the start nor the door, and not that of an earlier key."""
    inner = env.size * env.size - 2
    stride = 1 + scramble(env.mapping_seed ^ 0x5A5A) % (inner // 4)
    return 1 + (scramble(env.mapping_seed) + key * stride) % inner


@exact
def reset(env, s, rng):
    """Start in the first corner, without keys."""
    s[0] = 0.0


@exact
def step(env, s, a, rng):
    """Take a step."""
    return move(env, s, a, rng.random(), 0.0)


@exact
def move(env, s, a, u, n):
    """Take a step, with the random number `u` (uniform) of slipping given; `n` is not used."""
    size, cells = env.size, env.size * env.size
    held, cell = int(s[0]) // cells, int(s[0]) % cells
    order = scramble(env.mapping_seed ^ 0x33CC)
    direction = (a * (1 + 2 * (order % 2)) + order // 2) % DIRECTIONS
    if u < env.slip:
        direction = int(u / env.slip * DIRECTIONS)
    row, column = cell // size, cell % size
    if direction == 0:
        row = max(0, row - 1)
    elif direction == 1:
        column = min(size - 1, column + 1)
    elif direction == 2:
        row = min(size - 1, row + 1)
    else:
        column = max(0, column - 1)
    cell = row * size + column
    for key in range(env.keys):
        if cell == key_cell(env, key):
            held |= 1 << key
    s[0] = held * cells + cell
    if cell == cells - 1 and held == (1 << env.keys) - 1:
        return 1.0, 0.0, True
    return 0.0, env.discount, False


@exact
def nowhere(env, s):
    """An episode ends with its last action, in no state."""
    return False


def problem(env: Settings) -> Problem:
    """The input of planning: a point for every state."""
    breaks = np.append(env.slip * np.arange(1, DIRECTIONS) / DIRECTIONS, env.slip)
    return Problem(reset, step, move, len(ACTIONS), *bounds(env), (states(env),), uniform_nodes(breaks), nowhere)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, exactly except for the time limit, which only evaluation
    considers."""
    return solve(env, problem(env), np.eye(states(env))[0], env.time_limit or 10**6)


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the cells, the keys that are left, the door and the agent."""
    side = canvas.height - 40.0
    wide, left, top = side / env.size, (canvas.width - side) / 2, 20.0
    cells = env.size * env.size
    held, cell = int(s[0]) // cells, int(s[0]) % cells

    def middle(at):
        return left + (at % env.size + 0.5) * wide, top + (at // env.size + 0.5) * wide

    canvas.gradient(MIST, WHITE)
    for at in range(cells):
        canvas.box(middle(at), (0.46 * wide, 0.46 * wide), 0.1 * wide, GRASS if at < cells - 1 else SAND, 0.6)
    for key in range(env.keys):
        if not held >> key & 1:
            canvas.disc(middle(key_cell(env, key)), 0.2 * wide, GOLD)
    canvas.disc(middle(cell), 0.32 * wide, INK)
    canvas.disc(middle(cell), 0.28 * wide, ORANGE)
