"""LSVI-UCB: optimistic least-squares value iteration with linear features, recomputed when a determinant has doubled.

Jin, Yang, Wang and Jordan, "Provably efficient reinforcement learning with linear function approximation", COLT 2020.
In an episode of H steps, for h = H, ..., 1 and over all transitions of step h so far:

    Lambda_h = ridge I + sum x x'
    w_h      = Lambda_h^-1 sum x (r + max_a Q_h+1(s', a))
    Q_h      = min(x'w_h + beta sqrt(x' Lambda_h^-1 x), H)

and the agent takes the action with the largest Q_h. With `horizon` = H it is indexed by time like this. With
`horizon` = 0, the default, it is discounted: one regression for all steps, and V = max_a Q is iterated until it stays.

The paper recomputes w before every episode. Here that is done when the determinant of a Lambda_h has at least doubled
since the last time (Abbasi-Yadkori, Pal and Szepesvari 2011; for LSVI-UCB, Wang, Zhou and Gu 2021), about d log(t)
times: with a horizon at the beginning of an episode, without one at once.

Memory: distinct states and transitions, which grow with the run if every state is new; and `horizon` matrices of the
number of features squared. With one active feature (one-hot) these are diagonal.

Deviations: the paper has rewards from 0 to 1, and values from 0 to H.
- values are clipped to the largest possible return v0 and the smallest one, vmin, and beta = bonus_scale (v0 - vmin).
  The paper has beta = c d H sqrt(log(2 d T / p)), whose constants are far too large to learn anything: bonus_scale is a
  setting instead, with one default for all environments.
- the paper has ridge 1, for features of length 1 at most; the default here is 0.01. What was not tried then has a bonus
  of the whole range of values, and what was tried once already a tenth of it.
- targets are discounted by the environment's discount, with a horizon too.
- without a horizon, this is none of the paper's algorithms. A value then means the same in every step, which is what
  greedy policies and maps show, and every transition is used for every step. An episode that is longer than the horizon
  is cut into several.
- the bonus of the action that is taken has all transitions so far; w is that of the last regression.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels import active as la
from ucls.kernels.arrays import Array, IntScalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import lsvi as ls
from ucls.kernels.planning import value_range as vr
from ucls.kernels.ranges import Index
from ucls.settings import NOT_NEGATIVE, POSITIVE, Real, Whole

UPDATES_FIRST = True
STREAM = ("step", *(f"range.{name}" for name in vr.PER_STREAM))  # fields of State that belong to one stream
full, grow = common.full_memory, common.grow_memory


class Settings(NamedTuple):
    """The settings of LSVI-UCB."""

    bonus_scale: Annotated[float, NOT_NEGATIVE, "beta, as a fraction of the range of values"] = 0.1
    ridge: Annotated[float, POSITIVE, "lambda, the regularizer of the regression"] = 0.01
    return_max: vr.ReturnMax = np.nan
    horizon: Annotated[int, Whole(0, 10**6), "steps of an episode, each with its own w; 0: discounted, one w"] = 0
    growth: Annotated[float, Real(at_least=1), "factor of a determinant's growth at which w is recomputed"] = 2.0


class State(NamedTuple):
    """What LSVI-UCB has learned: w of every step, and the logarithm by which each determinant grew since."""

    memory: ls.Memory
    w: Array
    growth: Vector
    range: vr.ValueRange
    step: Annotated[IntScalar, Index("growth")]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return allocation_at(hyper, size, n_actions, n_active, 0)


def allocation_at(hyper: Settings, size: int, n_actions: int, n_active: int, steps: int) -> int:
    """Array elements after so many steps, if every state is new."""
    own = ls.room(size, n_actions, n_active, hyper.horizon, steps)
    return own + max(1, hyper.horizon) * (size + 1) + vr.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without data."""
    steps = max(1, hyper.horizon)
    return State(
        memory=ls.memory(size, n_actions, n_active, hyper.horizon, hyper.ridge),
        w=np.zeros((1, steps, size)),
        growth=np.zeros(steps),
        range=vr.value_range(),
        step=np.zeros(1, np.int64),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode."""
    vr.begin(state.range)
    begin(state, hyper)


@jit
def begin(state, hyper):
    """Begin an episode of `horizon` steps; compute w if a determinant has grown."""
    state.step[0] = 0
    if np.max(state.growth) >= np.log(hyper.growth):
        plan(state, hyper)


@jit
def plan(state, hyper):
    """Compute w from all transitions so far."""
    memory, (v0, vmin) = state.memory, vr.limits(state.range, hyper.return_max)
    none = np.zeros((1, memory.moves.count[0]))
    ls.plan(
        memory, hyper.horizon > 0, state.w, (v0, vmin), hyper.bonus_scale * (v0 - vmin), np.zeros(state.w.shape), none
    )
    for h in range(len(state.growth)):
        state.growth[h] = 0.0


@jit
def value(state, hyper, x):
    """x'w of the current step."""
    return la.dot(x, state.w[0, state.step[0]])


@jit
def interval(state, hyper, x, rng):
    """x'w and the bonus."""
    return value(state, hyper, x), bonus(state, hyper, x)


@jit
def bonus(state, hyper, x):
    """beta sqrt(x' Lambda^-1 x)."""
    v0, vmin = vr.limits(state.range, hyper.return_max)
    return hyper.bonus_scale * (v0 - vmin) * np.sqrt(ls.form(state.memory, state.step[0], x))


@jit
def upper(state, hyper, x):
    """x'w and the bonus, at most v0, which the agent maximizes."""
    v0, _ = vr.limits(state.range, hyper.return_max)
    return min(value(state, hyper, x) + bonus(state, hyper, x), v0)


@jit
def act(state, hyper, xs, rng):
    """The action with the largest Q."""
    Q = np.empty(len(xs.index))
    for a in range(len(Q)):
        Q[a] = upper(state, hyper, la.of_action(xs, a))
    return la.argmax(Q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Remember a transition."""
    vr.observe(state.range, r, gamma)
    h = state.step[0]
    state.growth[h] += ls.remember(state.memory, h, xs, a, r, gamma, xs_next)
    if hyper.horizon == 0:
        if state.growth[0] >= np.log(hyper.growth):
            plan(state, hyper)
    elif h + 1 < hyper.horizon:
        state.step[0] = h + 1
    else:
        begin(state, hyper)
