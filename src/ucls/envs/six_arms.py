"""SixArms: six levers in a hall lead to rooms; the better the room, the more rarely its lever works.

Pulling lever a in the hall (state 0) leads to room a + 1 with a probability of 1, 0.15, 0.1, 0.05, 0.03 and 0.01, and
otherwise nothing happens. In a room one action stays there and yields its reward, 50, 133, 300, 800, 1660 and 6000; all
others lead back to the hall. In the first room it is the other way around: one action leads back, all others yield the
reward. The task is continuing. An agent that settles for what it knows stays in the first room; the best room is worth
the many attempts that it takes. Strehl and Littman, "An analysis of model-based Interval Estimation for Markov Decision
Processes", 2008; the agents there have a discount of 0.95 and act for 5,000 steps.

Deviations: none that we know of.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls._util.canvas import DEEP, GOLD, INK, MIST, ORANGE, WHITE, Canvas
from ucls.kernels.compilation.jit import exact
from ucls.kernels.dynamic_programming import Optimal, Problem, uniform_nodes
from ucls.kernels.dynamic_programming.tabular import solve_without_end
from ucls.settings import Real, Whole

CHANCE = np.array([1.0, 0.15, 0.1, 0.05, 0.03, 0.01])
PAYS = np.array([50.0, 133.0, 300.0, 800.0, 1660.0, 6000.0])
BACK = 4  # the only action that leads back from the first room
STATES = 7

ACTIONS = ("lever 1", "lever 2", "lever 3", "lever 4", "lever 5", "lever 6")
OBSERVATIONS = ("room",)
LOW, HIGH = (0.0,), (STATES - 1.0,)
FEATURES = ("one_hot", {})


class Settings(NamedTuple):
    """The settings of SixArms."""

    discount: Annotated[float, Real(at_least=0, below=1), "discount of every step"] = 0.95
    time_limit: Annotated[int, Whole(), "steps after which an episode is truncated; 0 for never"] = 0


def metric(env: Settings) -> str:
    """The metric that runs are compared by."""
    return "reward"


def facts(env: Settings) -> dict[str, float]:
    """Defaults for settings of algorithms."""
    return {"reward_max": 6000.0, "return_max": 6000.0 / (1.0 - env.discount)}


@exact
def reset(env, s, rng):
    """Start in the hall."""
    s[0] = 0.0


@exact
def step(env, s, a, rng):
    """Pull a lever."""
    return move(env, s, a, rng.random(), 0.0)


@exact
def move(env, s, a, u, n):
    """Pull a lever, with the random number `u` (uniform) of success given; `n` is not used."""
    room = int(s[0])
    if room == 0:
        if u < CHANCE[a]:
            s[0] = a + 1.0
        return 0.0, env.discount, False
    if (a != BACK) if room == 1 else (a == room - 1):
        return PAYS[room - 1], env.discount, False
    s[0] = 0.0
    return 0.0, env.discount, False


def problem(env: Settings) -> Problem:
    """The input of planning: a point for every state."""
    return Problem(reset, step, move, len(ACTIONS), LOW, HIGH, (STATES,), uniform_nodes(CHANCE), over=None)


def optimal(env: Settings) -> Optimal:
    """Return the performance of the optimal policy, exactly."""
    return solve_without_end(env, problem(env), np.eye(STATES)[0])


def draw(env: Settings, s: np.ndarray, canvas: Canvas) -> None:
    """Draw the hall, the rooms around it, and the agent."""
    w, h = canvas.width, canvas.height
    canvas.gradient(MIST, WHITE)
    places = [(0.5 * w, 0.78 * h), *((w * (i + 0.7) / 6.4, (0.25 if i % 2 else 0.4) * h) for i in range(6))]
    for i, (x, y) in enumerate(places[1:]):
        canvas.line(places[0], (x, y), 6.0 * float(CHANCE[i]) ** 0.5, INK, 0.4)
        canvas.disc((x, y), 16.0 + 2.0 * i, GOLD if i == 5 else DEEP, 0.6)
    canvas.box(places[0], (46, 30), 10, DEEP)
    canvas.disc(places[int(s[0])], 12, INK)
    canvas.disc(places[int(s[0])], 10, ORANGE)
