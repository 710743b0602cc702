"""Sarsa(lambda) with accumulating traces, epsilon-greedy or with optimistic initial values.

Rummery and Niranjan, 1994; Sutton and Barto, "Reinforcement Learning", section 12.7. It is the paper's baseline, for
which the paper gives no pseudocode: w <- w + alpha delta z. It explores with random actions (`epsilon`), with initial
values that are too high (`initial_value`, for every action in every state), or both.

The cost of a step depends on the number of active features and live traces, not on the number of features.

Deviations, where the paper says nothing:
- the initial value is a constant, Q = initial_value + x'w with w = 0 at the start. Where the values of the active
  features have the same sum in every state, w = initial_value / sum gives the same, step by step; where they have not
  (two tiles share an index), Q still starts at initial_value everywhere.
- alpha is divided by |x|^2, so that it is the fraction of the error in Q(s,a) that one step without trace removes, for
  any number of tilings and any feature value. Plain: `normalize_step=false`.
- the trace decays by the discount of the previous transition, and starts from 0 in each episode, as in UCLS.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import traces as tr
from ucls.settings import POSITIVE, UNIT, Flag, Real

STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of Sarsa."""

    alpha: Annotated[float, POSITIVE, "step size"] = 0.1
    epsilon: Annotated[float, UNIT, "probability of a random action"] = 0.1
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    initial_value: Annotated[
        float,
        Real(fact="return_max"),
        "value of every action at the start; return_max, the maximum possible return, is optimistic",
    ] = 0.0
    normalize_step: Annotated[int, Flag(), "divide alpha by |x|^2, so that it is a fraction of the error"] = 1
    trace_discount: Annotated[tr.Discount, "which transition's discount decays the trace"] = tr.PREVIOUS


class State(NamedTuple):
    """What Sarsa has learned."""

    w: Vector
    trace: tr.LiveTrace
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: weights and their trace."""
    return 4 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from w = 0, with `size` features."""
    return State(w=np.zeros(size, dtype), trace=tr.live_trace(size, dtype), gamma=np.zeros(1))


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    tr.restart(state.gamma, hyper.trace_discount)


@jit
def value(state, hyper, x):
    """The estimated action value: the initial value plus x'w."""
    return la.dot(x, state.w) + hyper.initial_value


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values, for `ucls.policy`."""
    return {"w": state.w, "constant": hyper.initial_value, "epsilon": hyper.epsilon}


@jit
def act(state, hyper, xs, rng):
    """The best action, or with probability epsilon a random one."""
    q = np.empty(len(xs.index))
    for a in range(len(q)):
        q[a] = value(state, hyper, la.of_action(xs, a))
    return la.epsilon_greedy(q, hyper.epsilon, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition."""
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    alpha = la.part_of_error(hyper.alpha, x) if hyper.normalize_step else hyper.alpha

    delta = r + gamma * value(state, hyper, x_next) - value(state, hyper, x)
    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_live(state.trace, decay, x)
    tr.add_live(state.w, alpha * delta, state.trace)
