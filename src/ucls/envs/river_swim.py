"""River Swim: a small reward downstream and a large one upstream, where swimming up rarely succeeds.

The river is [0, 1] and the fish starts in [0, 0.1]. Swimming down always succeeds; swimming up succeeds with a low
probability. The reward is 1 at the top (above 0.9), 0.005 at the bottom (up to 0.1) and 0 in between. The task is
continuing, with discount 0.99.

Deviations: the paper gives no probabilities. These are those of Strehl and Littman (2008), transferred from six states
to the three sections of the river; those of Osband et al. (2013) are a setting and make the task much easier. The
printed size of the hash table, 128, is too small for the 160 tiles; here the table is collision-free.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GOLD, INK, LEAF, ORANGE, SAND, WATER, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, normal_nodes, plan, product_nodes, uniform_nodes
from ucls.settings import NOT_NEGATIVE, Choice, Real, Whole

STREHL_LITTMAN, OSBAND = range(2)
NEXT, STATE_ACTION = range(2)
DOWN, UP = range(2)

# The probabilities that "up" moves down, stays and moves up: at the bottom, in the middle, at the top.
CHANCES = np.array(
    [
        [[0.0, 0.7, 0.3], [0.1, 0.6, 0.3], [0.7, 0.3, 0.0]],
        [[0.0, 0.4, 0.6], [0.05, 0.6, 0.35], [0.4, 0.6, 0.0]],
    ]
)

ACTIONS = ("down", "up")
OBSERVATIONS = ("position",)
LOW, HIGH = (0.0,), (1.0,)
FEATURES = ("tiles", {"tilings": 32, "tiles": 4, "table_size": 160})


class Settings(NamedTuple):
    """The settings of River Swim."""

    probabilities: Annotated[int, Choice("strehl_littman", "osband"), "probabilities that swimming up succeeds"] = (
        STREHL_LITTMAN
    )
    noise_std: Annotated[float, NOT_NEGATIVE, "standard deviation of the displacement"] = 0.01
    reward_on: Annotated[
        int, Choice("next", "state_action"), "what the reward depends on: the next state, or state and action"
    ] = NEXT
    discount: Annotated[float, Real(at_least=0, below=1), "discount of every step"] = 0.99
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 0


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 1.0, "return_max": 100.0}


@exact
def reset(env, s, rng):
    """Start near the bottom."""
    s[0] = 0.1 * rng.random()


@exact
def step(env, s, a, rng):
    """Swim for one step."""
    u = rng.random()
    return move(env, s, a, u, rng.standard_normal())


@exact
def move(env, s, a, u, n):
    """Swim for one step, with the random numbers of success, `u` (uniform), and of the current, `n` (normal), given."""
    place = 0 if s[0] <= 0.1 else (2 if s[0] > 0.9 else 1)
    direction, length = 1.0, 0.1
    if a == DOWN:
        if place == 0:
            length = 0.0
        else:
            direction = -1.0
    else:
        down, stay = CHANCES[env.probabilities, place, 0], CHANCES[env.probabilities, place, 1]
        if u < down:
            direction = -1.0
        elif u < down + stay:
            length = 0.0
    s[0] = min(1.0, max(0.0, s[0] + direction * (length + env.noise_std * n)))
    r = 0.0
    if env.reward_on == NEXT:
        if s[0] > 0.9:
            r = 1.0
        elif s[0] <= 0.1:
            r = 0.005
    elif place == 2 and a == UP:
        r = 1.0
    elif place == 0 and a == DOWN:
        r = 0.005
    return r, env.discount, False


def problem(env: Settings) -> Problem:
    """The input of planning: 2001 positions."""
    breaks = np.cumsum(CHANCES[env.probabilities], axis=1)
    nodes = product_nodes(uniform_nodes(breaks), normal_nodes(64))
    return Problem(reset, step, move, len(ACTIONS), LOW, HIGH, (2001,), nodes, over=None, stride=2)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy."""
    return plan(env, problem(env))


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the river, its source at the right: banks, current, the two rewards and the fish."""
    w, h = canvas.width, canvas.height
    columns = np.arange(w)
    canvas.gradient(LEAF, LEAF)
    shore = 0.30 * h + 6 * np.sin(columns / 34) + 3 * np.sin(columns / 13)
    bed = 0.78 * h + 5 * np.sin(columns / 41 + 2)
    for curve, color in ((shore - 7, SAND), (shore, WATER), (bed - 7, SAND), (bed, LEAF)):
        canvas.below(curve, color)
    left, right = 40.0, w - 40.0
    bottom, top = left + 0.1 * (right - left), left + 0.9 * (right - left)
    canvas.box((left / 2 + bottom / 2, 0.54 * h), (bottom / 2 - left / 2 + 14, 52), 14, SAND, 0.60)
    canvas.box((top / 2 + right / 2, 0.54 * h), (right / 2 - top / 2 + 14, 52), 14, GOLD, 0.90)
    for i in range(10):
        for row, y in enumerate((0.42, 0.54, 0.66)):
            x = 24 + 46 * i + 14 * (row % 2)
            canvas.line((x, y * h), (x + 7, y * h - 6), 2.5, WHITE, 0.40)
            canvas.line((x, y * h), (x + 7, y * h + 6), 2.5, WHITE, 0.40)
    x, y = left + s[0] * (right - left), 0.54 * h
    canvas.polygon(((x - 13, y), (x - 30, y - 12), (x - 25, y), (x - 30, y + 12)), DEEP)
    canvas.ellipse((x, y), (19, 11), ORANGE)
    canvas.polygon(((x - 3, y - 9), (x - 10, y - 18), (x - 13, y - 6)), DEEP)
    canvas.disc((x + 10, y - 3), 3.2, WHITE)
    canvas.disc((x + 10.8, y - 3), 1.8, INK)
