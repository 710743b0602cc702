"""UCLS-L(lambda): UCLS at linear cost, the paper's pseudocode GetOptimisticActionLinear and UCLS-L.

w and w_var are both learned by TD(lambda) instead of least squares: w_var follows the TD errors of w, so that
w_var w_var' stands for the covariance C of UCLS. The agent takes the action with the largest upper bound
x'w + sqrt((1 + 1/p) ((x'w_var)^2 + sum_i x_i^2 w_varInit_i)), where w_varInit is the residual initial variance: it
decays where the agent is (where the trace z is large). v_init is the largest w_var_i^2 so far, which every w_varInit_i
is taken to have started from (c is the remaining fraction).

The cost of a step depends on the number of active features and live traces, except for the rare step that raises
v_init.

Deviations from the pseudocode, with a setting for the literal version where one is named:
- w_varInit_i and c_i decay where |z_i| exceeds `trace_threshold` (default beta), not where it differs from 0: a trace
  that decays never reaches 0, and optimism would decay everywhere at once. Literal: `trace_threshold=0`.
- w_varInit_i decays for its own i. The pseudocode says "for all i" inside the loop over i, so that every entry, visited
  or not, decays once for each feature that has a trace. Literal: `fade=all`.
- the trace decays by the discount of the previous transition, and starts from 0 in each episode; with the discount of
  the current transition, as printed, the trace is lost when a reward arrives at the goal. Literal:
  `trace_discount=current`.
- z starts at 0, which the pseudocode does not say.
- both step sizes are divided by |x|^2, as in Sarsa, so that they are fractions of an error with any features, and alpha
  is 0.1. Literal: `normalize_step=false`, with the paper's `alpha=0.01`.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import traces as tr
from ucls.settings import NOT_NEGATIVE, OPEN_UNIT, POSITIVE, UNIT, Choice, Flag, Follows

OWN, ALL = range(2)
STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of UCLS-L; the defaults are the paper's, except for the step sizes."""

    p: Annotated[
        float, POSITIVE, "failure probability: a bound holds with probability 1 - p; smaller explores more"
    ] = 0.1
    p_bar: Annotated[float, NOT_NEGATIVE, "factor of the radius in place of sqrt(1 + 1/p), if above 0"] = 0.0
    alpha: Annotated[float, POSITIVE, "step size of w"] = 0.1
    alpha_var: Annotated[float, POSITIVE, "step size of w_var"] = 0.1
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    beta: Annotated[float, OPEN_UNIT, "fraction of the initial variance that decays in one step"] = 0.001
    v_init: Annotated[float, POSITIVE, "initial variance of every weight; grows as larger ones are seen"] = 1.0
    trace_threshold: Annotated[
        float, NOT_NEGATIVE, Follows("beta"), "w_varInit decays where |z| exceeds this; 0 is the literal pseudocode"
    ] = 0.001
    fade: Annotated[
        int,
        Choice("own", "all"),
        "what decays for each feature with a trace: its own entry; all is the literal pseudocode",
    ] = OWN
    trace_discount: Annotated[
        tr.Discount, "which transition's discount decays the trace; current is the literal pseudocode"
    ] = tr.PREVIOUS
    normalize_step: Annotated[
        int, Flag(), "divide alpha and alpha_var by |x|^2, so that they are fractions of an error; false is the paper's"
    ] = 1


class State(NamedTuple):
    """What UCLS-L has learned."""

    w: Vector
    w_var: Vector
    w_init: Vector
    c: Vector
    v_init: Scalar
    trace: tr.LiveTrace
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: weights, variances and a trace."""
    return 7 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from w = w_var = 0 and w_varInit = v_init, with `size` features."""
    return State(
        w=np.zeros(size, dtype),
        w_var=np.zeros(size, dtype),
        w_init=np.full(size, hyper.v_init, dtype),
        c=np.ones(size, dtype),
        v_init=np.array([hyper.v_init], dtype),
        trace=tr.live_trace(size, dtype, hyper.trace_threshold),
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


@jit
def interval(state, hyper, x, rng):
    """The estimated action value and the radius of its bound."""
    factor = hyper.p_bar if hyper.p_bar > 0.0 else np.sqrt(1.0 + 1.0 / hyper.p)
    spread = la.dot(x, state.w_var)
    norm = 0.0
    for i in range(len(x.index)):
        norm += x.value[i] * x.value[i] * state.w_init[x.index[i]]
    return la.dot(x, state.w), factor * np.sqrt(spread * spread + norm)


@jit
def learned(state, hyper, x):
    """The learned fraction of (x'w_var)^2 + sum_i x_i^2 w_varInit_i; the rest is residual initial variance."""
    spread, left = la.dot(x, state.w_var) ** 2, 0.0
    for i in range(len(x.index)):
        left += x.value[i] * x.value[i] * state.w_init[x.index[i]]
    return spread / (spread + left) if spread > 0.0 else 0.0


def internals(state: State, hyper: Settings) -> dict[str, float]:
    """The initial variance v_init."""
    return {"v_init": float(state.v_init[0])}


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values and their bounds, for `ucls.policy`."""
    scale = hyper.p_bar if hyper.p_bar > 0.0 else (1.0 + 1.0 / hyper.p) ** 0.5
    return {"w": state.w, "u": state.w_var, "d": state.w_init, "scale": scale}


@jit
def act(state, hyper, xs, rng):
    """GetOptimisticActionLinear."""
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        mean, radius = interval(state, hyper, la.of_action(xs, a), rng)
        upper[a] = mean + radius
    return la.argmax(upper, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the body of UCLS-L after a' is chosen."""
    trace, w, w_var = state.trace, state.w, state.w_var
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)

    alpha, alpha_var = hyper.alpha, hyper.alpha_var
    if hyper.normalize_step:
        alpha, alpha_var = la.part_of_error(alpha, x), la.part_of_error(alpha_var, x)
    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    delta_var = delta + gamma * la.dot(x_next, w_var) - la.dot(x, w_var)
    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_live(trace, decay, x)
    tr.add_live(w_var, alpha_var * delta_var, trace)
    raise_initial(state)
    fade_initial(state, hyper)
    tr.add_live(w, alpha * delta, trace)


@jit
def raise_initial(state):
    """v_init <- max(v_init, w_var_1^2, ..., w_var_d^2), as if w_varInit had started from it."""
    before = state.v_init[0]
    v_init = before
    for k in range(state.trace.count[0]):  # no other w_var_i has changed
        i = state.trace.live[k]
        v_init = max(v_init, state.w_var[i] * state.w_var[i])
    if v_init != before:
        state.v_init[0] = v_init
        for i in range(len(state.c)):
            state.w_init[i] += state.c[i] * (v_init - before)


@jit
def fade_initial(state, hyper):
    """c_i and w_varInit_i <- (1 - beta) times themselves, where the trace of i is large."""
    trace, w_init = state.trace, state.w_init
    keep, everywhere = w_init.dtype.type(1.0 - hyper.beta), w_init.dtype.type(1.0)
    for k in range(trace.count[0]):
        i = trace.live[k]
        if abs(trace.z[i]) > hyper.trace_threshold or hyper.trace_threshold == 0.0:
            state.c[i] *= keep
            if hyper.fade == OWN:
                w_init[i] *= keep
            else:
                everywhere *= keep
    if everywhere != 1.0:
        for i in range(len(w_init)):
            w_init[i] = w_init[i] * everywhere if w_init[i] > trace.tiny[0] else w_init.dtype.type(0)
