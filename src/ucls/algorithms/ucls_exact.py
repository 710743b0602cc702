"""UCLS-Exact: least-squares TD with an exact bound that includes the prior, and without a step size.

The model of the paper is r = d'w* + nu, where d = x - gamma x'. With A = kappa I + sum z d' and b = sum z r, the
solution w = A^-1 b differs from w* by two terms:

    x'w* = x'w + kappa x'A^-1 w* - x'A^-1 sum z nu.

The last one is noise: its variance is x'Cx with C = A^-1 (sum nu^2 z z') A^-T, and the paper's UCLS bounds only this
one. The other one is the bias of the regularizer, which shrinks as data arrive. If no return exceeds v0, it is at most
v0 (1 - x'h), where h is LSTD with the pseudo-reward 1 - gamma (1 at termination). x'h is the fraction of the value
that data determine, and 1 - x'h the prior's remaining weight: 1 without data, 0 once data determine the value. The
agent maximizes

    upper(x) = x'w + v0 (1 - x'h) + noise_scale sqrt(x'Cx).

Everything has exact recursions of order d^2 (`update`): nothing is forgotten, and nothing has a step size. The matrices
A^-1 and C change by rank one and two and are read in few rows and columns, so changes are applied in batches
(`lazy_matrix`). The trace z is not needed, because A^-1 z follows from the last gain:
gamma lambda A^-1 z_before + A^-1 x.

Deviations from the paper: the regularizer's term, sums instead of averages, A^-1 instead of B. The rest is a matter of
judgment:
- v0 (1 - x'h) is a bound if the features of every state sum to 1 and kappa A^-1 x has no negative entry, as with
  one-hot features and lambda = 0. Otherwise it is a heuristic; 1 - x'h is clipped to [0, 1].
- each nu is estimated by the TD error at the w before its step, so C contains estimation errors besides noise.
- it bounds the values of the mixture of policies that the agent has followed (the fixed point of Sarsa), not q*.
- where 1 + d'A^-1 z falls below `DENOMINATOR`, the transition gets a smaller weight, so that A stays far from singular;
  such transitions are counted (`guarded`).
- nothing is refactored. Rounding errors grow to 3e-11 in a million steps in float64, which is negligible; in float32
  they become as large as the values, and long runs in it get a warning.
- a trace compensates for features that states share. Where none do (one-hot), it only adds noise and returns of earlier
  policies, so `lambda` is 0 there by default. A state there does not learn from its neighbors either, so
  `prior_visits` is 1.75 instead of 1: the prior must outlast a few unlucky visits, which have shown no noise yet.
- `return_max` may be unknown: see `kernels.returns`. Where it is known and a return above it is observed, it is raised.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import ranges
from ucls.kernels.arrays import IntScalar, Scalar, Vector
from ucls.kernels.compilation.jit import jit, woven
from ucls.kernels.linear_algebra import lazy_matrix as lz
from ucls.kernels.planning import returns as rt
from ucls.settings import NOT_NEGATIVE, POSITIVE, UNIT, Follows, Known

DENOMINATOR = 0.1
SINGLE_STEPS = (
    300_000  # A^-1 A is off I by 1e-3 after 100,000 steps in float32, by 0.3 after a million; 3e-11 in float64
)
STREAM = (
    "Az",
    "gamma",
    "returns.steps",
    "returns.rewards",
    "returns.discounts",
    "returns.count",
)  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of UCLS-Exact."""

    return_max: Annotated[
        float,
        Known(),
        Follows("return_max", otherwise="unknown"),
        "v0, the maximum possible return; unknown: estimated from the rewards seen",
    ] = np.nan
    prior_visits: Annotated[
        float,
        POSITIVE,
        Follows("prior_visits", otherwise=1.0),
        "number of visits that the prior is worth; 1.75 by default where no two states share a feature, otherwise 1",
    ] = 1.0
    noise_scale: Annotated[float, NOT_NEGATIVE, "weight of the noise term, in standard deviations; 0 leaves it out"] = (
        0.3
    )
    prior_scale: Annotated[float, NOT_NEGATIVE, "weight of the prior term; 1 gives the bound, 0 leaves it out"] = 1.0
    lambda_: Annotated[
        float,
        UNIT,
        Follows("trace_decay", otherwise=0.4),
        "decay of the eligibility trace; 0 by default where no two states share a feature, otherwise 0.4",
    ] = 0.4


