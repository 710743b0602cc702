"""LSPI-Rmax(m): least-squares control with optimistic values for unknown states, pseudocode IsKnown and LSPI-Rmax.

The paper's incremental form of Li, Littman and Mansley, "Online Exploration in Least-Squares Policy Iteration", 2009.
A state-action pair is known once each of its active features has been visited more than m times with that action; a
state is known once they have been visited that often over all actions. Values of known pairs are learned by
least-squares TD (lambda = 0); values of unknown ones are regressed toward `return_max`, the maximum possible return.
Actions are greedy.

Deviations from the pseudocode, each with a setting for the literal version if that can work:
- a visit counts 1 for each active feature, not the feature's value, so that m does not depend on the tilings. Literal:
  `counting=values`.
- the smallest count is taken over the *active* features; taken over all features, as printed, nothing is known until
  everything is.
- w moves by (B' + eta I)(b - Aw), not (B + eta I)(b - Aw), because B is an estimate of A^-T. Literal:
  `preconditioner=printed`.
- `return_max` is a fact of the environment; the paper's rule for Gmax gives 500 in Sparse Mountain Car, where no
  return exceeds 1, and -10000 in Puddle World, which is not optimistic. Literal: `return_max=500` and
  `return_max=-10000`.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import masks as mk
from ucls.kernels.arrays import Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import system as sy
from ucls.kernels.linear_algebra.averages import spread
from ucls.kernels.linear_algebra.products import times, transposed_times
from ucls.settings import NOT_NEGATIVE, OPEN_UNIT, POSITIVE, Choice, Follows, Real, Whole

VISITS, VALUES = range(2)
TRANSPOSED, PRINTED = range(2)
STREAM = ()  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of LSPI-Rmax; the defaults are the pseudocode's."""

    m: Annotated[int, Whole(), "a feature is known once it has been visited more often than this"] = 5
    return_max: Annotated[float, Real(), Follows("return_max"), "value of unknown states: the maximum return"] = 1.0
    beta: Annotated[float, OPEN_UNIT, "weight of the newest sample in every average"] = 0.001
    eta: Annotated[float, NOT_NEGATIVE, "regularizer of the preconditioner B' + eta I"] = 1e-4
    b_step: Annotated[float, POSITIVE, "numerator of alpha, the step size of B"] = 0.01
    w_step: Annotated[float, POSITIVE, "step size of w"] = 1.0
    counting: Annotated[
        int, Choice("visits", "values"), "what a visit adds to the count of a feature: 1, or the feature's value"
    ] = VISITS
    preconditioner: Annotated[
        int, Choice("transposed", "printed"), "w moves by B' + eta I, or by B + eta I as in the literal pseudocode"
    ] = TRANSPOSED


class State(NamedTuple):
    """What LSPI-Rmax has learned, and how often each feature was visited."""

    system: sy.System
    counts: Vector


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: A and B."""
    return 2 * size**2 + 3 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from A = 0, B = I, and no known state, with `size` features."""
    return State(system=sy.system(size, dtype), counts=np.zeros(size))


@jit
def start(state, hyper, rng):
    """Begin an episode: nothing to do, because lambda is 0."""


@jit
def value(state, hyper, x):
    """The estimated action value x'w."""
    return la.dot(x, state.system.w)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values, for `ucls.policy`."""
    return {"w": state.system.w}


@jit
def act(state, hyper, xs, rng):
    """The greedy action."""
    values = np.empty(len(xs.index))
    for a in range(len(values)):
        values[a] = value(state, hyper, la.of_action(xs, a))
    return la.argmax(values, rng)


@jit
def is_known(counts, m, x):
    """IsKnown(s, a): the smallest count of an active feature exceeds m."""
    least = np.inf
    for j in range(len(x.index)):
        if x.value[j] != 0.0:
            least = min(least, counts[x.index[j]])
    return least > m


@jit
def is_known_state(counts, m, xs):
    """IsKnown(s): as above, with the counts of each feature summed over the actions."""
    least = np.inf
    for j in range(xs.index.shape[1]):
        if xs.value[0, j] != 0.0:
            total = 0.0
            for a in range(xs.index.shape[0]):
                if not mk.is_repeated(xs, a):
                    total += counts[xs.index[a, j]]
            least = min(least, total)
    return least > m


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the pseudocode after a' is chosen."""
    system, counts, w, m = state.system, state.counts, state.system.w, hyper.m
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = la.see(system.seen, x_next)
    for other in range(len(xs.index)):
        n = la.see(system.seen, la.of_action(xs, other))

    if is_known(counts, m, x):
        # after termination gamma is 0 and the two cases are one
        if gamma == 0.0 or is_known_state(counts, m, xs_next):
            average(system, n, hyper.beta, x, gamma, x_next, r)
        else:
            average(system, n, hyper.beta, x, 0.0, x, r + gamma * hyper.return_max)
    else:
        average(system, n, hyper.beta, x, 0.0, x, hyper.return_max)
    for other in range(len(xs.index)):
        x_other = la.of_action(xs, other)
        if not mk.is_same(xs, other, a) and not mk.is_repeated(xs, other) and not is_known(counts, m, x_other):
            average(system, n, hyper.beta, x_other, 0.0, x_other, hyper.return_max)
    for j in range(len(x.index)):
        if x.value[j] != 0.0:
            counts[x.index[j]] += 1.0 if hyper.counting == VISITS else x.value[j]

    # B ~ A^-T; the pass over A gives b - Aw as well
    g, v = sy.gradient_and_residual(system, n, x)
    alpha = min(1.0, hyper.b_step / (system.norm2[0] * la.square(x) + 1.0))
    sy.subtract_outer(system.Bt, n, alpha, g, x)
    Bv = transposed_times(system.Bt, n, v) if hyper.preconditioner == TRANSPOSED else times(system.Bt, n, v)
    sy.precondition(w, n, hyper.w_step, Bv, hyper.eta, v)


@jit
def average(system, n, beta, x, gamma, x_next, target):
    """A <- (1 - beta) A + beta x (x - gamma x')' and b <- (1 - beta) b + beta target x."""
    z = spread(n, x, system.b)
    sy.average_outer(system, n, beta, z, x, gamma, x_next)
    la.average(system.b, n, beta, target, z)
