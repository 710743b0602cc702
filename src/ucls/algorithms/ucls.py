"""UCLS(lambda): Upper-Confidence Least-Squares, Algorithms 1 and 2 of the paper.

Kumaraswamy, Schlegel, White and White, "Context-Dependent Upper-Confidence Bounds for Directed Exploration",
NeurIPS 2018. The agent learns action values x'w by least-squares TD, estimates the covariance C of w, and takes the
action with the largest upper bound x'w + sqrt((1 + 1/p) x'Cx). C starts as c_max I and is averaged with a a' where the
agent is (where the trace z is large), so that the bound stays wide in unvisited states.

Notation follows the paper: A and b are the averages of LSTD, B is the running estimate of A^-T, nu the average of TD
error times trace, and c_max the largest a_i^2 so far, which every C_ii is taken to have started from (c is the
remaining fraction of that initial variance).

In practice less is learned than the notation suggests. With features of 1/n and beta = 0.001, the defaults, A is so
small that B stays within a hundredth of I, and a a' is so small that x'Cx consists of the residual initial variance,
c_max sum_i x_i^2 (1 - beta)^(visits of i), until almost nothing of it is left. The radius is then a visit-count bonus
that hardly depends on a variance, and w moves by a fixed step of b - Aw. `ucls diagnose` shows this along a run
(docs/diagnose.md has numbers). `covariance=visit_counts` enforces it, with B = I and a = 0, for comparison; larger
features (`feature_value=1`, with a smaller `w_step`) let B move.

Deviations from the pseudocode, each with a setting for the literal version:
- C_ij is averaged where |z_i| and |z_j| exceed `trace_threshold` (default beta), not where they differ from 0: a trace
  that decays never reaches 0, and optimism would decay everywhere at once. Literal: `trace_threshold=0`.
- the trace decays by the discount of the previous transition, and starts from 0 in each episode; with the discount of
  the current transition, as printed, the trace is lost when a reward arrives at the goal. Literal:
  `trace_discount=current`.
- x'Cx is clipped at 0 from below: a partial average can lose positive semi-definiteness.
- `solver` selects other ways to move w toward the solution of A w = b, those of the appendix "Alternative updates for
  LSTD" and `direct`; `preconditioned` is the pseudocode's. Nothing else changes: C is learned with B in all of them.
- `averages=sample` uses beta_t = 1/(t + 1) instead of beta, the paper's 1/t with the initial value as one more sample:
  at t = 1 the printed one would erase the initial C where the trace is. A w = b has the same solution with either.
- `initial_variance=constant` leaves c at 1, where the pseudocode lets it decay; it matters only if c_max grows.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.kernels import active as la
from ucls.kernels.arrays import IntScalar, Matrix, Scalar, Vector, diagonal
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import preconditioner, solvers
from ucls.kernels.linear_algebra import pseudo_inverse as pseudo
from ucls.kernels.linear_algebra import sherman_morrison as inv
from ucls.kernels.linear_algebra import system as sy
from ucls.kernels.linear_algebra import traces as tr
from ucls.kernels.linear_algebra.averages import average_block
from ucls.kernels.linear_algebra.products import transposed_times_both
from ucls.kernels.ranges import COUNT
from ucls.settings import NOT_NEGATIVE, OPEN_UNIT, POSITIVE, UNIT, Choice, Follows, Whole

PRECONDITIONED, SHERMAN_MORRISON, FIXED_STEP, CONJUGATE_GRADIENT, DIRECT, PSEUDO_INVERSE = range(6)
LEARNED, VISIT_COUNTS = range(2)
EXPONENTIAL, SAMPLE = range(2)
DECAYING, CONSTANT = range(2)
STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of UCLS; the defaults are the paper's."""

    p: Annotated[
        float, POSITIVE, "failure probability: a bound holds with probability 1 - p; smaller explores more"
    ] = 0.1
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    beta: Annotated[float, OPEN_UNIT, "weight of the newest sample in every average"] = 0.001
    eta: Annotated[float, NOT_NEGATIVE, "regularizer of the preconditioner B' + eta I"] = 1e-4
    c_max: Annotated[float, POSITIVE, "initial variance of every weight; grows as larger ones are seen"] = 1.0
    b_step: Annotated[float, POSITIVE, "numerator of alpha, the step size of B"] = 0.01
    w_step: Annotated[float, POSITIVE, "step size of w, for the solvers preconditioned and fixed_step"] = 1.0
    trace_threshold: Annotated[
        float, NOT_NEGATIVE, Follows("beta"), "C is averaged where |z| exceeds this; 0 is the literal pseudocode"
    ] = 0.001
    trace_discount: Annotated[
        tr.Discount, "which transition's discount decays the trace; current is the literal pseudocode"
    ] = tr.PREVIOUS
    solver: Annotated[
        int,
        Choice("preconditioned", "sherman_morrison", "fixed_step", "conjugate_gradient", "direct", "pseudo_inverse"),
        "how w moves toward A w = b; preconditioned is the paper's",
    ] = PRECONDITIONED
    solve_every: Annotated[int, Whole(1), "steps between two solutions of the solver direct"] = 100
    covariance: Annotated[
        int, Choice("learned", "visit_counts"), "what C is; visit_counts has B = I and a = 0, so that C only decays"
    ] = LEARNED
    averages: Annotated[
        int, Choice("exponential", "sample"), "weight of the newest sample: beta, or 1/(t + 1) in the t-th step"
    ] = EXPONENTIAL
    initial_variance: Annotated[
        int,
        Choice("decaying", "constant"),
        "what a larger c_max adds to C: the remaining fraction of the initial variance, or (constant) all of it",
    ] = DECAYING


