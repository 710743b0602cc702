"""R-max: value iteration on a table, in which pairs with few visits have the maximum return.

Brafman and Tennenholtz, "R-MAX - A General Polynomial Time Algorithm for Near-Optimal Reinforcement Learning", 2002, in
the discounted form of Strehl, Li and Littman, "Reinforcement Learning in Finite MDPs: PAC Analysis", 2009:

    Q(s,a) = return_max for all s, a
    repeat: take the action a with the largest Q(s,a), observe r, s'
        if n(s,a) < visits:
            n(s,a) += 1, and count r and s'
            if n(s,a) = visits:
                solve Q(s,a) = mean r + gamma sum_s' n(s,a,s')/n(s,a) max_a' Q(s',a') for all pairs with n = visits,
                where all others have Q = return_max

Discounted, by the discount of the environment; not indexed by time. It needs discrete states.

Deviations:
- `visits` is a setting; theory has thousands. One is enough where nothing is random; with 5, many runs in River Swim
  take an action that rarely succeeds for one that never does, and stay at the bottom.
- `return_max` is that of the environment; the papers have the largest reward in every step, 1/(1 - gamma) of it. No
  value is above it.
- value iteration stops when no value changes by `TOLERANCE`, relative to return_max.
- what is stored and computed is float64, whatever the dtype.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels.active import argmax
from ucls.kernels.arrays import Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import model as md
from ucls.kernels.planning import moves as mv
from ucls.settings import Follows, Real, Whole

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("model.step",)
TOLERANCE, SWEEPS = 1e-6, 10_000
full, grow = common.full_model, common.grow_model


class Settings(NamedTuple):
    """The settings of R-max."""

    return_max: Annotated[float, Real(), Follows("return_max", otherwise=1.0), "the maximum possible return"] = 1.0
    visits: Annotated[int, Whole(1), "visits after which a pair is known"] = 10


class State(NamedTuple):
    """The model, and the value of every pair."""

    model: md.Model
    q: Vector


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return md.room(size, n_actions) + size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with the maximum possible return everywhere."""
    return State(md.model(size, n_actions), np.full(size, hyper.return_max))


@jit
def start(state, hyper, rng):
    """Begin an episode: there is nothing to do."""
    state.model.step[0] = 0


@jit
def value(state, hyper, x):
    """The value of a pair."""
    return state.q[x.index[0]]


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values, for `ucls.policy`."""
    return {"w": state.q}


@jit
def act(state, hyper, xs, rng):
    """The action with the largest value."""
    q = np.empty(len(xs.index))
    for a in range(len(q)):
        q[a] = state.q[xs.index[a, 0]]
    return argmax(q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition of a pair that is not known, and plan if it has become known."""
    pair = xs.index[a, 0]
    if state.model.visits[pair] < hyper.visits:
        md.observe(state.model, xs, a, r, gamma, xs_next)
        if state.model.visits[pair] == hyper.visits:
            solve(state, hyper)


@jit
def solve(state, hyper):
    """Back up the known pairs, the last first, until no value changes."""
    model, q = state.model, state.q
    least = TOLERANCE * max(1.0, abs(hyper.return_max))
    for _ in range(SWEEPS):
        change = 0.0
        for pair in range(model.known[0] * model.n_actions[0] - 1, -1, -1):
            if model.visits[pair] == hyper.visits:
                new = min(hyper.return_max, target(model, q, pair))
                change = max(change, abs(new - q[pair]))
                q[pair] = new
        if change < least:
            return


@jit
def target(model, q, pair):
    """The mean of reward and discounted value of the next cell."""
    moves, total = model.moves, 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell = moves.table.rows[move, 1]
        ahead = md.value_of(model, q, cell) if cell >= 0 else 0.0
        total += moves.visits[move] * (moves.reward[move] + moves.discount[move] * ahead)
        move = moves.out[move]
    return total / model.visits[pair]
