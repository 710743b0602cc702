"""Mountain Car: an engine too weak for the hill, so the car must first swing back.

The state is the position and the velocity; the constants are those of Sutton and Barto. The car starts at rest in
[-0.6, -0.4] and an episode ends at `goal_position`. The classic reward is -1 per step, undiscounted; the sparse one is
+1 at the goal and 0 before, with discount 0.998, so that values that start at zero are not optimistic.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import GRASS, INK, LEAF, MIST, ORANGE, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, normal_nodes, plan
from ucls.settings import UNIT, Choice, Real, Whole

CLASSIC, SPARSE = range(2)

ACTIONS = ("reverse", "neutral", "forward")
OBSERVATIONS = ("position", "velocity")
LOW, HIGH = (-1.2, -0.07), (0.5, 0.07)
FEATURES = ("tiles", {"tilings": 8, "tiles": 8, "table_size": 512})


class Settings(NamedTuple):
    """The settings of Mountain Car."""

    reward: Annotated[int, Choice("classic", "sparse"), "-1 a step, or +1 at the goal"] = CLASSIC
    goal_position: Annotated[float, Real(above=-0.4, at_most=0.6), "position at which an episode ends"] = 0.5
    discount: Annotated[float, UNIT, "discount of every step"] = 1.0
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 10000


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "mean_return" if env.reward == CLASSIC else "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    best = 1.0 if env.reward == SPARSE else 0.0
    return {"reward_max": best, "return_max": best}


def bounds(env: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state: a goal beyond 0.5 lengthens the road."""
    return LOW, (max(HIGH[0], env.goal_position), HIGH[1])


@exact
def reset(env, s, rng):
    """Start at rest in the valley."""
    s[0] = -0.6 + 0.2 * rng.random()
    s[1] = 0.0


@exact
def at_goal(env, s):
    """Whether the car has arrived."""
    return s[0] >= env.goal_position


@exact
def step(env, s, a, rng):
    """Drive for one step."""
    return move(env, s, a, 0.0, 0.0)


@exact
def move(env, s, a, u, n):
    """Drive for one step; nothing is random, so `u` and `n` are not used."""
    s[1] = min(0.07, max(-0.07, s[1] + 0.001 * (a - 1) - 0.0025 * np.cos(3.0 * s[0])))
    s[0] = min(max(0.5, env.goal_position), s[0] + s[1])
    if s[0] <= -1.2:
        s[0], s[1] = -1.2, 0.0
    terminated = at_goal(env, s)
    r = -1.0 if env.reward == CLASSIC else (1.0 if terminated else 0.0)
    return r, 0.0 if terminated else env.discount, terminated


def problem(env: Settings) -> Problem:
    """Return the input of planning: a grid that is fine in position and velocity."""
    low, high = bounds(env)
    return Problem(reset, step, move, len(ACTIONS), low, high, (681, 561), normal_nodes(1), at_goal, stride=4)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, planned on the grid and then simulated."""
    if env.reward == SPARSE:
        # Without a discount every policy that arrives is as good as another; take the limit, which hurries.
        env = env._replace(discount=min(env.discount, 0.9999))
    return plan(env, problem(env))


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the hill, the flag at the goal and the car, tilted as the road is."""
    w, h = canvas.width, canvas.height
    scale = (w - 40.0) / 1.8

    def road(x):
        return 20.0 + (x + 1.2) * scale, 0.58 * h - 0.30 * h * np.sin(3.0 * x)

    canvas.gradient(MIST, WHITE)
    canvas.disc((0.30 * w, 0.20 * h), 26, ORANGE, 0.35)
    columns = (np.arange(w) - 20.0) / scale - 1.2
    canvas.below(0.62 * h - 0.12 * h * np.sin(2.1 * columns + 1.2), LEAF, 0.30)
    canvas.below(road(columns)[1], LEAF)
    canvas.below(road(columns)[1] + 5, GRASS)
    x, y = road(env.goal_position)
    canvas.line((x, y), (x, y - 50), 3, INK)
    canvas.polygon(((x, y - 51), (x + 26, y - 42), (x, y - 33)), ORANGE)
    x, y = road(s[0])
    slope = -0.90 * h * np.cos(3.0 * s[0]) / scale
    along = np.array((1.0, slope)) / np.hypot(1.0, slope)
    up = np.array((along[1], -along[0]))

    def at(forward, upward):
        return tuple(np.array((x, y)) + forward * along + upward * up)

    canvas.polygon((at(-22, 8), at(-22, 17), at(22, 17), at(24, 8)), INK)
    canvas.polygon((at(-13, 17), at(-9, 27), at(8, 27), at(14, 17)), INK)
    canvas.polygon((at(-8, 18), at(-6, 24), at(6, 24), at(9, 18)), MIST)
    for wheel in (-13, 13):
        canvas.disc(at(wheel, 7), 7, INK)
        canvas.disc(at(wheel, 7), 3, WHITE)
