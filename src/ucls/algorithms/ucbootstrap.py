"""UCBootstrap: bootstrapped upper bounds over a window of recent weights, the paper's pseudocode of that name.

White and White, "Interval Estimation for Reinforcement-Learning Algorithms in Continuous-State Domains", 2010, in its
global form. A base learner, Sarsa(lambda) or LSTD(lambda), stores its w in a circular window after every step. For
each action, the values Q_N = w'x of the window's weights are resampled in blocks of consecutive ones; T* are the means
of the resamples, and the bound is u = 2 mean(Q_N) - T*_{alpha/2}, with the alpha/2 quantile of T*.

Notation follows the pseudocode: l is the length of a block, M the number of blocks in a resample, B the number of
resamples.

Deviations, where the pseudocode says nothing:
- while the window fills, only its filled part is used, and l is at most its length; while it is empty all bounds are
  equal, and the action is random.
- order statistics are numbered from 1, which makes the quantile Hyndman and Fan's eighth; beyond either end it is the
  smallest or the largest.
- every action draws its own blocks. Means of blocks are differences of running sums of Q_N - mean(Q_N).
- Sarsa's step size is divided by |x|^2, so that it is the fraction of the error in Q(s,a) that one step without trace
  removes. Plain: `normalize_step=false`.
- the trace decays by the discount of the previous transition, and starts from 0 in each episode, as in UCLS.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import IntScalar, Matrix, Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import sherman_morrison as inv
from ucls.kernels.linear_algebra import traces as tr
from ucls.kernels.ranges import COUNT
from ucls.settings import OPEN_UNIT, POSITIVE, UNIT, Choice, Flag, Real, Whole

SARSA, LSTD = range(2)
STREAM = ("trace", "gamma")  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of UCBootstrap and of its base learner; the defaults are the pseudocode's examples."""

    window: Annotated[int, Whole(1, 10**6), "number of recent weights that are stored"] = 100
    block: Annotated[int, Whole(1), "length of a block, l"] = 10
    resamples: Annotated[int, Whole(1, 10**6), "number of bootstrap resamples, B"] = 50
    alpha: Annotated[float, OPEN_UNIT, "failure probability; smaller explores more"] = 0.05
    base: Annotated[int, Choice("sarsa", "lstd"), "the learner whose weights are stored"] = SARSA
    lambda_: Annotated[float, UNIT, "decay of the eligibility trace"] = 0.9
    step_size: Annotated[float, POSITIVE, "step size of Sarsa"] = 0.1
    normalize_step: Annotated[int, Flag(), "divide it by |x|^2, so that it is a fraction of the error"] = 1
    beta: Annotated[float, Real(at_least=0, below=1), "weight of LSTD's newest sample; 0 is 1/(t+1)"] = 0.0
    eta: Annotated[float, POSITIVE, "initial regularizer of LSTD"] = 1e-4
    trace_discount: Annotated[tr.Discount, "which transition's discount decays the trace"] = tr.PREVIOUS


class State(NamedTuple):
    """What the base learner has learned, and its recent weights: `recent[i, k]` is w_i in slot k of the window."""

    w: Vector
    trace: tr.LiveTrace
    inverse: inv.Inverse
    recent: Matrix
    stored: Annotated[IntScalar, COUNT]
    gamma: Scalar


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: the window of weights, the inverse of LSTD, and the resamples of a step."""
    return size * (hyper.window + 4) + (size**2 if hyper.base == LSTD else 0) + hyper.resamples


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from w = 0 and an empty window; only LSTD needs an inverse."""
    return State(
        w=np.zeros(size, dtype),
        trace=tr.live_trace(size, dtype),
        inverse=inv.inverse(size if hyper.base == LSTD else 0, hyper.eta, dtype),
        recent=np.zeros((size, hyper.window), dtype),
        stored=np.zeros(1, np.int64),
        gamma=np.zeros(1),
    )


@jit
def start(state, hyper, rng):
    """Begin an episode: the trace restarts from 0."""
    tr.restart(state.gamma, hyper.trace_discount)


@jit
def value(state, hyper, x):
    """The base learner's action value x'w."""
    return la.dot(x, state.w)


@jit
def interval(state, hyper, x, rng):
    """The mean of the window's action values and how far the bound lies above it."""
    mean, low = bootstrap(state, hyper, x, rng)
    return mean, max(0.0, -low)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The mean of the window's action values, for `ucls.policy`; bounds are random."""
    n = min(int(state.stored[0]), hyper.window)
    return {"w": state.recent[:, :n].mean(axis=1) if n else state.w, "random": True}


@jit
def act(state, hyper, xs, rng):
    """UCBootstrap: the action with the largest u."""
    upper = np.empty(len(xs.index))
    for a in range(len(upper)):
        mean, low = bootstrap(state, hyper, la.of_action(xs, a), rng)
        upper[a] = mean - low
    return la.argmax(upper, rng)


@jit
def bootstrap(state, hyper, x, rng):
    """The mean of Q_N, and T*_{alpha/2} minus that mean."""
    n = min(state.stored[0], hyper.window)
    if n == 0:
        return 0.0, 0.0
    Q = recent_values(state, n, x)
    mean = np.mean(Q)
    sums = np.zeros(n + 1)
    for k in range(n):
        sums[k + 1] = sums[k] + (Q[k] - mean)
    l = min(hyper.block, n)
    M, n_blocks = n // l, n - l + 1
    T = np.zeros(hyper.resamples)
    for i in range(len(T)):
        for _ in range(M):
            k = int(rng.random() * n_blocks)
            T[i] += sums[k + l] - sums[k]
        T[i] /= l * M
    T.sort()
    return mean, quantile(T, hyper.alpha / 2.0)


@jit
def recent_values(state, n, x):
    """Q_N: the values w'x of the n weights in the window, the oldest first."""
    by_slot = np.zeros(n)
    for i in range(len(x.index)):
        row = state.recent[x.index[i]]
        for k in range(n):
            by_slot[k] += x.value[i] * row[k]
    oldest = state.stored[0] % n  # 0 until the window is full
    Q = np.empty(n)
    for k in range(n):
        Q[k] = by_slot[(oldest + k) % n]
    return Q


@jit
def quantile(T, p):
    """The p quantile of sorted samples, (1 - r) T_j + r T_{j+1} with j + r = B p + (p + 1)/3, counted from 1."""
    B = len(T)
    position = min(max(B * p + (p + 1.0) / 3.0, 1.0), float(B))
    j = int(np.floor(position))
    r = position - j
    return (1.0 - r) * T[j - 1] + r * T[min(j, B - 1)]


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Let the base learner learn from one transition, and add its w to the window."""
    trace, w, seen = state.trace, state.w, state.inverse.seen
    x, x_next = la.of_action(xs, a), la.of_action(xs_next, a_next)
    n = max(la.see(seen, x), la.see(seen, x_next))

    delta = r + gamma * la.dot(x_next, w) - la.dot(x, w)
    decay = tr.discount(state.gamma, hyper.trace_discount, gamma) * hyper.lambda_
    tr.decay_live(trace, decay, x)
    if hyper.base == SARSA:
        step = hyper.step_size / la.square(x) if hyper.normalize_step else hyper.step_size
        tr.add_live(w, step * delta, trace)
    else:
        beta = inv.next_weight(state.inverse, hyper.beta)
        inv.correct(w, n, delta, inv.sherman_morrison(state.inverse, n, beta, trace.z, x, gamma, x_next))

    slot = state.stored[0] % hyper.window
    for i in range(n):
        state.recent[i, slot] = w[i]
    state.stored[0] += 1
