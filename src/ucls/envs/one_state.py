"""One-State World: an action with a constant reward and one with a random reward.

There is one state, and the task is continuing. The reward of `left` is always 1; that of `right` is -5, -2, 2, 5 or 10
with equal probability, 2 on average. An agent that does not explore enough settles on `left`.

Deviations: the paper gives no discount. It is 0 here: the two returns are then 1 and 2, and `return_max`, which depends
on the discount, is 10.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, INK, MIST, ORANGE, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, plan, uniform_nodes
from ucls.settings import Real, Whole

LEFT, RIGHT = range(2)
PAYS = np.array([-5.0, -2.0, 2.0, 5.0, 10.0])

ACTIONS = ("left", "right")
LOW, HIGH = (0.0,), (1.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of the One-State World."""

    discount: Annotated[float, Real(at_least=0, below=1), "discount of every step"] = 0.0
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 0


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms: the maximum reward is 10 in every step."""
    return {"reward_max": 10.0, "return_max": 10.0 / (1.0 - env.discount)}


@exact
def reset(env, s, rng):
    """Start in the only state."""
    s[0] = 0.0


@exact
def step(env, s, a, rng):
    """Take an action."""
    return move(env, s, a, rng.random(), 0.0)


@exact
def move(env, s, a, u, n):
    """Take an action, with the random number `u` (uniform) of the right one given; `n` is not used."""
    r = 1.0 if a == LEFT else PAYS[int(u * len(PAYS))]
    return r, env.discount, False


def problem(env: Settings) -> Problem:
    """The input of planning: one point."""
    nodes = uniform_nodes(np.arange(1, len(PAYS)) / len(PAYS))
    return Problem(reset, step, move, len(ACTIONS), (0.0,), (0.0,), (1,), nodes, over=None)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy: always right."""
    return plan(env, problem(env))


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the two levers with their possible rewards, which never change."""
    w, h = canvas.width, canvas.height
    canvas.gradient(MIST, WHITE)
    for x, color, pays in ((0.25 * w, DEEP, np.ones(1)), (0.75 * w, ORANGE, PAYS)):
        sign = -1.0 if x < w / 2 else 1.0
        canvas.box((x, 0.52 * h + 3), (86, 108), 18, INK, 0.10)
        canvas.box((x, 0.52 * h), (86, 108), 18, WHITE)
        canvas.line((x, 0.42 * h), (x + sign * 34, 0.24 * h), 8, INK)
        canvas.disc((x + sign * 34, 0.24 * h), 13, color)
        canvas.box((x, 0.43 * h), (36, 10), 8, INK)
        canvas.line((x - 66, 0.70 * h), (x + 66, 0.70 * h), 1.5, INK, 0.4)
        for i, pay in enumerate(pays):
            column = x + 24 * (i - (len(pays) - 1) / 2)
            tip = 0.70 * h - 6.0 * pay
            canvas.box((column, (0.70 * h + tip) / 2), (7, abs(0.70 * h - tip) / 2), 3, color, 0.9)
    canvas.disc((w / 2, 0.52 * h), 9, INK)
    for sign in (-1.0, 1.0):
        canvas.line((w / 2 + sign * 14, 0.52 * h), (w / 2 + sign * 22, 0.52 * h), 3, INK)
        canvas.polygon(
            ((w / 2 + sign * 28, 0.52 * h), (w / 2 + sign * 19, 0.52 * h - 6), (w / 2 + sign * 19, 0.52 * h + 6)), INK
        )
