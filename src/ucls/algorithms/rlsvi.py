"""RLSVI: randomized least-squares value iteration, the stationary variant.

Osband, Van Roy and Wen, "Generalization and Exploration via Randomized Value Functions", ICML 2016. From time to time
the agent regresses on all transitions so far, with targets y = r + gamma max_a x(s',a)'theta from the parameters theta
that it has been acting on, and samples new ones from the posterior, theta ~ N(mean, Lambda^-1) with

    Lambda = X'X / sigma^2 + prior_precision I    and    mean = Lambda^-1 X'y / sigma^2.

Until the next sample it acts greedily on theta. Uncertain values vary between samples, so uncertain actions are tried.

No transition is forgotten, and none is processed twice. X'X and X'r are sums. The rest of X'y needs only the sum of the
discounts for every two distinct states and an action that led from one to the other: features are constant within a
tile, so there are few of these even in a long run (`cells` are the states, `moves` the transitions between them). If
every state is new, memory grows with the run, by at most 32 |A| k + 32 bytes per state with k active features and 80
per move, including spare capacity. X'X and its factor have as many entries as the number of features squared.

`value` is x'mean and `interval` the mean and standard deviation of x'theta, both as of the last sample. Sums and the
factor of Lambda are float64 for every dtype: a sum in float32 stops growing.

Deviations: the paper has no pseudocode for it. It resamples at the start of every episode in Puddle World and Sparse
Mountain Car, and every 5000 steps in River Swim, which has one episode. Here both apply everywhere, so theta is also
resampled within episodes of more than 5000 steps; `resample_every=0` resamples only at the start of episodes.
`n_backups` repeats regression and sample. Osband's variant without episodes samples often and correlates the samples:
with `correlation` c, theta is mean + L^-T xi, where xi is c times the last xi plus sqrt(1 - c^2) times new noise. The
paper does not say whether it did; with 0, the default, samples are independent.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.arrays import IntScalar, Matrix, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import strided_cholesky as cholesky
from ucls.kernels.planning.lsvi import as_row, stored
from ucls.kernels.ranges import COUNT, MADE, Count, Grows
from ucls.kernels.row_table import Table, longer, number, table
from ucls.settings import POSITIVE, Real, Whole

CELLS, MOVES = 1024, 4096  # room to begin with
STREAM = ()  # fields of State that belong to one stream of experience


class Settings(NamedTuple):
    """The settings of RLSVI."""

    prior_precision: Annotated[
        float, POSITIVE, "of theta ~ N(0, I / prior_precision) before any data; smaller explores more"
    ] = 1.0
    sigma: Annotated[float, POSITIVE, "standard deviation of a target, given theta"] = 1.0
    resample_every: Annotated[
        int, Whole(), "steps after which theta is sampled again within an episode; 0 for never"
    ] = 5000
    n_backups: Annotated[int, Whole(1, 1000), "regressions, each followed by a sample, whenever theta is sampled"] = 1
    correlation: Annotated[
        float, Real(at_least=0, below=1), "of the noise of a sample with that of the last; 0 draws afresh"
    ] = 0.0


class State(NamedTuple):
    """What RLSVI has learned: theta, its posterior (L is Lambda's Cholesky factor), and the data as sums.

    `gammas[i]` is the sum of the discounts of the transitions of `moves.rows[i]`, (cell |A| + a, next cell). `stride`
    is |A| as long as no two actions share a feature, so that Lambda is |A| systems, and else 1.
    """

    theta: Vector
    mean: Vector
    L: Matrix
    XX: Matrix
    Xr: Vector
    cells: Table
    moves: Table
    gammas: Annotated[Vector, Grows(like="moves.rows")]
    seen: Annotated[IntScalar, Count("features")]
    n_actions: Annotated[IntScalar, MADE]
    stride: Annotated[IntScalar, Count("actions")]
    since: Annotated[IntScalar, COUNT]

    def fault(self) -> str:
        """Return what is inconsistent: cells must hold features, moves lead from cells to cells, and L be
        invertible."""
        n_cells, n_actions = self.cells.count[0], self.n_actions[0]
        rows, moves = self.cells.rows[:n_cells], self.moves.rows[: self.moves.count[0]]
        index, value = rows[:, : rows.shape[1] // 2], rows[:, rows.shape[1] // 2 :]
        if self.stride[0] not in (1, n_actions):
            return "the stride does not fit"
        if ((index < 0) | (index >= len(self.theta))).any() or not np.isfinite(value.copy().view(np.float64)).all():
            return "a cell holds what is no feature"
        if (moves < 0).any() or (moves >= np.array([n_cells * n_actions, n_cells])).any():
            return "a move leads where no cell is"
        return "" if (np.diag(self.L) > 0).all() else "the factor of the precision is none"


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Array elements that `init` allocates: L, X'X and the tables."""
    return 2 * size**2 + 3 * size + CELLS * (2 * n_actions * n_active + 4) + 7 * MOVES


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from the prior, without data."""
    return State(
        theta=np.zeros(size, dtype),
        mean=np.zeros(size, dtype),
        L=np.sqrt(hyper.prior_precision) * np.eye(size),
        XX=np.zeros((size, size)),
        Xr=np.zeros(size),
        cells=table(CELLS, 2 * n_actions * n_active),
        moves=table(MOVES, 2),
        gammas=np.zeros(MOVES),
        seen=np.zeros(1, np.int64),
        n_actions=np.array([n_actions]),
        stride=np.array([n_actions]),
        since=np.zeros(1, np.int64),
    )


@jit
def full(state):
    """Whether another transition might not fit."""
    return state.cells.count[0] + 2 > len(state.cells.rows) or state.moves.count[0] + 1 > len(state.moves.rows)


def grow(state: State, hyper: Settings) -> State:
    """Double what is full."""
    if state.cells.count[0] + 2 > len(state.cells.rows):
        state = state._replace(cells=longer(state.cells))
    if state.moves.count[0] + 1 > len(state.moves.rows):
        more = np.concatenate([state.gammas, np.zeros(len(state.gammas))])
        state = state._replace(moves=longer(state.moves), gammas=more)
    return state


@jit
def start(state, hyper, rng):
    """Begin an episode: sample theta."""
    sample(state, hyper, rng)


@jit
def value(state, hyper, x):
    """The posterior mean of the action value, x'mean."""
    return la.dot(x, state.mean)


@jit
def interval(state, hyper, x, rng):
    """The posterior mean of the action value and its standard deviation, sqrt(x' Lambda^-1 x)."""
    stride, first, last = common_stride(x, state.stride[0]), np.min(x.index), np.max(x.index)
    y = np.zeros(max(state.seen[0], last + 1))
    for i in range(len(x.index)):
        y[x.index[i]] += x.value[i]
    cholesky.forward(state.L, len(y), first, stride, y)
    return la.dot(x, state.mean), np.sqrt(np.sum(y * y))


@jit
def upper(state, hyper, x):
    """The action value of theta, the sample on which the agent acts."""
    return la.dot(x, state.theta)


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The posterior and the sample on which the agent acts, for `ucls.policy`."""
    root = np.linalg.inv(np.tril(state.L))
    return {"w": state.mean, "C": root.T @ root, "theta": state.theta}


@jit
def act(state, hyper, xs, rng):
    """The greedy action of theta."""
    values = np.empty(len(xs.index))
    for a in range(len(values)):
        values[a] = la.dot(la.of_action(xs, a), state.theta)
    return la.argmax(values, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Add a transition to the data."""
    x = la.of_action(xs, a)
    la.see(state.seen, x)
    state.stride[0] = common_stride(x, state.stride[0])
    for i in range(len(x.index)):
        state.Xr[x.index[i]] += r * x.value[i]
        for j in range(len(x.index)):
            if x.index[j] <= x.index[i]:
                state.XX[x.index[i], x.index[j]] += x.value[i] * x.value[j]
    if gamma > 0.0:
        cell, cell_next = number(state.cells, as_row(xs)), number(state.cells, as_row(xs_next))
        move = number(state.moves, np.array([cell * len(xs.index) + a, cell_next]))
        state.gammas[move] += gamma
    state.since[0] += 1
    if state.since[0] == hyper.resample_every:
        sample(state, hyper, rng)


@jit
def sample(state, hyper, rng):
    """Regress on all data with targets from the last theta, and sample the next; repeat this `n_backups` times."""
    n, stride, precision = state.seen[0], state.stride[0], 1.0 / hyper.sigma**2
    xi = last_noise(state, hyper.correlation)
    for first in range(stride):
        cholesky.factor(state.XX, n, first, stride, precision, hyper.prior_precision, state.L)
    for _ in range(hyper.n_backups):
        mean, noise = regressand(state), np.empty(len(state.theta))
        for i in range(len(noise)):
            mean[i] *= precision
            noise[i] = rng.standard_normal()
        if hyper.correlation > 0.0:
            xi = kept_noise(hyper.correlation, xi, noise)
        for i in range(n, len(noise)):
            noise[i] /= state.L[i, i]
        for first in range(stride):
            cholesky.forward(state.L, n, first, stride, mean)
            cholesky.backward(state.L, n, first, stride, mean)
            cholesky.backward(state.L, n, first, stride, noise)
        for i in range(len(noise)):
            state.mean[i] = mean[i]
            state.theta[i] = mean[i] + noise[i]
    state.since[0] = 0


@jit
def last_noise(state, correlation):
    """xi = L'(theta - mean), the noise of the last sample; empty if samples are not correlated."""
    xi = np.zeros(len(state.theta) if correlation > 0.0 else 0)
    for i in range(len(xi)):
        for j in range(i + 1):
            xi[j] += state.L[i, j] * (state.theta[i] - state.mean[i])
    return xi


@jit
def kept_noise(correlation, xi, noise):
    """Mix fresh noise with that of the last sample, if there was one, in place, and store it for the next."""
    if np.any(xi != 0.0):
        fresh = np.sqrt(1.0 - correlation**2)
        for i in range(len(noise)):
            noise[i] = correlation * xi[i] + fresh * noise[i]
    return noise.copy()


@jit
def regressand(state):
    """X'y, with y = r + gamma max_a x(s',a)'theta."""
    n_cells, n_actions = state.cells.count[0], state.n_actions[0]
    best = np.empty(n_cells)
    for cell in range(n_cells):
        best[cell] = la.dot(stored(state, cell, 0), state.theta)
        for a in range(1, n_actions):
            best[cell] = max(best[cell], la.dot(stored(state, cell, a), state.theta))
    future = np.zeros(n_cells * n_actions)  # the sum of gamma max_a x(s',a)'theta, for every cell and action
    for i in range(state.moves.count[0]):
        future[state.moves.rows[i, 0]] += state.gammas[i] * best[state.moves.rows[i, 1]]
    Xy = state.Xr.copy()
    for i in range(len(future)):
        if future[i] != 0.0:
            x = stored(state, i // n_actions, i % n_actions)
            for j in range(len(x.index)):
                Xy[x.index[j]] += future[i] * x.value[j]
    return Xy


@jit
def common_stride(x, stride):
    """`stride` if the distances of all features x are multiples of it, else 1."""
    for i in range(len(x.index)):
        if (x.index[i] - x.index[0]) % stride != 0:
            return 1
    return stride
