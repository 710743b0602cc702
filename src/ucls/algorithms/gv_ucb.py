"""GV-UCB(lambda): one global variance for all contexts, GetOptimisticActionGlobal and GV-UCB of the appendix.

The variant of UCLS that follows from Corollary 1: the noise nu of the TD error is assumed to be independent with the
same variance sigma^2 everywhere, so that the agent maximizes x'w + sigma sqrt((1 + 1/p) x'Cx). sigma^2 is the average
of nu^2 minus the squared average of nu, both for the current weights: they are computed from averages of r, r^2,
d = x - gamma x', r d and D = d d', which do not depend on w. C is averaged as in UCLS, with a = B'z_bar. As in UCLS,
with features of 1/n B stays within a hundredth of I, so that a is z_bar rather than A^-1 z_bar (`ucls diagnose`): runs
with the defaults do not show whether the covariance of Corollary 1 is right, in either interpretation.

What is C? With averages of weights k_t, w - w* = A^-1 sum_t k_t z_t nu_t, so the covariance of w is sigma^2 A^-1 S
A^-T, where S = sum_t k_t^2 z_t z_t'. Corollary 1 has z_bar z_bar' instead of S, as if all noises were the same: with
one-hot features A^-1 z_bar is (1, ..., 1), so the variance of any single value is always sigma^2, and that of the
difference of two values is 0. `global_cov=corrected` averages z_bar <- (1 - beta) z_bar + beta e z with random signs
e = +1 or -1; nothing else changes. Then E[z_bar z_bar'] = S exactly, because a random sign is noise of variance 1. The
number of samples is accounted for: the weights k_t = beta (1 - beta)^(T - t) have sum_t k_t^2 = beta (1 - (1 -
beta)^2T) / (2 - beta). At first that is T beta^2, where A is T beta times its mean, so the covariance falls as 1/T; in
the long run it is beta / (2 - beta), the 1/T of an average of about 2/beta samples.

Deviations from the pseudocode, each with a setting for the literal version:
- C_ij is averaged where |z_i| and |z_j| exceed `trace_threshold` (default beta), not where they differ from 0. Literal:
  `trace_threshold=0`.
- the trace decays by the discount of the previous transition. Literal: `trace_discount=current`.
- w moves by (B' + eta I)(b - Aw), not (B + eta I)(b - Aw), because B is an estimate of A^-T. Literal:
  `preconditioner=printed`.
- x'Cx and sigma^2 are clipped at 0 from below: a partial average can lose positive semi-definiteness, and a difference
  of averages can be rounded below 0.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import Matrix, Scalar, Vector, diagonal
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import averages, preconditioner
from ucls.kernels.linear_algebra import system as sy
from ucls.kernels.linear_algebra import traces as tr
from ucls.kernels.linear_algebra.products import inner, times, transposed_times_both
from ucls.settings import NOT_NEGATIVE, OPEN_UNIT, POSITIVE, UNIT, Choice, Follows

AS_PRINTED, CORRECTED = range(2)
TRANSPOSED, PRINTED = range(2)
STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of GV-UCB; the defaults are the pseudocode's."""

    p: Annotated[
        float, POSITIVE, "failure probability: a bound holds with probability 1 - p; smaller explores more"
    ] = 0.01
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    beta: Annotated[float, OPEN_UNIT, "weight of the newest sample in every average"] = 0.001
    eta: Annotated[float, NOT_NEGATIVE, "regularizer of the preconditioner B' + eta I"] = 1e-4
    r2_init: Annotated[float, NOT_NEGATIVE, "initial average of the squared reward; larger explores more"] = 100.0
    b_step: Annotated[float, POSITIVE, "numerator of alpha, the step size of B"] = 0.01
    w_step: Annotated[float, POSITIVE, "step size of w"] = 1.0
    global_cov: Annotated[
        int, Choice("printed", "corrected"), "C as in Corollary 1, or the covariance that its assumption implies"
    ] = AS_PRINTED
    trace_threshold: Annotated[
        float, NOT_NEGATIVE, Follows("beta"), "C is averaged where |z| exceeds this; 0 is the literal pseudocode"
    ] = 0.001
    trace_discount: Annotated[
        tr.Discount, "which transition's discount decays the trace; current is the literal pseudocode"
    ] = tr.PREVIOUS
    preconditioner: Annotated[
        int, Choice("transposed", "printed"), "w moves by B' + eta I, or by B + eta I as in the literal pseudocode"
    ] = TRANSPOSED


class Noise(NamedTuple):
    """Averages that give the mean and the mean square of nu = r - d'w for any w."""

    r: Scalar
    r2: Scalar
    d: Vector
    dr: Vector
    D: averages.SecondMoment