class State(NamedTuple):
    """What UCLS has learned."""

    system: sy.System
    trace: tr.Trace
    nu: Vector
    C: Matrix
    c: Vector
    c_max: Scalar
    gamma: Scalar
    inverse: inv.Inverse
    t: Annotated[IntScalar, COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: A, B, C and, for two solvers, an inverse."""
    return (4 if hyper.solver in (SHERMAN_MORRISON, PSEUDO_INVERSE) else 3) * size**2 + 6 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from A = 0, B = I, C = c_max I, with `size` features; two solvers also need an inverse."""
    inverted = hyper.solver == SHERMAN_MORRISON
    if inverted and hyper.eta == 0:
        raise UserError("the solver sherman_morrison starts from A = eta I: give eta > 0")
    return State(
        system=sy.system(size, dtype),
        trace=tr.trace(size, dtype),
        nu=np.zeros(size, dtype),
        C=diagonal(size, hyper.c_max, dtype),
        c=np.ones(size, dtype),
        c_max=np.array([hyper.c_max], dtype),
        gamma=np.zeros(1),
        inverse=pseudo.pseudo_inverse(size, dtype)
        if hyper.solver == PSEUDO_INVERSE
        else inv.inverse(size if inverted else 0, hyper.eta or 1.0, dtype),
        t=np.zeros(1, np.int64),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    tr.restart(state.gamma, hyper.trace_discount)


@jit
def value(state, hyper, x):
    """The estimated action value x'w."""
    return la.dot(x, state.system.w)


@jit
def interval(state, hyper, x, rng):
    """The estimated action value and the radius of its bound."""
    return bound(state.system.w, state.C, hyper.p, x)


@jit
def bound(w, C, p, x):
    """x'w and sqrt((1 + 1/p) x'Cx)."""
    return la.dot(x, w), np.sqrt((1.0 + 1.0 / p) * max(0.0, la.quadratic(C, x)))


@jit
def learned(state, hyper, x):
    """The learned fraction of x'Cx; the rest is the residual initial variance c_max sum_i c_i x_i^2."""
    left, whole = 0.0, la.quadratic(state.C, x)
    for i in range(len(x.index)):
        left += state.c_max[0] * state.c[x.index[i]] * x.value[i] * x.value[i]
    return max(0.0, 1.0 - left / whole) if whole > 0.0 else 1.0


def internals(state: State, hyper: Settings) -> dict[str, float]:
    """The relative distance of B from I, the correlation of a = B'nu with A^-1 nu, and the initial variance c_max."""
    return {
        "|B - I| / |I|": preconditioner.moved(state.system),
        "corr(a, A^-1 nu)": preconditioner.agreement(state.system, state.nu),
        "c_max": float(state.c_max[0]),
    }


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values and their bounds, for `ucls.policy`."""
    return {"w": state.system.w, "C": state.C, "scale": (1.0 + 1.0 / hyper.p) ** 0.5}


@jit
def act(state, hyper, xs, rng):
    """GetOptimisticAction (Algorithm 1)."""
    w, C, p = state.system.w, state.C, hyper.p  # once: to hand on a whole state takes longer than its bound
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        mean, radius = bound(w, C, p, la.of_action(xs, a))
        upper[a] = mean + radius
    return la.argmax(upper, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the body of Algorithm 2 after a' is chosen."""
    system, z, nu, w = state.system, state.trace.z, state.nu, state.system.w
    beta = next_weight(state, hyper)
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(system.seen, x), la.see(system.seen, x_next))

    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_and_add(state.trace, n, decay, x)
    la.average(system.b, n, beta, r, z)
    sy.average_outer(system, n, beta, z, x, gamma, x_next)

    # B ~ A^-T; the pass over A gives b - Aw as well
    g, v = sy.gradient_and_residual(system, n, x)
    alpha = min(1.0, hyper.b_step / (system.norm2[0] * la.square(x) + 1.0))
    if hyper.covariance == LEARNED:
        sy.subtract_outer(system.Bt, n, alpha, g, x)

    la.average(nu, n, beta, delta, z)
    avec, Bv = transposed_times_both(system.Bt, n, nu, v)
    if hyper.covariance == VISIT_COUNTS:
        avec[:] = 0.0
    raise_initial(state, n, avec)
    average_where(state, hyper, n, beta, avec)

    if hyper.solver == PRECONDITIONED:
        sy.precondition(w, n, hyper.w_step, Bv, hyper.eta, v)
    else:
        solve(state, hyper, n, beta, delta, x, gamma, x_next, v)


@jit
def next_weight(state, hyper):
    """The weight of this step's sample in every average; steps are counted if the setting or a solver needs it."""
    if hyper.averages == SAMPLE or hyper.solver != PRECONDITIONED:
        state.t[0] += 1
    return hyper.beta if hyper.averages == EXPONENTIAL else 1.0 / (state.t[0] + 1.0)


@jit
def raise_initial(state, n, avec):
    """c_max <- max(c_max, a_1^2, ..., a_d^2), as if C had started from it."""
    before = state.c_max[0]
    larger = False
    for i in range(n):
        larger |= not (avec[i] * avec[i] <= before)
    if larger:
        c_max = before
        for i in range(n):
            c_max = max(c_max, avec[i] * avec[i])
        if c_max != before:
            state.c_max[0] = c_max
            for i in range(len(state.c)):
                state.C[i, i] += state.c[i] * (c_max - before)


@jit
def average_where(state, hyper, n, beta, avec):
    """C_ij <- (1 - beta) C_ij + beta a_i a_j where the traces of i and j are large; the initial variance decays
    there."""
    keep = state.c.dtype.type(1.0 - beta)
    near = tr.above(state.trace, n, hyper.trace_threshold)
    if hyper.initial_variance == DECAYING:
        for i in near:
            state.c[i] *= keep
    average_block(state.C, near, beta, avec)


@jit
def solve(state, hyper, n, beta, delta, x, gamma, x_next, v):
    """Move w with one of the alternative solvers; v is b - Aw."""
    system = state.system
    if hyper.solver == SHERMAN_MORRISON:
        gain = inv.sherman_morrison(state.inverse, n, beta, state.trace.z, x, gamma, x_next)
        inv.correct(system.w, n, delta, gain)
    elif hyper.solver == FIXED_STEP:
        la.add(system.w, n, hyper.w_step, v)
    elif hyper.solver == CONJUGATE_GRADIENT:
        solvers.conjugate_gradient(system, n, hyper.eta, 0.0, 1e-3, 50)
    elif hyper.solver == PSEUDO_INVERSE:
        sound = pseudo.average(state.inverse, system, n, beta, state.trace.z, x, gamma, x_next)
        pseudo.solve(state.inverse, system, n, sound)
    elif state.t[0] % hyper.solve_every == 0:
        solvers.eliminate(system, n, hyper.eta)
