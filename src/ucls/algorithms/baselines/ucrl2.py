"""UCRL2: the policy that is best in the most favorable model that the data do not rule out.

Jaksch, Ortner and Auer, "Near-optimal Regret Bounds for Reinforcement Learning", 2010, figures 1 and 2. For k = 1, 2,
..., with t steps so far and n(s,a) visits, rewards up to 1:

    d_r = sqrt(7 ln(2 S A t / delta) / (2 max(1, n))), d_p = sqrt(14 S ln(2 A t / delta) / max(1, n))
    repeat for all s until the largest and the smallest change of u(s) differ by less than 1 / sqrt(t):
        u(s) = max_a (min(1, mean r + d_r) + max_p sum_s' p(s') u(s'))
        where p are chances of the next state whose distance (L1) from n(s,a,s') / n(s,a) is at most d_p
    follow the policy that attains these maxima,
        until it is about to take an action a in a state s where n(s,a) has doubled since the beginning of phase k

Without a time limit (`horizon=0`) it is about the average reward in the long run, neither discounted nor indexed by
time. With one, u depends on the step of an episode (indexed by time), and the policy is computed at the beginning of
every episode. It needs discrete states.

Deviations:
- `reward_max` stands for 1. A pair that was never tried leads to the best state and yields reward_max.
- `radius_scale` multiplies d_r and d_p; 1 is the paper's.
- ties are broken in favor of the first action.
- without a time limit, a task whose episodes terminate begins again where the last episode began.
- a search for u ends after `model.SWEEPS` sweeps.
- predictions outside the run (`value`) are those of the first step of an episode. Without a horizon they are relative.
- in a vector of environments all plan when any of them begins an episode.
- what is stored and computed is float64, whatever the dtype.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels.arrays import Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import model as md
from ucls.kernels.ranges import NOT_NEGATIVE
from ucls.settings import NOT_NEGATIVE as SCALE
from ucls.settings import OPEN_UNIT

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("model.step",)
act, value = common.act_by_step, common.value_at_first
full, grow = common.full_model, common.grow_model


class Settings(NamedTuple):
    """The settings of UCRL2."""

    horizon: md.Horizon = 0
    reward_max: md.RewardMax = 1.0
    radius_scale: Annotated[float, SCALE, "factor of the confidence radii"] = 1.0
    delta: Annotated[float, OPEN_UNIT, "failure probability"] = 0.05


class State(NamedTuple):
    """The model; the value of every pair, by the step of an episode; the visits when these were computed."""

    model: md.Model
    q: Matrix
    visits: Annotated[Vector, NOT_NEGATIVE]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return md.room(size, n_actions) + (max(1, hyper.horizon) + 1) * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with equal values everywhere."""
    return State(md.model(size, n_actions), np.zeros((max(1, hyper.horizon), size)), np.zeros(size))


@jit
def start(state, hyper, rng):
    """Begin an episode: plan if there is a horizon, unless that was just done."""
    if hyper.horizon > 0 and state.model.step[0] % hyper.horizon != 0:
        plan(state, hyper)
    state.model.step[0] = 0


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition; plan after the last step of an episode, or if the visits of the next pair have doubled."""
    model = state.model
    _, cell = md.observe(model, xs, a, r, gamma, xs_next)
    if hyper.horizon > 0:
        if model.step[0] % hyper.horizon == 0:
            plan(state, hyper)
    elif md.doubled(model, state.visits, state.q[0], cell):
        plan(state, hyper)


@jit
def plan(state, hyper):
    """Extended value iteration. Cells that were never visited all have the same value, so one represents them."""
    model, t = state.model, max(1, state.model.steps[0])
    n_cells = min(model.known[0] + 1, len(model.moves.first_into))
    state.visits[:] = model.visits
    v = np.zeros(n_cells)
    if hyper.horizon > 0:
        for h in range(hyper.horizon - 1, -1, -1):
            back_up(model, hyper, t, v, 0.0, state.q[h])
            md.take_best(model, state.q[h], v)
        return
    for _ in range(md.SWEEPS):
        back_up(model, hyper, t, v, v[model.first[0]], state.q[0])
        if md.advance(model, state.q[0], v, n_cells) < hyper.reward_max / np.sqrt(t):
            return


@jit
def back_up(model, hyper, t, v, end, q):
    """The values of all pairs of the cells, in the most favorable model."""
    top, n_actions, size = np.max(v), model.n_actions[0], len(model.visits)
    scale, n_cells = hyper.radius_scale, size // n_actions
    reward_log, chance_log = np.log(2.0 * size * t / hyper.delta), np.log(2.0 * n_actions * t / hyper.delta)
    for pair in range(len(v) * n_actions):
        n = model.visits[pair]
        if n == 0.0:
            q[pair] = hyper.reward_max + top
            continue
        r = md.mean_reward(model, pair) + scale * hyper.reward_max * np.sqrt(3.5 * reward_log / n)
        radius = scale * np.sqrt(14.0 * n_cells * chance_log / n)
        q[pair] = min(hyper.reward_max, r) + md.optimistic_expectation(model, pair, v, end, top, radius)
    for pair in range(len(v) * n_actions, size):
        q[pair] = hyper.reward_max + top
