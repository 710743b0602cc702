"""DGPQ: Delayed Gaussian Process Q-learning, Algorithm DGPQ of the paper's appendix.

Grande, Walsh and How, "Sample Efficient Reinforcement Learning with Gaussian Processes", ICML 2014. The agent acts
greedily on Q-hat, an optimistic value that starts at V_max. Basis vectors (s_i, mu_i) lower it in their neighborhood,
as far as the Lipschitz constant L_Q allows. A Gaussian process for each action, with Q-hat as its prior mean, collects
the samples q_t; once its variance is small and its value clearly lower than Q-hat, that value becomes a basis vector
and all processes restart.

The reward is shifted to r - R_max, so that V_max = 0 is an upper bound: values are those of the shifted reward. The
state is scaled to [0, 1] (features `scaled`). Values can be accurate only if none is steeper than L_Q; where some are
and the discount is 1, Q-hat decreases without limit.

`interval` gives Q-hat, on which the agent acts, and the standard deviation of the process, 1 where it has no data. The
mean of the process would mislead: it is below Q-hat in visited states and equal to it elsewhere, so that its best
action is often one that was not tried. Arrays of basis vectors and points grow as they fill; nothing is dropped.

The pseudocode does not specify the process: the kernel is exp(-d^2 / (2 sigma^2)), samples have the variance `noise`,
and the variance that is tested is that of the function, without this noise.

Deviations from the pseudocode, the first with a setting for the literal version:
- an old basis vector is deleted if the new one makes it redundant, mu_j >= mu + L_Q d(s, s_j); the printed sign deletes
  the ones that are needed and always the new one, so that Q-hat never leaves V_max. Literal: `deletion=printed`.
- where the variance of a process is small already, q_t is not computed, because the pseudocode does not use it there.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.kernels import active as la
from ucls.kernels.arrays import Array, IntVector, Matrix
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import gaussian_process as gps
from ucls.kernels.ranges import Count, Grows
from ucls.settings import NOT_NEGATIVE, OPEN_UNIT, POSITIVE, Choice, Follows, Real

FEATURES = ("scaled", {})
CAPACITY = 64  # of basis vectors and of points of a process, for each action, at first
DOMINATED, PRINTED = range(2)
STREAM = ()  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of DGPQ; the defaults are the middle of the paper's ranges, on a log scale."""

    bandwidth: Annotated[float, POSITIVE, "sigma^2 of the kernel: how far a sample affects other states"] = 0.02
    sigma_tol: Annotated[
        float, OPEN_UNIT, "variance below which a value may become a basis vector; smaller averages more"
    ] = 0.03
    epsilon: Annotated[float, NOT_NEGATIVE, "margin: a value must be lower by twice this to become a basis vector"] = (
        0.03
    )
    lipschitz: Annotated[float, POSITIVE, "L_Q, slope of Q-hat around a basis vector; larger explores more"] = 5.0
    noise: Annotated[float, NOT_NEGATIVE, "variance of the noise that a process expects in q"] = 0.1
    r_max: Annotated[
        float, Real(), Follows("reward_max"), "R_max, the largest reward: the agent learns from r - R_max"
    ] = 0.0
    deletion: Annotated[
        int,
        Choice("dominated", "printed"),
        "which basis vectors a new one deletes; printed, the literal pseudocode, never learns",
    ] = DOMINATED


class Basis(NamedTuple):
    """The basis vectors of Q-hat for each action: their points, their values, and their number."""

    s: Annotated[Array, Grows(1, like="mu")]
    mu: Annotated[Matrix, Grows(1)]
    n: Annotated[IntVector, Count("mu", axis=1)]


class State(NamedTuple):
    """What DGPQ has learned: Q-hat, and the samples of the processes since the last basis vector."""

    basis: Basis
    gp: gps.Processes


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: points, values and samples, and a triangle for each action."""
    return n_actions * (CAPACITY * (2 * n_active + 2) + CAPACITY * (CAPACITY + 1) // 2)


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start with Q-hat = V_max and processes without data, for states of `n_active` numbers."""
    if size != n_active * n_actions:
        raise UserError("dgpq needs the state itself: use the features 'scaled'")
    return State(
        Basis(
            s=np.zeros((n_actions, CAPACITY, n_active), dtype),
            mu=np.zeros((n_actions, CAPACITY), dtype),
            n=np.zeros(n_actions, np.int64),
        ),
        gps.processes(n_actions, n_active, CAPACITY, dtype),
    )


@jit
def full(state):
    """Whether another basis vector or sample might not fit."""
    for a in range(len(state.basis.n)):
        if state.basis.n[a] == state.basis.mu.shape[1] or state.gp.n[a] == state.gp.y.shape[1]:
            return True
    return False