class State(NamedTuple):
    """What GV-UCB has learned."""

    system: sy.System
    trace: tr.Trace
    zbar: Vector
    C: Matrix
    noise: Noise
    sigma: Scalar
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: A, B, C and D."""
    return 4 * size**2 + 8 * size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from A = 0, B = I, C = I, sigma = 1, with `size` features."""
    D = averages.second_moment(size, dtype)
    noise = Noise(np.zeros(1), np.full(1, hyper.r2_init), np.zeros(size, dtype), np.zeros(size, dtype), D)
    return State(
        system=sy.system(size, dtype),
        trace=tr.trace(size, dtype),
        zbar=np.zeros(size, dtype),
        C=diagonal(size, 1.0, dtype),
        noise=noise,
        sigma=np.ones(1),
        gamma=np.zeros(1),
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
    return bound(state.system.w, state.C, state.sigma, hyper.p, x)


@jit
def bound(w, C, sigma, p, x):
    """x'w and sigma sqrt((1 + 1/p) x'Cx)."""
    return la.dot(x, w), sigma[0] * np.sqrt((1.0 + 1.0 / p) * max(0.0, la.quadratic(C, x)))


def internals(state: State, hyper: Settings) -> dict[str, float]:
    """The relative distance of B from I, the correlation of a = B'z_bar with A^-1 z_bar, and sigma."""
    return {
        "|B - I| / |I|": preconditioner.moved(state.system),
        "corr(a, A^-1 z_bar)": preconditioner.agreement(state.system, state.zbar),
        "sigma": float(state.sigma[0]),
    }


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values and their bounds, for `ucls.policy`."""
    return {"w": state.system.w, "C": state.C, "scale": float(state.sigma[0]) * (1.0 + 1.0 / hyper.p) ** 0.5}


@jit
def act(state, hyper, xs, rng):
    """GetOptimisticActionGlobal."""
    w, C, sigma, p = state.system.w, state.C, state.sigma, hyper.p
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        mean, radius = bound(w, C, sigma, p, la.of_action(xs, a))
        upper[a] = mean + radius
    return la.argmax(upper, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the pseudocode after a' is chosen."""
    system, z, w, beta = state.system, state.trace.z, state.system.w, hyper.beta
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(system.seen, x), la.see(system.seen, x_next))

    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_and_add(state.trace, n, decay, x)
    la.average(system.b, n, beta, r, z)
    sy.average_outer(system, n, beta, z, x, gamma, x_next)

    # one pass over A and one over B give what C, B and w need, with B and w as they are before this step
    g, v = sy.gradient_and_residual(system, n, x)
    sign = -1.0 if hyper.global_cov == CORRECTED and rng.random() < 0.5 else 1.0
    la.average(state.zbar, n, beta, sign, z)
    avec, Bv = transposed_times_both(system.Bt, n, state.zbar, v)
    averages.average_block(state.C, tr.above(state.trace, n, hyper.trace_threshold), beta, avec)

    average_noise(state.noise, n, beta, r, x, gamma, x_next)
    state.sigma[0] = np.sqrt(variance(state.noise, n, w))

    alpha = min(1.0, hyper.b_step / (system.norm2[0] * la.square(x) + 1.0))
    sy.subtract_outer(system.Bt, n, alpha, g, x)
    if hyper.preconditioner == TRANSPOSED:
        # (B - alpha g x')'v = B'v - alpha (g'v) x
        step = alpha * inner(g, v, n)
        for i in range(len(x.index)):
            Bv[x.index[i]] -= Bv.dtype.type(step * x.value[i])
    else:
        Bv = times(system.Bt, n, v)
    sy.precondition(w, n, hyper.w_step, Bv, hyper.eta, v)


@jit
def average_noise(noise, n, beta, r, x, gamma, x_next):
    """Average r, r^2, d, r d and d d', where d = x - gamma x'."""
    d = averages.difference(n, x, gamma, x_next, noise.d)
    noise.r[0] = (1.0 - beta) * noise.r[0] + beta * r
    noise.r2[0] = (1.0 - beta) * noise.r2[0] + beta * r * r
    la.average(noise.d, n, beta, 1.0, d)
    la.average(noise.dr, n, beta, r, d)
    averages.average_second_moment(noise.D, n, beta, d, x, x_next)


@jit
def variance(noise, n, w):
    """sigma^2: the average of nu^2 minus the squared average of nu."""
    nu = noise.r[0] - inner(noise.d, w, n)
    nu2 = noise.r2[0] - 2.0 * inner(noise.dr, w, n) + averages.second_moment_form(noise.D, n, w)
    return max(0.0, nu2 - nu * nu)
