"""UCBVI: optimistic value iteration over an episode, with a bonus by the variance of the next value (Bernstein).

Azar, Osband and Munos, "Minimax Regret Bounds for Reinforcement Learning", 2017, UCBVI-BF (algorithms 1, 2 and 4). At
the beginning of every episode of H steps, with rewards up to 1 and V(H+1, s) = 0:

    for h = H, ..., 1, for all s, a:
        if n(s,a) > 0:
            b = sqrt(8 L Var(V(h+1, s')) / n(s,a)) + 14 H L / (3 n(s,a))
                + sqrt(8 E(min(100^2 H^3 S^2 A L^2 / N(h+1, s'), H^2)) / n(s,a))
            Q(h, s, a) = min(Q(h, s, a) of the last episode, H, mean r + E(V(h+1, s')) + b)
        else:
            Q(h, s, a) = H
        V(h, s) = max_a Q(h, s, a)

    L = ln(5 S A T / delta); means and variances of s' are by n(s,a,s') / n(s,a), and N(h, s) is how often s was visited
    in step h.

Indexed by time: the horizon is the time limit. Not discounted. It needs discrete states.

Deviations:
- rewards are learned (the paper knows them), without a bonus, and `reward_max` stands for 1.
- `bonus_scale` multiplies b; 1 is the paper's. With it nothing is learned in the number of steps that one can wait for:
  as the first term of 100^2 ... is above H^2 for as long, it is the last one that counts, about 2.8 H / sqrt(n).
- T in L is the number of steps so far.
- where there is no time limit, the task is cut into pieces of `horizon` steps. Termination is worth 0.
- predictions outside the run (`value`) are those of the first step of an episode.
- in a vector of environments all plan when any of them begins an episode.
- what is stored and computed is float64, whatever the dtype.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels.arrays import Matrix
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import model as md
from ucls.kernels.planning import moves as mv
from ucls.kernels.ranges import NOT_NEGATIVE
from ucls.settings import NOT_NEGATIVE as SCALE
from ucls.settings import OPEN_UNIT, Follows, Whole

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("model.step",)
act, value = common.act_by_step, common.value_at_first
full, grow = common.full_model, common.grow_model


class Settings(NamedTuple):
    """The settings of UCBVI."""

    horizon: Annotated[int, Whole(1, 10_000), Follows("time_limit", otherwise=100), "steps per episode"] = 100
    reward_max: md.RewardMax = 1.0
    bonus_scale: Annotated[float, SCALE, "factor of the bonus"] = 1.0
    delta: Annotated[float, OPEN_UNIT, "failure probability"] = 0.05


class State(NamedTuple):
    """The model; the value of every pair by the step of an episode; how often cells were visited in that step."""

    model: md.Model
    q: Matrix
    met: Annotated[Matrix, NOT_NEGATIVE]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return md.room(size, n_actions) + hyper.horizon * (size + size // n_actions)


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with the largest sum of rewards of an episode everywhere."""
    most = hyper.horizon * hyper.reward_max
    q, met = np.full((hyper.horizon, size), most), np.zeros((hyper.horizon, size // n_actions))
    return State(md.model(size, n_actions), q, met)


@jit
def start(state, hyper, rng):
    """Begin an episode: plan, unless that was just done."""
    if state.model.step[0] % hyper.horizon != 0:
        plan(state, hyper)
    state.model.step[0] = 0


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition; plan after the last step of an episode."""
    model = state.model
    state.met[model.step[0] % hyper.horizon, xs.index[a, 0] // model.n_actions[0]] += 1.0
    md.observe(model, xs, a, r, gamma, xs_next)
    if model.step[0] % hyper.horizon == 0:
        plan(state, hyper)


@jit
def plan(state, hyper):
    """Compute the values from the last step to the first."""
    model, most = state.model, hyper.horizon * hyper.reward_max
    n_pairs = model.known[0] * model.n_actions[0]
    log = np.log(5.0 * len(model.visits) * max(1, model.steps[0]) / hyper.delta)
    v = np.zeros(model.known[0])
    for h in range(hyper.horizon - 1, -1, -1):
        q = state.q[h]
        for pair in range(n_pairs):
            if model.visits[pair] > 0.0:
                target = md.mean_reward(model, pair) + md.expectation(model, pair, v, 0.0)
                q[pair] = min(q[pair], most, target + hyper.bonus_scale * bonus(state, hyper, h, pair, v, log))
        md.take_best(model, q, v)


@jit
def bonus(state, hyper, h, pair, v, log):
    """The bonus of a pair in step h, for values v of the next cells."""
    n, most = state.model.visits[pair], hyper.horizon * hyper.reward_max
    found = np.sqrt(8.0 * log * md.variance(state.model, pair, v) / n) + 14.0 * most * log / (3.0 * n)
    return found + np.sqrt(8.0 * uncertain(state, hyper, h, pair, log) / n)


@jit
def uncertain(state, hyper, h, pair, log):
    """The mean over next cells of their squared uncertainty, at most the largest possible one."""
    model, most = state.model, (hyper.horizon * hyper.reward_max) ** 2
    moves, total, n_actions = model.moves, 0.0, model.n_actions[0]
    size = float(len(model.visits))  # S A
    factor = 1e4 * hyper.horizon * most * size * (size / n_actions) * log * log
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell = moves.table.rows[move, 1]
        if cell >= 0:
            met = state.met[h + 1, cell] if h + 1 < hyper.horizon else 0.0
            total += moves.visits[move] * (min(factor / met, most) if met > 0.0 else most)
        move = moves.out[move]
    return total / model.visits[pair]
