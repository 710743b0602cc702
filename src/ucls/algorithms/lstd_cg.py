"""LSTD(lambda) with conjugate gradient: the two algorithms of that name in the appendix.

Control by plain least-squares TD, greedy or epsilon-greedy, to study its regularizer: `regularizer=inside` solves (A +
eta I) w = b, as a Sherman-Morrison update does implicitly, and `regularizer=outside` minimizes |Aw - b|^2 + eta |w|^2
(the paper's eta_r). `eta_schedule=1/t` divides eta by t. Every step solves the system again, from the last w, by
conjugate gradient on the normal equations, which are symmetric while A is not.

Deviations from the pseudocode:
- the residual is A'b - (A'A + eta_r I) w and the step divides by d'(A'A + eta_r I) d; printed are b - (A'A + eta_r I) w
  and d'Ad, which belong to two other systems: together they solve none.
- it stops at |residual| <= `tolerance` |A'b|, tested before the first step too, or after `iterations` steps; printed is
  |residual|^2 <= 0.001, after at least one step, or "a fixed number of steps".
- the trace decays by the discount of the previous transition. Literal: `trace_discount=current`.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import IntScalar, Scalar
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import solvers
from ucls.kernels.linear_algebra import system as sy
from ucls.kernels.linear_algebra import traces as tr
from ucls.kernels.ranges import COUNT
from ucls.settings import NOT_NEGATIVE, POSITIVE, UNIT, Choice, Real, Whole

INSIDE, OUTSIDE = range(2)
CONSTANT, ONE_OVER_T = range(2)
STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of LSTD with conjugate gradient."""

    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    regularizer: Annotated[
        int, Choice("inside", "outside"), "inside: (A + eta I) w = b; outside: the w of least |Aw - b|^2 + eta |w|^2"
    ] = INSIDE
    eta: Annotated[float, NOT_NEGATIVE, "size of the regularizer"] = 1e-4
    eta_schedule: Annotated[int, Choice("constant", "1/t"), "keep eta, or divide it by the number of steps"] = CONSTANT
    beta: Annotated[
        float, Real(at_least=0, below=1), "weight of the newest sample in A and b; 0 weighs all samples the same (1/t)"
    ] = 0.0
    epsilon: Annotated[float, UNIT, "probability of a random action at first"] = 0.0
    epsilon_decay: Annotated[float, UNIT, "factor by which epsilon decays; 0.2 in the paper's One-State World"] = 1.0
    epsilon_every: Annotated[int, Whole(1), "number of steps after which epsilon decays"] = 100
    tolerance: Annotated[float, POSITIVE, "size of the residual, relative to A'b, that is small enough"] = 1e-3
    iterations: Annotated[int, Whole(1, 10**6), "most conjugate gradient steps for each step of the agent"] = 50
    trace_discount: Annotated[
        tr.Discount, "which transition's discount decays the trace; current is the literal pseudocode"
    ] = tr.PREVIOUS


class State(NamedTuple):
    """What LSTD has learned, in t steps."""

    system: sy.Equations
    trace: tr.Trace
    t: Annotated[IntScalar, COUNT]
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: A."""
    return size**2 + 4 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from A = 0, b = 0, w = 0, with `size` features."""
    return State(sy.equations(size, dtype), tr.trace(size, dtype), np.zeros(1, np.int64), np.zeros(1))


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    tr.restart(state.gamma, hyper.trace_discount)


@jit
def value(state, hyper, x):
    """The estimated action value x'w."""
    return la.dot(x, state.system.w)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values, for `ucls.policy`."""
    epsilon = hyper.epsilon * hyper.epsilon_decay ** int(state.t[0] // hyper.epsilon_every)
    return {"w": state.system.w, "epsilon": epsilon}


@jit
def act(state, hyper, xs, rng):
    """The epsilon-greedy action."""
    epsilon = hyper.epsilon * hyper.epsilon_decay ** (state.t[0] // hyper.epsilon_every)
    if epsilon > 0.0 and rng.random() < epsilon:
        return int(rng.random() * len(xs.index))
    values = np.empty(len(xs.index))
    for a in range(len(values)):
        values[a] = value(state, hyper, la.of_action(xs, a))
    return la.argmax(values, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the pseudocode after a' is chosen."""
    system, z = state.system, state.trace.z
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(system.seen, x), la.see(system.seen, x_next))

    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_and_add(state.trace, n, decay, x)
    state.t[0] += 1
    beta = hyper.beta if hyper.beta > 0.0 else 1.0 / state.t[0]
    la.average(system.b, n, beta, r, z)
    sy.average_outer(system, n, beta, z, x, gamma, x_next)

    eta = hyper.eta / state.t[0] if hyper.eta_schedule == ONE_OVER_T else hyper.eta
    eta_in, eta_out = (eta, 0.0) if hyper.regularizer == INSIDE else (0.0, eta)
    solvers.conjugate_gradient(system, n, eta_in, eta_out, hyper.tolerance, hyper.iterations)
