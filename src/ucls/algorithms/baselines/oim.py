"""OIM, the optimistic initial model: every pair starts with one imaginary visit that led to the maximum return.

Szita and Lorincz, "The many faces of optimism: a unifying approach", 2008:

    n(s,a) = n(s,a,eden) = 1 for all s, a; V(eden) = return_max
    repeat: take the action a with the largest Q(s,a), observe r, s'
        n(s,a) += 1, n(s,a,s') += 1, and count r
        Q(s,a) = return_max / n(s,a) + sum_s' n(s,a,s')/n(s,a) (mean r + gamma max_a' Q(s',a')),
            by prioritized sweeping

Discounted, by the discount of the environment; not indexed by time. It needs discrete states.

Deviations:
- the paper separates Q into the part of the real rewards and that of the imagined ones, and takes actions by their sum,
  which obeys the equation above; only the sum is computed here. `value` is the estimate without the Garden of Eden's
  return, what the paper's first part is if only actions that were tried count in its maximum.
- values are at most `return_max` and at least the sum of discounts times the smallest reward (or 0).
- a step backs up at most `BACKUPS` cells, and passes on no change below `TOLERANCE` of the range of values. UCLS-Plan
  with a prior of one visit and without noise is this algorithm, and shares its sweeping.
- what is stored and computed is float64, whatever the dtype.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.active import argmax
from ucls.kernels.arrays import Scalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import levels as lv
from ucls.kernels.planning import moves as mv
from ucls.kernels.planning import returns as rt
from ucls.kernels.planning import sweeping as sw
from ucls.kernels.ranges import STEPS
from ucls.settings import Follows, Real

DISCRETE, UPDATES_FIRST = True, True
BACKUPS, TOLERANCE = 20, 1e-5
STREAM = ("returns.steps", "returns.rewards", "returns.discounts", "returns.count")


class Settings(NamedTuple):
    """The settings of OIM."""

    return_max: Annotated[float, Real(), Follows("return_max", otherwise=1.0), "value of the Garden of Eden"] = 1.0


class State(NamedTuple):
    """The model with its values; the discounts and lengths of episodes; the smallest reward, or 0."""

    solver: sw.Sweeper
    returns: rt.Returns
    worst: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return sw.room(size, n_actions) + 2 * rt.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with one visit that led to the Garden of Eden."""
    return State(sw.sweeper(size, n_actions, 1.0), rt.returns(), np.zeros(1))


@jit
def full(state):
    """Whether another transition might not fit."""
    return mv.full(state.solver.moves)


def grow(state: State, hyper: Settings) -> State:
    """Double the capacity for transitions."""
    return state._replace(solver=state.solver._replace(moves=mv.more_moves(state.solver.moves)))


@jit
def start(state, hyper, rng):
    """Begin an episode."""
    rt.begin(state.returns)


@jit
def levels_of(state, hyper):
    """The largest and the smallest value; the prior is worth one visit."""
    lowest = min(state.worst[0] * rt.span(state.returns), hyper.return_max)
    return lv.Levels(hyper.return_max, lowest, 1.0, 0.0, 0.0)


@jit
def value(state, hyper, x):
    """The estimated value, without optimism."""
    return sw.value(state.solver, levels_of(state, hyper), x.index[0])


@jit
def upper(state, hyper, x):
    """The value with the Garden of Eden, which the agent maximizes."""
    return sw.upper(state.solver, levels_of(state, hyper), x.index[0])


@jit
def interval(state, hyper, x, rng):
    """The estimated value, and by how much the optimistic one is above it."""
    mean = value(state, hyper, x)
    return mean, max(0.0, upper(state, hyper, x) - mean)


@jit
def act(state, hyper, xs, rng):
    """The action with the largest optimistic value."""
    q, levels = np.empty(len(xs.index)), levels_of(state, hyper)
    for a in range(len(q)):
        q[a] = sw.upper(state.solver, levels, xs.index[a, 0])
    return argmax(q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Count a transition, and sweep."""
    solver = state.solver
    rt.observe(state.returns, r, gamma)
    state.worst[0] = min(state.worst[0], r)
    cell = xs_next.index[0, 0] // solver.n_actions[0] if gamma > 0.0 else -1
    levels = levels_of(state, hyper)
    sw.observe(solver, levels, xs.index[a, 0], r, gamma, cell, STEPS)
    sw.note_mask(solver, xs)
    if gamma > 0.0:
        sw.note_mask(solver, xs_next)
    sw.sweep(solver, levels, BACKUPS, TOLERANCE)
