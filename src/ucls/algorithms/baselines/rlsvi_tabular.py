"""RLSVI with a table: the value of every state and action is sampled, before every episode, and followed greedily.

Osband, Van Roy and Wen, "Generalization and exploration via randomized value functions", ICML 2016, and Osband, Van
Roy, Russo and Wen, "Deep exploration via randomized value functions", JMLR 2019; in the form that Russo, "Worst-case
regret bounds for exploration via randomized value functions", NeurIPS 2019, analyzes. In an episode of H steps, for h =
H, ..., 1 and a state and action with n transitions in step h so far,

    Q_h(s, a) = (sum of (r + max_a' Q_h+1(s', a'))) / (n + 1) + w,      w ~ N(0, sigma^2 / (n + 1)),

and the agent takes the action with the largest Q_h. With `horizon` = H it is indexed by time like this. With
`horizon` = 0, the default, it is discounted: there is one Q for all steps, the fixed point of these equations, and it
is sampled again after `resample_every` steps within an episode.

It differs from `rlsvi`, which is for any features: that one backs up the last sample once (`n_backups`), this one
propagates every sample through the whole episode.

Memory: distinct states and transitions, and 2 `horizon` numbers per state and action.

Deviations: Russo has rewards from 0 to 1 and sigma^2 = H^3 S log(2 H S A k) / 2 in episode k, too large to learn soon.
- sigma is a fraction of the range of values, from the smallest to the largest possible return, with one default for all
  environments. The prior is worth `prior_visits`, and not 1.
- the value of the next state is clipped to that range (as in Agrawal, Chen and Jiang, "Improved worst-case regret
  bounds for randomized least-squares value iteration", AAAI 2021, who do so where there are few data).
- targets are discounted by the environment's discount, with a horizon too.
- an episode that is longer than the horizon is cut into several.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.algorithms.baselines import common
from ucls.kernels import active as la
from ucls.kernels.arrays import Array, IntScalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import lsvi as ls
from ucls.kernels.planning import value_range as vr
from ucls.kernels.ranges import COUNT, Index
from ucls.settings import NOT_NEGATIVE, POSITIVE, Whole

DISCRETE, UPDATES_FIRST = True, True
STREAM = ("step", *(f"range.{name}" for name in vr.PER_STREAM))  # fields of State that belong to one stream
full, grow = common.full_memory, common.grow_memory


class Settings(NamedTuple):
    """The settings of tabular RLSVI."""

    sigma: Annotated[float, NOT_NEGATIVE, "standard deviation of a target, as a fraction of the range of values"] = 0.03
    prior_visits: Annotated[float, POSITIVE, "visits that the prior N(0, sigma^2 / prior_visits) is worth"] = 0.001
    resample_every: Annotated[int, Whole(), "steps after which Q is sampled again within an episode; 0 for never"] = 500
    return_max: vr.ReturnMax = np.nan
    horizon: Annotated[int, Whole(0, 10**6), "steps of an episode, each with its own Q; 0: discounted, one Q"] = 0


class State(NamedTuple):
    """The transitions, the sampled Q of every step, the step of the episode, and steps since the sample was drawn."""

    memory: ls.Memory
    Q: Array
    range: vr.ValueRange
    step: Annotated[IntScalar, Index("Q", axis=1)]
    since: Annotated[IntScalar, COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return allocation_at(hyper, size, n_actions, n_active, 0)


def allocation_at(hyper: Settings, size: int, n_actions: int, n_active: int, steps: int) -> int:
    """Array elements after so many steps, at most."""
    return ls.room(size, n_actions, n_active, hyper.horizon, steps) + max(1, hyper.horizon) * size + vr.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without data."""
    return State(
        memory=ls.memory(size, n_actions, n_active, hyper.horizon, hyper.prior_visits),
        Q=np.zeros((1, max(1, hyper.horizon), size)),
        range=vr.value_range(),
        step=np.zeros(1, np.int64),
        since=np.zeros(1, np.int64),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: sample Q."""
    vr.begin(state.range)
    state.step[0] = 0
    sample(state, hyper, rng)


@jit
def sample(state, hyper, rng):
    """Sample Q of every step."""
    memory, (v0, vmin) = state.memory, vr.limits(state.range, hyper.return_max)
    noise, none = np.empty_like(state.Q), np.zeros((1, memory.moves.count[0]))
    for h in range(noise.shape[1]):
        for i in range(noise.shape[2]):  # Lambda^-1 of it has the variance sigma^2 Lambda^-1
            noise[0, h, i] = hyper.sigma * (v0 - vmin) * rng.standard_normal() / np.sqrt(memory.inverse[h, i, 0])
    ls.plan(memory, hyper.horizon > 0, state.Q, (v0, vmin), 0.0, noise, none)
    state.since[0] = 0


@jit
def value(state, hyper, x):
    """The sampled value of an action in the current step."""
    return la.dot(x, state.Q[0, state.step[0]])


@jit
def act(state, hyper, xs, rng):
    """The action with the largest Q."""
    Q = np.empty(len(xs.index))
    for a in range(len(Q)):
        Q[a] = value(state, hyper, la.of_action(xs, a))
    return la.argmax(Q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Remember a transition."""
    vr.observe(state.range, r, gamma)
    ls.remember(state.memory, state.step[0], xs, a, r, gamma, xs_next)
    if ls.passed(state.step, state.since, hyper.horizon, hyper.resample_every):
        sample(state, hyper, rng)