class State(NamedTuple):
    """What was learned: A^-1, C, w and h; A^-1 z of the last step, with its discount; the rewards seen so far; kappa
    (0: not known yet); the size of the leading block; the numbers of transitions, and of those with a smaller
    weight."""

    inverse: lz.Lazy
    C: lz.Lazy
    w: Vector
    h: Vector
    Az: Vector
    gamma: Scalar
    returns: rt.Returns
    kappa: Annotated[Scalar, ranges.NOT_NEGATIVE]
    seen: Annotated[IntScalar, ranges.Count("features")]
    t: Annotated[IntScalar, ranges.COUNT]
    guarded: Annotated[IntScalar, ranges.COUNT]


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: A^-1, C unless there is no noise term, pending changes of both, and
    rewards."""
    return (2 if hyper.noise_scale > 0 else 1) * lz.room(size) + 3 * size + 2 * rt.ROOM


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from w = h = 0 and C = 0; A = kappa I follows when the size of the features is known."""
    return State(
        inverse=lz.lazy(size, dtype),
        C=lz.lazy(size if hyper.noise_scale > 0 else 0, dtype),
        w=np.zeros(size, dtype),
        h=np.zeros(size, dtype),
        Az=np.zeros(size, dtype),
        gamma=np.zeros(1),
        returns=rt.returns(),
        kappa=np.zeros(1),
        seen=np.zeros(1, np.int64),
        t=np.zeros(1, np.int64),
        guarded=np.zeros(1, np.int64),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    state.gamma[0] = 0.0
    rt.begin(state.returns)


@jit
def optimistic_return(state, hyper):
    """v0, given or estimated, and no less than the largest observed return; times `prior_scale`."""
    v0 = rt.guess(state.returns, rt.MORE) if np.isnan(hyper.return_max) else hyper.return_max
    return hyper.prior_scale * max(v0, state.returns.attained[0])


def estimated_return_max(state: State, hyper: Settings) -> float | None:
    """v0 as estimated from the rewards seen; None if it was given, or if every reward was 0."""
    if not np.isnan(hyper.return_max) or not state.returns.varied[0]:
        return None
    guess = getattr(rt.guess, "py_func", rt.guess)  # not worth compiling
    return float(max(guess(state.returns, rt.MORE), state.returns.attained[0]))


def notices(state: State, hyper: Settings) -> list[str]:
    """Warn that a return exceeded return_max, or that single precision has been used for too long."""
    notes = []
    if state.returns.attained[0] > hyper.return_max:
        notes.append(f"return_max={hyper.return_max:g} is too low: a higher return was observed, and raises it")
    if state.w.dtype == np.float32 and state.t[0] > SINGLE_STEPS:
        notes.append(f"float32 loses its digits after {SINGLE_STEPS:,} steps of ucls-exact: take dtype float64")
    return notes


@jit
def value(state, hyper, x):
    """The estimated action value x'w; the unknown part counts as v0 if that is negative, otherwise as 0."""
    return la.dot(x, state.w) + min(0.0, optimistic_return(state, hyper)) * prior_fraction(state, x)


@jit
def radius_terms(state, hyper, x):
    """The prior term and the noise term of the radius."""
    return max(0.0, optimistic_return(state, hyper)) * prior_fraction(state, x), noise(state, hyper, x)


@jit
def prior_fraction(state, x):
    """1 - x'h, the prior's remaining weight in this value: 1 without data, 0 once data determine it."""
    return _prior_fraction(state.h, x)


@jit
def _prior_fraction(h, x):
    return min(1.0, max(0.0, 1.0 - la.dot(x, h)))


@jit
def noise(state, hyper, x):
    """noise_scale sqrt(x'Cx)."""
    return _noise(state.C, hyper.noise_scale, x)


@jit
def _noise(C, noise_scale, x):
    if noise_scale == 0.0:
        return 0.0
    return noise_scale * np.sqrt(max(0.0, lz.form(C, x)))


@jit
def interval(state, hyper, x, rng):
    """The estimated action value and the radius of its bound."""
    prior, spread = radius_terms(state, hyper, x)
    return value(state, hyper, x), prior + spread


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The action values and their bounds, for `ucls.policy`."""
    v0 = float(optimistic_return(state, hyper))
    form = {"w": state.w, "h": state.h, "prior_mean": min(0.0, v0), "prior_radius": max(0.0, v0)}
    if hyper.noise_scale == 0.0:
        return form
    M, left, right, count = state.C
    return {**form, "C": M - left[: count[0]].T @ right[: count[0]], "scale": hyper.noise_scale}


@jit
def act(state, hyper, xs, rng):
    """The action with the largest upper bound."""
    v0 = optimistic_return(state, hyper)
    w, h, C, noise_scale = state.w, state.h, state.C, hyper.noise_scale  # once: to hand on a whole state takes time
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        x = la.of_action(xs, a)
        upper[a] = la.dot(x, w) + v0 * _prior_fraction(h, x) + _noise(C, noise_scale, x)
    return la.argmax(upper, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition."""
    w, h, Az = state.w, state.h, state.Az
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(state.seen, x), la.see(state.seen, x_next))
    if state.kappa[0] == 0.0:
        set_prior(state, hyper, x)
    rt.observe(state.returns, r, gamma)

    dA = lz.times_rows(state.inverse, n, x, gamma, x_next)  # d'A^-1
    Ax = lz.times_columns(state.inverse, n, x)
    keep = Az.dtype.type(state.gamma[0] * hyper.lambda_)
    for i in range(n):
        Az[i] = keep * Az[i] + Ax[i]
    dAz = la.dot(x, Az) - gamma * la.dot(x_next, Az)
    weight = 1.0
    if 1.0 + dAz < DENOMINATOR:
        weight = (1.0 - DENOMINATOR) / -dAz
        state.guarded[0] += 1
    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    surprise = (1.0 - gamma) + gamma * la.dot(x_next, h) - la.dot(x, h)

    shrink = Az.dtype.type(1.0 / (1.0 + weight * dAz))
    for i in range(n):
        Az[i] *= shrink  # A^-1 z with the new A
    g = Ax  # its room serves again
    c = Az.dtype.type(weight)
    for i in range(n):
        g[i] = c * Az[i]
    la.add(w, n, delta, g)
    la.add(h, n, surprise, g)
    if hyper.noise_scale > 0.0:
        spread(state.C, n, g, delta, x, gamma, x_next)
    lz.subtract_outer(state.inverse, n, g, dA)
    state.gamma[0] = gamma
    state.t[0] += 1