def grow(state: State, hyper: Settings) -> State:
    """Enlarge the arrays: twice as many basis vectors, half as many samples more (L grows with the square)."""
    basis, gp = state
    n_actions, capacity, dim = basis.s.shape
    if basis.n.max() == capacity:
        more = 2 * capacity
        basis = Basis(la.enlarged(basis.s, (n_actions, more, dim)), la.enlarged(basis.mu, (n_actions, more)), basis.n)
    if gp.n.max() == gp.y.shape[1]:
        gp = gps.with_room(gp, gp.y.shape[1] * 3 // 2 + 1)
    return State(basis, gp)


@jit
def start(state, hyper, rng):
    """Begin an episode: nothing to do, there is no trace."""


@jit
def optimistic(state, hyper, a, s):
    """Q-hat(s, a) = min(V_max, min_i mu_i + L_Q d(s, s_i)), with V_max = 0."""
    best = 0.0
    for i in range(state.basis.n[a]):
        mu = state.basis.mu[a, i]
        if mu < best:
            best = min(best, mu + hyper.lipschitz * np.sqrt(gps.square_distance(s, state.basis.s[a, i])))
    return best


@jit
def value(state, hyper, x):
    """Q-hat(s, a), of the shifted reward."""
    return optimistic(state, hyper, x.index[0] % len(state.basis.n), x.value)


@jit
def interval(state, hyper, x, rng):
    """Q-hat(s, a) and the standard deviation of the process."""
    a = x.index[0] % len(state.basis.n)
    v = np.empty(state.gp.n[a], state.gp.L.dtype)
    variance = gps.variance(state.gp, a, hyper.bandwidth, x.value, v, 0.0)
    return optimistic(state, hyper, a, x.value), np.sqrt(max(0.0, variance))


@jit
def upper(state, hyper, x):
    """Q-hat(s, a), which the agent maximizes: its optimism is in the value."""
    return value(state, hyper, x)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The basis vectors, and the inverse factors of the processes, for `ucls.policy`."""
    (s, mu, n), gp = state.basis, state.gp
    most, points = n.max(), gp.n.max()
    inverse = np.zeros((len(n), points, points))
    for a, count in enumerate(gp.n.tolist()):
        L = np.zeros((count, count))
        L[np.tril_indices(count)] = gp.L[a, : count * (count + 1) // 2]
        inverse[a, :count, :count] = np.linalg.inv(L)
    known = np.arange(most) < n[:, None]
    basis = {"basis_s": s[:, :most].copy(), "basis_mu": np.where(known, mu[:, :most], 0.0), "slope": hyper.lipschitz}
    return {**basis, "points": gp.s[:, :points].copy(), "inverse_factor": inverse, "bandwidth": hyper.bandwidth}


def reward_shift(hyper: Settings) -> float:
    """The constant that rewards are lowered by, R_max."""
    return hyper.r_max


@jit
def act(state, hyper, xs, rng):
    """a_t = argmax_a Q-hat(s, a)."""
    Q = np.empty(len(xs.value))
    for a in range(len(Q)):
        Q[a] = value(state, hyper, la.of_action(xs, a))
    return la.argmax(Q, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn from one transition: the body of the loop after s_{t+1} is observed."""
    gp, s = state.gp, xs.value[a]
    v = np.empty(gp.n[a] + 1, gp.L.dtype)
    variance_1 = gps.variance(gp, a, hyper.bandwidth, s, v, hyper.sigma_tol)
    if variance_1 <= hyper.sigma_tol:
        return

    q = r - hyper.r_max
    if gamma > 0.0:
        best = value(state, hyper, la.of_action(xs_next, 0))
        for b in range(1, len(xs_next.value)):
            best = max(best, value(state, hyper, la.of_action(xs_next, b)))
        q += gamma * best
    Q = optimistic(state, hyper, a, s)
    above, variance_2 = gps.add(gp, a, hyper.noise, s, q - Q, v, variance_1)

    if variance_2 <= hyper.sigma_tol and -above > 2.0 * hyper.epsilon:
        add_basis(state.basis, hyper, a, s, Q + above + hyper.epsilon)
        gps.clear(gp)


@jit
def add_basis(basis, hyper, a, s, mu):
    """Add a basis vector, and delete those that it makes redundant."""
    where, values = basis.s[a], basis.mu[a]
    kept = 0
    for j in range(basis.n[a]):
        bound = mu + hyper.lipschitz * np.sqrt(gps.square_distance(s, where[j]))
        if (values[j] < bound) if hyper.deletion == DOMINATED else (values[j] > bound):
            for i in range(len(s)):
                where[kept, i] = where[j, i]
            values[kept] = values[j]
            kept += 1
    if hyper.deletion == DOMINATED:
        for i in range(len(s)):
            where[kept, i] = s[i]
        values[kept] = mu
        kept += 1
    basis.n[a] = kept
