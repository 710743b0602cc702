"""Puddle World: cross a square to its far corner while avoiding two puddles.

The state is a point of [0, 1]^2. Each action moves 0.05 plus normal noise along its axis. The puddles are the points
within 0.1 of two segments; a step costs 1, plus 400 times the depth of every puddle that the agent is then in. The goal
is the corner where both coordinates are at least 0.95. The task is undiscounted and episodic.

Deviations: the paper's penalty is the distance to the center of the puddle, which would penalize its edge and not its
center; the depth (0.1 minus the distance to the segment) is the classic rule of Sutton (1996). The printed size of the
hash table, 128, is too small for the 180 tiles, which then share indices, most of all near the goal; here the table is
collision-free.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GRASS, INK, LEAF, MIST, ORANGE, WATER, WHITE, Canvas, mix
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, normal_nodes, plan
from ucls.settings import NOT_NEGATIVE, UNIT, Whole

# Each puddle is a segment: x and y of one end, x and y of the other.
PUDDLES = np.array([[0.45, 0.4, 0.45, 0.8], [0.1, 0.75, 0.45, 0.75]])
RADIUS = 0.1
STEP = 0.05
GOAL = 0.95

ACTIONS = ("up", "left", "down", "right")
OBSERVATIONS = ("x", "y")
LOW, HIGH = (0.0, 0.0), (1.0, 1.0)
FEATURES = ("tiles", {"tilings": 5, "tiles": 5, "table_size": 180})


class Settings(NamedTuple):
    """The settings of Puddle World."""

    noise_std: Annotated[float, NOT_NEGATIVE, "standard deviation of the length of a step; classically 0.01"] = 0.1
    discount: Annotated[float, UNIT, "discount of every step"] = 1.0
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 10000


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "mean_return"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 0.0, "return_max": 0.0}


@exact
def reset(env, s, rng):
    """Start at the left, below the puddles."""
    s[0] = 0.1 + 0.2 * rng.random()
    s[1] = 0.45 + 0.2 * rng.random()


@exact
def depth(x, y):
    """Return the depth of the point in the puddles, summed over both."""
    total = 0.0
    for i in range(len(PUDDLES)):
        x0, y0, x1, y1 = PUDDLES[i, 0], PUDDLES[i, 1], PUDDLES[i, 2], PUDDLES[i, 3]
        dx, dy = x1 - x0, y1 - y0
        along = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)))
        total += max(0.0, RADIUS - np.hypot(x - x0 - along * dx, y - y0 - along * dy))
    return total


@exact
def at_goal(env, s):
    """Whether the point is in the far corner."""
    return s[0] >= GOAL and s[1] >= GOAL


@exact
def step(env, s, a, rng):
    """Move for one step."""
    return move(env, s, a, 0.0, rng.standard_normal())


@exact
def move(env, s, a, u, n):
    """Move for one step, with its normal noise `n` given; `u` is not used."""
    length = STEP + env.noise_std * n
    axis = 1 if a % 2 == 0 else 0
    sign = 1.0 if a == 0 or a == 3 else -1.0
    s[axis] = min(1.0, max(0.0, s[axis] + sign * length))
    terminated = at_goal(env, s)
    return -1.0 - 400.0 * depth(s[0], s[1]), 0.0 if terminated else env.discount, terminated


def problem(env: Settings) -> Problem:
    """Return the input of planning: 101 by 101 points."""
    return Problem(reset, step, move, len(ACTIONS), LOW, HIGH, (101, 101), normal_nodes(100), at_goal, stride=2)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy."""
    return plan(env, problem(env))


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the square, the puddles by their depth, where episodes start and end, and the agent."""
    side = canvas.height - 40.0
    left, bottom = (canvas.width - side) / 2, canvas.height - 20.0

    def place(x, y):
        return left + x * side, bottom - y * side

    canvas.gradient(MIST, WHITE)
    canvas.box(place(0.5, 0.5), (side / 2 + 8, side / 2 + 8), 14, INK, 0.12)
    canvas.box(place(0.5, 0.5), (side / 2 + 5, side / 2 + 5), 12, GRASS)
    for level in np.linspace(0.0, 0.09, 10):
        for x0, y0, x1, y1 in PUDDLES:
            width = 2 * (RADIUS - level) * side
            canvas.line(place(x0, y0), place(x1, y1), width, mix(WATER, DEEP, level / RADIUS), 0.30)
    canvas.box(place(0.2, 0.55), (0.1 * side, 0.1 * side), 6, WHITE, 0.35)
    canvas.box(place(0.975, 0.975), (0.025 * side + 3, 0.025 * side + 3), 4, LEAF)
    foot, tip = place(0.965, 0.955), place(0.965, 1.035)
    canvas.line(foot, tip, 2.5, INK)
    canvas.polygon((tip, (tip[0] + 20, tip[1] + 6), (tip[0], tip[1] + 12)), ORANGE)
    x, y = place(s[0], s[1])
    canvas.disc((x, y + 2), 11, INK, 0.25)
    canvas.disc((x, y), 10, WHITE)
    canvas.disc((x, y), 7.5, ORANGE)
