"""LSVI-PHE: least-squares value iteration on perturbed histories, optimistic by the largest of several samples.

Ishfaq, Cui, Nguyen, Ayoub, Yang, Wang, Precup and Yang, "Randomized exploration in reinforcement learning with general
value function approximation", ICML 2021, in its linear form. Before every episode of H steps, for h = H, ..., 1, there
are `samples` regressions on all transitions of step h so far, each with noise of its own in every target, and in its
regularizer:

    w_h^m = argmin sum (r + xi + V_h+1(s') - x'w)^2 + ridge |w + zeta|^2,   xi ~ N(0, sigma^2), zeta ~ N(0, sigma^2 I)
    Q_h   = min(max_m x'w_h^m, H)^+,        V_h = max_a Q_h

and the agent takes the action with the largest Q_h. With `horizon` = H it is indexed by time like this. With
`horizon` = 0, the default, it is discounted: one regression for all steps, V is iterated until it stays, and the noise
is drawn again after `resample_every` steps within an episode.

The noises of equal transitions are drawn as their sum, which has the same distribution.

Memory: distinct states and transitions, which grow with the run if every state is new; and `horizon` matrices of the
number of features squared. With one active feature (one-hot) these are diagonal.

Deviations: the paper has rewards from 0 to 1, and values from 0 to H.
- values are clipped to the largest possible return v0 and the smallest one, vmin, and sigma is a fraction of v0 - vmin.
  The theory's sigma and number of samples grow with d and H; both are settings, with one default for all environments.
- zeta is divided by sqrt(ridge), so that w has the covariance sigma^2 Lambda^-1. With the paper's ridge of 1 it is the
  same; the default here is 0.01.
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

UPDATES_FIRST = True
STREAM = ("step", *(f"range.{name}" for name in vr.PER_STREAM))  # fields of State that belong to one stream
full, grow = common.full_memory, common.grow_memory


class Settings(NamedTuple):
    """The settings of LSVI-PHE."""

    sigma: Annotated[float, NOT_NEGATIVE, "standard deviation of the noise, as a fraction of the range of values"] = (
        0.03
    )
    samples: Annotated[int, Whole(1, 1000), "perturbed regressions, of whose values the largest counts"] = 10
    ridge: Annotated[float, POSITIVE, "lambda, the regularizer of the regression"] = 0.01
    resample_every: Annotated[int, Whole(), "steps after which noise is drawn again in an episode; 0 for never"] = 500
    return_max: vr.ReturnMax = np.nan
    horizon: Annotated[int, Whole(0, 10**6), "steps of an episode, each with its own w; 0: discounted, one w"] = 0


class State(NamedTuple):
    """The transitions, w of every sample and step, the step of the episode, and steps since the noise was drawn."""

    memory: ls.Memory
    w: Array
    range: vr.ValueRange
    step: Annotated[IntScalar, Index("w", axis=1)]
    since: Annotated[IntScalar, COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates."""
    return allocation_at(hyper, size, n_actions, n_active, 0)


def allocation_at(hyper: Settings, size: int, n_actions: int, n_active: int, steps: int) -> int:
    """Array elements after so many steps, if every state is new."""
    own = ls.room(size, n_actions, n_active, hyper.horizon, steps)
    return own + hyper.samples * max(1, hyper.horizon) * size + vr.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without data."""
    return State(
        memory=ls.memory(size, n_actions, n_active, hyper.horizon, hyper.ridge),
        w=np.zeros((hyper.samples, max(1, hyper.horizon), size)),
        range=vr.value_range(),
        step=np.zeros(1, np.int64),
        since=np.zeros(1, np.int64),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: perturb the history."""
    vr.begin(state.range)
    state.step[0] = 0
    perturb(state, hyper, rng)


@jit
def perturb(state, hyper, rng):
    """Draw noise, and compute every w."""
    memory, (v0, vmin) = state.memory, vr.limits(state.range, hyper.return_max)
    sigma, prior = hyper.sigma * (v0 - vmin), np.empty_like(state.w)
    noise = np.empty((len(state.w), memory.moves.count[0]))
    for m in range(len(noise)):
        for h in range(prior.shape[1]):
            for i in range(prior.shape[2]):
                prior[m, h, i] = sigma * np.sqrt(hyper.ridge) * rng.standard_normal()
        for move in range(noise.shape[1]):
            noise[m, move] = sigma * np.sqrt(memory.visits[move]) * rng.standard_normal()
    ls.plan(memory, hyper.horizon > 0, state.w, (v0, vmin), 0.0, prior, noise)
    state.since[0] = 0


@jit
def value(state, hyper, x):
    """The largest of the perturbed values in the current step, within the range of values."""
    v0, vmin = vr.limits(state.range, hyper.return_max)
    return min(max(ls.best(state.w, state.step[0], x), vmin), v0)


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
        perturb(state, hyper, rng)
