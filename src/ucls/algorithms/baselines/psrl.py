"""PSRL: the policy that is best in a model drawn from the posterior.

Osband, Russo and Van Roy, "(More) Efficient Reinforcement Learning via Posterior Sampling", 2013; Strens (2000):

    for every episode:
        for all s, a: draw the chances of next states from Dirichlet(chance_prior / S + n(s,a,s')),
            and the mean reward from the posterior of a normal-gamma prior, Normal(0, 1 / (tau visits_prior)),
            tau ~ Gamma(1, 1)
        solve the model, and follow its optimal policy

Indexed by time if there is a time limit: an episode is one of the environment. Without one (`horizon=0`) the optimal
policy is that of the average reward in the long run, neither discounted nor indexed by time, and an episode ends as in
UCRL2, when the policy is about to take an action that was taken as often in this episode as in all before.
It needs discrete states.

Deviations, where the paper does not give its priors:
- `chance_prior` is 1: with it, regrets in Tabular River Swim are those of the paper (docs/baselines.md). With 1 for
  every next state they are half as high again in episodes, and more than twice as high without end.
- rewards are divided by `reward_max`.
- termination is a next state of its own with no prior, worth 0, or without a time limit the state in which the last
  episode began.
- of next states never seen after a pair, all have their own chances if they are at most `GROUPS`. If they are more, as
  many are drawn to share the chance of all of them: drawing each would take the square of the number of states.
- without a time limit, value iteration stops when the changes differ by less than `TOLERANCE` of `reward_max`, or after
  `model.SWEEPS` sweeps.
- ties are broken in favor of the first action.
- predictions outside the run (`value`) are those of the first step of an episode in the model drawn last. Without a
  horizon they are relative.
- in a vector of environments all get a new model when any of them begins an episode.
- what is stored and computed is float64, whatever the dtype.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels.arrays import Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import model as md
from ucls.kernels.planning import moves as mv
from ucls.kernels.ranges import NOT_NEGATIVE
from ucls.settings import POSITIVE

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("model.step",)
GROUPS = 20
TOLERANCE = 1e-3
act, value = common.act_by_step, common.value_at_first
full, grow = common.full_model, common.grow_model


class Settings(NamedTuple):
    """The settings of PSRL."""

    horizon: md.Horizon = 0
    reward_max: md.RewardMax = 1.0
    chance_prior: Annotated[float, POSITIVE, "prior visits of a pair, spread over all next states"] = 1.0
    visits_prior: Annotated[float, POSITIVE, "visits that the prior of the mean reward is worth"] = 1.0


class State(NamedTuple):
    """The model; the value of every pair, by the step of an episode; the visits when these were computed."""

    model: md.Model
    q: Matrix
    visits: Annotated[Vector, NOT_NEGATIVE]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates, and those for a model that is drawn."""
    return md.room(size, n_actions) + (max(1, hyper.horizon) + 2 * GROUPS) * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with the prior; the first model is drawn at the start."""
    return State(md.model(size, n_actions), np.zeros((max(1, hyper.horizon), size)), np.zeros(size))


@jit
def start(state, hyper, rng):
    """Begin an episode: draw a model at first, and with a horizon unless one was just drawn."""
    model = state.model
    if model.steps[0] == 0 or (hyper.horizon > 0 and model.step[0] % hyper.horizon != 0):
        plan(state, hyper, rng)
    model.step[0] = 0


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition; draw a model after the last step of an episode, or if the visits of the next pair have
    doubled."""
    model = state.model
    _, cell = md.observe(model, xs, a, r, gamma, xs_next)
    if hyper.horizon > 0:
        if model.step[0] % hyper.horizon == 0:
            plan(state, hyper, rng)
    elif md.doubled(model, state.visits, state.q[0], cell):
        plan(state, hyper, rng)


@jit
def plan(state, hyper, rng):
    """Draw a model and solve it."""
    model, size = state.model, len(state.visits)
    state.visits[:] = model.visits
    rewards = np.empty(size)
    first = np.empty(size + 1, np.int64)
    cells = np.empty(size * GROUPS + model.moves.table.count[0], np.int64)
    chances = np.empty(len(cells))
    seen, end = np.full(size // model.n_actions[0], -1), 0
    for pair in range(size):
        first[pair] = end
        end = draw_chances(model, hyper, pair, seen, cells, chances, end, rng)
        rewards[pair] = draw_reward(model, hyper, pair, rng)
    first[size] = end
    v = np.zeros(len(seen))
    if hyper.horizon == 0:
        tolerance = TOLERANCE * hyper.reward_max
        md.average_rewards(model, rewards, first, cells, chances, v, state.q[0], tolerance)
        return
    for h in range(hyper.horizon - 1, -1, -1):
        for pair in range(size):
            total = rewards[pair]
            for i in range(first[pair], first[pair + 1]):
                total += chances[i] * v[cells[i]] if cells[i] >= 0 else 0.0
            state.q[h, pair] = total
        md.take_best(model, state.q[h], v)


@jit
def draw_chances(model, hyper, pair, seen, cells, chances, end, rng):
    """Write next cells of a pair and their chances behind the first `end`; return where they end.

    `seen[cell]` is the last pair for which a cell was written.
    """
    moves, begin, total, prior = model.moves, end, 0.0, hyper.chance_prior / len(seen)
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell, shape = moves.table.rows[move, 1], moves.visits[move]
        if cell >= 0:
            shape += prior
            seen[cell] = pair
        cells[end], chances[end] = cell, rng.standard_gamma(shape)
        total += chances[end]
        end += 1
        move = moves.out[move]
    n_cells = len(seen)
    unseen = n_cells - (end - begin) + (1 if _terminated(moves, pair) else 0)
    groups = min(unseen, GROUPS)
    cell = -1
    for _ in range(groups):
        cell = cell + 1 if unseen <= GROUPS else int(rng.random() * n_cells)
        while seen[cell] == pair:
            cell = (cell + 1) % n_cells
        seen[cell] = pair
        cells[end], chances[end] = cell, rng.standard_gamma(prior * unseen / groups)
        total += chances[end]
        end += 1
    for i in range(begin, end):
        chances[i] = chances[i] / total if total > 0.0 else 1.0 / (end - begin)
    return end


@jit
def _terminated(moves, pair):
    """Whether a pair has led to termination."""
    move = mv.first_of(moves, pair)
    while move >= 0:
        if moves.table.rows[move, 1] < 0:
            return True
        move = moves.out[move]
    return False


@jit
def draw_reward(model, hyper, pair, rng):
    """The mean reward of a pair, drawn from the posterior."""
    n, mean, spread = model.visits[pair], 0.0, 0.0
    if n > 0.0:
        mean = md.mean_reward(model, pair) / hyper.reward_max
        spread = md.reward_deviation(model, pair) / hyper.reward_max**2
    weight = hyper.visits_prior + n
    rate = 1.0 + 0.5 * (spread + hyper.visits_prior * n * mean * mean / weight)
    precision = rng.standard_gamma(1.0 + 0.5 * n) / rate
    drawn = n * mean / weight + rng.standard_normal() / np.sqrt(weight * precision)
    return hyper.reward_max * drawn
