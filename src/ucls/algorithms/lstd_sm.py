"""LSTD(lambda) with Sherman-Morrison updates: the paper's pseudocode of that name, epsilon-greedy.

Least-squares TD: w = A^-1 b, where A and b are averages of z (x - gamma x')' and r z, and A starts from eta I. The
inverse is stored instead of A (see `sherman_morrison`). With beta = 1/(t+1) every sample has equal weight.

A constant beta forgets old samples, and with them the regularizer: A^-1 grows as (1 - beta)^-t in every direction that
is not visited. A run stops, and is reported as diverged, once that has cost all significant digits.

Deviations from the pseudocode, the second with a setting for the literal version:
- beta = 1/(t+1), with t from 1, not 1/t, which divides by zero at t = 1.
- the trace decays by the discount of the previous transition, and starts from 0 in each episode; with the discount of
  the current transition, as printed, the trace is lost when a reward arrives at the goal. Literal:
  `trace_discount=current`.
- w <- w + delta beta A^-1 z instead of w <- A^-1 b: the same in exact arithmetic, cheaper, and closer to the solution
  where A is nearly singular.
- epsilon may decay, as in the paper's One-State experiment.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import sherman_morrison as inv
from ucls.kernels.linear_algebra import traces as tr
from ucls.settings import POSITIVE, UNIT, Real, Whole

STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of LSTD with Sherman-Morrison updates."""

    epsilon: Annotated[float, UNIT, "probability of a random action at first"] = 0.1
    epsilon_decay: Annotated[float, UNIT, "factor by which epsilon decays"] = 1.0
    epsilon_every: Annotated[int, Whole(1), "number of steps after which epsilon decays"] = 100
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    beta: Annotated[float, Real(at_least=0, below=1), "weight of the newest sample; 0 is 1/(t+1)"] = 0.0
    eta: Annotated[float, POSITIVE, "initial regularizer: A starts from eta I"] = 1e-4
    trace_discount: Annotated[
        tr.Discount, "which transition's discount decays the trace; current is the literal pseudocode"
    ] = tr.PREVIOUS


class State(NamedTuple):
    """What LSTD has learned."""

    inverse: inv.Inverse
    w: Vector
    trace: tr.LiveTrace
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: the inverse of A."""
    return size**2 + 4 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from A = eta I and w = 0, with `size` features."""
    return State(
        inverse=inv.inverse(size, hyper.eta, dtype),
        w=np.zeros(size, dtype),
        trace=tr.live_trace(size, dtype),
        gamma=np.zeros(1),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    tr.restart(state.gamma, hyper.trace_discount)


@jit
def value(state, hyper, x):
    """The estimated action value x'w."""
    return la.dot(x, state.w)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values, for `ucls.policy`."""
    epsilon = hyper.epsilon * hyper.epsilon_decay ** int(state.inverse.t[0] // hyper.epsilon_every)
    return {"w": state.w, "epsilon": epsilon}


@jit
def act(state, hyper, xs, rng):
    """The best action, or with probability epsilon a random one."""
    q = np.empty(len(xs.index))
    for a in range(len(q)):
        q[a] = value(state, hyper, la.of_action(xs, a))
    epsilon = hyper.epsilon * hyper.epsilon_decay ** (state.inverse.t[0] // hyper.epsilon_every)
    return la.epsilon_greedy(q, epsilon, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the pseudocode after a' is chosen."""
    inverse, z, w = state.inverse, state.trace.z, state.w
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(inverse.seen, x), la.see(inverse.seen, x_next))

    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_live(state.trace, decay, x)
    beta = inv.next_weight(inverse, hyper.beta)
    gain = inv.sherman_morrison(inverse, n, beta, z, x, gamma, x_next)
    inv.correct(w, n, delta, gain)
