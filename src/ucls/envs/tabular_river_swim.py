"""Tabular River Swim: a chain of states with a small reward downstream and a large one upstream.

The river has `size` states, from the bottom to the top. Swimming down always succeeds; swimming up usually fails. With
the probabilities of Osband et al. (2013), "(More) Efficient Reinforcement Learning via Posterior Sampling", an episode
starts at the bottom, swimming down there yields 0.005, and swimming up at the top yields 1. The task is continuing; as
an episodic one it has a time limit, 20 steps for 6 states in that paper.

With `probabilities=strehl_littman` the task is that of Strehl and Littman (2008), "An analysis of model-based Interval
Estimation for Markov Decision Processes", which is harder: the run starts in the second or the third state with equal
probability, and swimming up at the top yields 1 only if it succeeds. They have 6 states and a discount of 0.95, and
let agents act for 5,000 steps.

The state is the number of the place, 0 at the bottom. `ucls/RiverSwim-v0` is the same task with continuous states.

Deviations: the rewards of Strehl and Littman, 5 and 10,000, are divided by 10,000. Neither paper has the discount of
0.99; regret is about undiscounted rewards.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GOLD, INK, MIST, ORANGE, SAND, WATER, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, uniform_nodes
from ucls.kernels.dynamic_programming.tabular import solve_without_end
from ucls.settings import Choice, Real, Whole

OSBAND, STREHL_LITTMAN = range(2)
DOWN, UP = range(2)
SMALL = np.array([0.005, 0.0005])  # the reward at the bottom; at the top it is 1

# The probabilities that "up" moves down and stays: at the bottom, in the middle, at the top.
CHANCES = np.array([[[0.0, 0.4], [0.05, 0.6], [0.4, 0.6]], [[0.0, 0.7], [0.1, 0.6], [0.7, 0.3]]])

ACTIONS = ("down", "up")
OBSERVATIONS = ("place",)
LOW, HIGH = (0.0,), (5.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of Tabular River Swim."""

    size: Annotated[int, Whole(3, 1000), "number of states; 6, 12 and 20 are usual"] = 6
    probabilities: Annotated[int, Choice("osband", "strehl_littman"), "whose task"] = OSBAND
    discount: Annotated[float, Real(at_least=0, below=1), "discount of every step"] = 0.99
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 0


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 1.0, "return_max": 1.0 / (1.0 - env.discount)}


def bounds(env: Settings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The bounds of the state: the bottom and the top."""
    return LOW, (env.size - 1.0,)


@exact
def reset(env, s, rng):
    """Start at the bottom, or a little above."""
    s[0] = 0.0
    if env.probabilities == STREHL_LITTMAN:
        s[0] = 1.0 + int(2.0 * rng.random())


@exact
def step(env, s, a, rng):
    """Swim for one step."""
    return move(env, s, a, rng.random(), 0.0)


@exact
def move(env, s, a, u, n):
    """Swim for one step, with the random number `u` (uniform) of success given; `n` is not used."""
    place, top = int(s[0]), env.size - 1
    if a == DOWN:
        s[0] = max(0.0, s[0] - 1.0)
        return (SMALL[env.probabilities] if place == 0 else 0.0), env.discount, False
    section = 0 if place == 0 else (2 if place == top else 1)
    down, stay = CHANCES[env.probabilities, section, 0], CHANCES[env.probabilities, section, 1]
    if u < down:
        s[0] -= 1.0
    elif u >= down + stay and place < top:
        s[0] += 1.0
    pays = place == top and (env.probabilities == OSBAND or u >= down)
    return (1.0 if pays else 0.0), env.discount, False


def problem(env: Settings) -> Problem:
    """The input of planning: a point for every state."""
    nodes = uniform_nodes(np.cumsum(CHANCES[env.probabilities], axis=1))
    return Problem(reset, step, move, len(ACTIONS), *bounds(env), (env.size,), nodes, over=None)


def starts(env: Settings) -> np.ndarray:
    """The probability of every state at the start."""
    first = np.zeros(env.size)
    first[[0] if env.probabilities == OSBAND else [1, 2]] = 1.0
    return first / first.sum()


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, exactly."""
    return solve_without_end(env, problem(env), starts(env))


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the places as stones in the river, the two rewards and the fish."""
    wide, y = (canvas.width - 40.0) / env.size, 0.54 * canvas.height
    half = min(0.42 * wide, 40.0)
    canvas.gradient(MIST, WATER)
    for place in range(env.size):
        color = {0: SAND, env.size - 1: GOLD}.get(place, WHITE)
        canvas.box((20.0 + (place + 0.5) * wide, y), (half, half), 0.3 * half, color, 0.8)
    x = 20.0 + (s[0] + 0.5) * wide
    canvas.polygon(((x - 0.4 * half, y), (x - 0.8 * half, y - 0.4 * half), (x - 0.8 * half, y + 0.4 * half)), DEEP)
    canvas.ellipse((x, y), (0.6 * half, 0.35 * half), ORANGE)
    canvas.disc((x + 0.3 * half, y - 0.1 * half), 0.08 * half, INK)
