"""Q-learning with UCB-Hoeffding exploration: tabular, without a model, with a bonus that decays with visits.

Jin, Allen-Zhu, Bubeck and Jordan, "Is Q-learning provably efficient?", NeurIPS 2018, Algorithm 1. In an episode of H
steps, for the state, action, reward and next state of step h, at the t-th visit of this state and action in step h:

    alpha_t   = (H + 1) / (H + t)
    b_t       = c sqrt(H^3 log(S A T / p) / t)
    Q_h(s, a) <- (1 - alpha_t) Q_h(s, a) + alpha_t (r + V_h+1(s') + b_t)
    V_h(s)    = min(H, max_a Q_h(s, a))

Every Q starts at H, and the agent takes the action with the largest Q_h. With `horizon` = H it is indexed by time like
this. With `horizon` = 0, the default, it is discounted: one Q for all steps and H = 1 / (1 - gamma), as in "Q-learning
with UCB exploration is sample efficient for infinite-horizon MDP" (Wang, Dong, Chen and Wang, ICLR 2020), whose
learning rate and bonus have this form. Where nothing is discounted, H is the length of the longest episode so far.

Memory: 2 `horizon` numbers per state and action. A step takes time for the actions of the next state only.

Deviations: the paper has rewards from 0 to 1, and values from 0 to H.
- H is the range of values in b_t and V: b_t = bonus_scale (v0 - vmin) sqrt(H / t), V is at most v0, the largest
  possible return, and vmin is the smallest one. The setting bonus_scale stands for c sqrt(log(S A T / p)), which is too
  large to learn anything soon; it has one default for all environments.
- the Bernstein bonus of the paper's Algorithm 2 is not here.
- Q of what was not tried is v0 + b_1, and not v0: with the paper's constants b_1 > v0, so that actions that were tried
  would be preferred until their bonus has decayed. V is the same.
- targets are discounted by the environment's discount, with a horizon too.
- without a horizon the paper of 2020 also keeps the smallest Q so far; here Q is as above.
- an episode that is longer than the horizon is cut into several.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import IntScalar, Matrix
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import value_range as vr
from ucls.kernels.ranges import COUNT, Index
from ucls.settings import NOT_NEGATIVE, Whole

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("step", *(f"range.{name}" for name in vr.PER_STREAM))  # fields of State that belong to one stream


class Settings(NamedTuple):
    """The settings of Q-learning with UCB."""

    bonus_scale: Annotated[float, NOT_NEGATIVE, "bonus of the first visit, in sqrt(H) ranges of values"] = 0.001
    return_max: vr.ReturnMax = np.nan
    horizon: Annotated[int, Whole(0, 10**6), "steps of an episode, each with its own Q; 0: discounted, one Q"] = 0


class State(NamedTuple):
    """Q and visits, of every step, state and action; the range of values; the step of the episode."""

    Q: Matrix
    visits: Annotated[Matrix, COUNT]
    range: vr.ValueRange
    step: Annotated[IntScalar, Index("Q")]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return 2 * max(1, hyper.horizon) * size + vr.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without visits."""
    shape = max(1, hyper.horizon), size
    return State(np.zeros(shape), np.zeros(shape), vr.value_range(), np.zeros(1, np.int64))


@jit
def start(state, hyper, rng):
    """Begin an episode."""
    vr.begin(state.range)
    state.step[0] = 0


@jit
def bonus(state, hyper, t):
    """b_t."""
    v0, vmin = vr.limits(state.range, hyper.return_max)
    return hyper.bonus_scale * (v0 - vmin) * np.sqrt(vr.steps_ahead(state.range, hyper.horizon) / t)


@jit
def optimistic(state, hyper, h, x):
    """Q of an action in step h; v0 + b_1 if it was not tried."""
    if state.visits[h, x.index[0]] == 0.0:
        return vr.limits(state.range, hyper.return_max)[0] + bonus(state, hyper, 1.0)
    return state.Q[h, x.index[0]]


@jit
def value(state, hyper, x):
    """The optimistic value of an action in the current step, at most v0."""
    return min(optimistic(state, hyper, state.step[0], x), vr.limits(state.range, hyper.return_max)[0])


@jit
def upper(state, hyper, x):
    """The same without a limit, which the agent maximizes."""
    return optimistic(state, hyper, state.step[0], x)


@jit
def best(state, hyper, h, xs):
    """The largest Q of a state in step h."""
    found = -np.inf
    for a in range(len(xs.index)):
        found = max(found, optimistic(state, hyper, h, la.of_action(xs, a)))
    return found


@jit
def act(state, hyper, xs, rng):
    """The action with the largest Q."""
    Q = np.empty(len(xs.index))
    for a in range(len(Q)):
        Q[a] = upper(state, hyper, la.of_action(xs, a))
    return la.argmax(Q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from a transition of this step of the episode."""
    vr.observe(state.range, r, gamma)
    h, pair, H = state.step[0], xs.index[a, 0], vr.steps_ahead(state.range, hyper.horizon)
    h_next = 0 if hyper.horizon == 0 or h + 1 == hyper.horizon else h + 1
    state.visits[h, pair] += 1.0
    t, y = state.visits[h, pair], r
    if gamma > 0.0 and (hyper.horizon == 0 or h_next > 0):
        y += gamma * min(vr.limits(state.range, hyper.return_max)[0], best(state, hyper, h_next, xs_next))
    alpha = (H + 1.0) / (H + t)
    state.Q[h, pair] += alpha * (y + bonus(state, hyper, t) - state.Q[h, pair])
    state.step[0] = h_next
