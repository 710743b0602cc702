"""Chain with traps: a row of cells with a treasure at its end, and in every cell a trap with a small bait.

An episode starts in the first of `size` cells. In every cell one action advances, one returns to the first cell, and
one is a trap: it yields `bait` and ends the episode. Advancing fails with probability `slip` (nothing happens then).
Advancing in the last cell yields 1 and ends the episode. Which action does what differs between cells. A random policy
finds the treasure in fewer than one of 2^size episodes, and an agent that looks for the nearest reward is lured by the
bait: this is a test of deep exploration where an episode is over after the first mistake.

The state is the number of the cell.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GOLD, INK, MIST, ORANGE, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, uniform_nodes
from ucls.kernels.dynamic_programming.tabular import solve
from ucls.kernels.hashing import scramble
from ucls.settings import UNIT, Real, Whole

ADVANCE, RETURN, TRAP = range(3)

ACTIONS = ("first", "second", "third")
OBSERVATIONS = ("cell",)
LOW, HIGH = (0.0,), (9.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of the chain."""

    size: Annotated[int, Whole(2, 100), "number of cells"] = 10
    slip: Annotated[float, Real(at_least=0, below=1), "probability that advancing fails"] = 0.1
    bait: Annotated[float, UNIT, "reward of a trap"] = 0.05
    mapping_seed: Annotated[int, Whole(0, 2**32 - 1), "which map of the actions"] = 0
    discount: Annotated[float, UNIT, "discount of every step"] = 0.99
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 1000


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "mean_return"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 1.0, "return_max": 1.0}


def bounds(env: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state: the first and the last cell."""
    return LOW, (env.size - 1.0,)


@exact
def reset(env, s, rng):
    """Start in the first cell."""
    s[0] = 0.0


@exact
def effect(env, cell, a):
    """Return the effect of an action in a cell: each cell has one of the six orders of the three effects."""
    order = scramble(scramble(env.mapping_seed) ^ cell) % 6
    return (a * (1 + order // 3) + order) % 3


@exact
def step(env, s, a, rng):
    """Take an action."""
    return move(env, s, a, rng.random(), 0.0)


@exact
def move(env, s, a, u, n):
    """Take an action, with the random number `u` (uniform) of advancing given; `n` is not used."""
    cell = int(s[0])
    what = effect(env, cell, a)
    if what == TRAP:
        return env.bait, 0.0, True
    if what == RETURN:
        s[0] = 0.0
    elif u >= env.slip:
        if cell == env.size - 1:
            return 1.0, 0.0, True
        s[0] = cell + 1.0
    return 0.0, env.discount, False


@exact
def nowhere(env, s):
    """An episode ends with its last action, in no state."""
    return False


def problem(env: Settings) -> Problem:
    """The input of planning: a point for every cell."""
    nodes = uniform_nodes(np.array([env.slip]))
    return Problem(reset, step, move, len(ACTIONS), *bounds(env), (env.size,), nodes, nowhere)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, exactly except for the time limit, which only evaluation
    considers."""
    return solve(env, problem(env), np.eye(env.size)[0], env.time_limit or 10**6)


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the cells with their traps, the treasure and the agent."""
    wide = (canvas.width - 60.0) / env.size
    y, half = 0.5 * canvas.height, 0.45 * wide
    canvas.gradient(MIST, WHITE)
    for cell in range(env.size):
        x = 30.0 + (cell + 0.5) * wide
        canvas.box((x, y), (half, min(half, 40.0)), 0.15 * half, DEEP, 0.25)
        canvas.disc((x, y + 60), 0.3 * half, GOLD, 0.5)
    canvas.disc((canvas.width - 18.0, y), 12, GOLD)
    x = 30.0 + (s[0] + 0.5) * wide
    canvas.disc((x, y), 0.5 * half + 1, INK)
    canvas.disc((x, y), 0.5 * half, ORANGE)