@jit
def carry(state, hyper, x, gamma, x_next, Az):
    """Update A^-1 z of another stream of experience after a step: A^-1 has changed by -g d'A^-1."""
    if hyper.lambda_ == 0.0:
        return
    dAz = la.dot(x, state.Az) - gamma * la.dot(x_next, state.Az)
    guarded = dAz < 1.0 - 1.0 / DENOMINATOR  # by what `update` has made of it
    weight = (1.0 - DENOMINATOR) / (-DENOMINATOR * dAz) if guarded else 1.0
    la.add(Az, state.seen[0], -weight * (la.dot(x, Az) - gamma * la.dot(x_next, Az)), state.Az)


@woven
@jit
def spread(C, n, g, delta, x, gamma, x_next):
    """C <- (I - g d') C (I - g d')' + delta^2 g g' = C - g q' - q g', q = C d - (d'C d + delta^2) g / 2."""
    q = lz.times_rows(C, n, x, gamma, x_next)  # C is symmetric
    dCd = la.dot(x, q) - gamma * la.dot(x_next, q)
    la.add(q, n, -0.5 * (dCd + delta * delta), g)
    lz.subtract_outer(C, n, g, q)
    lz.subtract_outer(C, n, q, g)


@jit
def set_prior(state, hyper, x):
    """A = kappa I, where kappa is `prior_visits` times the squared norm of the first features."""
    size = la.square(x)
    state.kappa[0] = hyper.prior_visits * (size if size > 0.0 else 1.0)
    M = state.inverse.M
    for i in range(len(M)):
        M[i, i] = M.dtype.type(1.0 / state.kappa[0])
