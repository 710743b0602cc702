"""Passes over a log: the sums that LSTD and the estimators of its variance are made of.

With d_t = x_t - gamma_{t+1} x_{t+1} and the trace z_t = rho_t y_t, y_t = decay_t lambda y_{t-1} + x_t, each pass costs
O(k m) a transition, where k features are active and m traces are live: none builds an outer product of two traces. A
weighted sum of those is instead unrolled into outer products with x,

    sum_t q_t y_t y_t' = H + H',  H = sum_t g_t x_t (y_t - x_t / 2)',  g_t = q_t + (decay_{t+1} lambda)^2 g_{t+1},

which is exact, and needs the weights before the pass: that is why they are computed backwards first.
"""

import numpy as np

from ucls.evaluation.log import features
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.kernels.linear_algebra import traces as tr


@jit
def add_trace(Y, j, step, z, live, count):
    """Y_j <- Y_j + step z, by the list of live entries where it is short."""
    if 4 * count < len(z):
        for k in range(count):
            Y[j, live[k]] += step * z[live[k]]
    else:
        for i in range(len(z)):
            Y[j, i] += step * z[i]


@jit
def trace_dot(Y, j, z, live, count):
    """Y_j'z, by the list of live entries where it is short."""
    total = 0.0
    if 4 * count < len(z):
        for k in range(count):
            total += Y[j, live[k]] * z[live[k]]
    else:
        for i in range(len(z)):
            total += Y[j, i] * z[i]
    return total


@jit
def add_systems(log, begin, end, lambda_, trace, n, At, b):
    """Add up z d' (by columns) and z r (in the row b[0]) over some transitions; the trace goes on from where it is."""
    z, live, d = trace.z[:n], trace.live, np.zeros(n)
    for t in range(begin, end):
        x, x_next = features(log, t)
        rho = log.rho[t]
        tr.decay_live(trace, log.decay[t] * lambda_, x)
        count = trace.count[0]
        add_trace(b, 0, rho * log.reward[t], z, live, count)
        for i in range(len(x.index)):
            d[x.index[i]] += x.value[i]
        for i in range(len(x_next.index)):
            d[x_next.index[i]] -= log.discount[t] * x_next.value[i]
        for index in (x.index, x_next.index):  # a feature that stays has one column to add to, not two
            for j in index:
                if d[j] != 0.0:
                    add_trace(At, j, rho * d[j], z, live, count)
                    d[j] = 0.0


@jit
def residuals(log, w, delta):
    """The TD errors delta_t = r - d'w."""
    for t in range(len(delta)):
        x, x_next = features(log, t)
        delta[t] = log.reward[t] + log.discount[t] * la.dot(x_next, w) - la.dot(x, w)


@jit
def leverages(log, lambda_, trace, inverse, h):
    """h_t = d' (sum z d')^-1 z, the part of a transition in its own fit."""
    z, live = trace.z, trace.live
    for t in range(len(h)):
        x, x_next = features(log, t)
        tr.decay_live(trace, log.decay[t] * lambda_, x)
        count = trace.count[0]
        total = 0.0
        for i in range(len(x.index)):
            total += x.value[i] * trace_dot(inverse, x.index[i], z, live, count)
        for i in range(len(x_next.index)):
            total -= log.discount[t] * x_next.value[i] * trace_dot(inverse, x_next.index[i], z, live, count)
        h[t] = log.rho[t] * total


@jit
def add_squares(log, lambda_, trace, q, H):
    """Make H, of which H + H' = sum_t q_t y_t y_t'; the weights q are changed."""
    z, live = trace.z, trace.live
    for t in range(len(q) - 2, -1, -1):
        q[t] += (log.decay[t + 1] * lambda_) ** 2 * q[t + 1]
    for t in range(len(q)):
        x, _ = features(log, t)
        tr.decay_live(trace, log.decay[t] * lambda_, x)
        for i in range(len(x.index)):
            row, step = x.index[i], q[t] * x.value[i]
            add_trace(H, row, step, z, live, trace.count[0])
            for j in range(len(x.index)):
                H[row, x.index[j]] -= 0.5 * step * x.value[j]


@jit
def add_batches(log, lambda_, trace, u, edges, U):
    """U_k = the sum of u_t y_t over the transitions from edges[k] up to edges[k + 1]; u is changed."""
    for k in range(len(U)):
        begin = edges[k]
        for t in range(edges[k + 1] - 2, begin - 1, -1):
            u[t] += log.decay[t + 1] * lambda_ * u[t + 1]
        # what earlier transitions left in the trace
        add_trace(U, k, u[begin] * log.decay[begin] * lambda_, trace.z, trace.live, trace.count[0])
        for t in range(begin, edges[k + 1]):
            x, _ = features(log, t)
            tr.decay_live(trace, log.decay[t] * lambda_, x)
            for i in range(len(x.index)):
                U[k, x.index[i]] += u[t] * x.value[i]


@jit
def add_traces(log, lambda_, trace, end, total):
    """Add up z, in the row total[0]."""
    for t in range(end):
        x, _ = features(log, t)
        tr.decay_live(trace, log.decay[t] * lambda_, x)
        add_trace(total, 0, log.rho[t], trace.z, trace.live, trace.count[0])


@jit
def pick_traces(log, lambda_, trace, times, Y):
    """The traces y_t at some times, in order."""
    k = 0
    for t in range(times[-1] + 1):
        x, _ = features(log, t)
        tr.decay_live(trace, log.decay[t] * lambda_, x)
        if t == times[k]:
            add_trace(Y, k, 1.0, trace.z, trace.live, trace.count[0])
            k += 1


def edges(transitions: int, batches: int) -> np.ndarray:
    """Where batches of nearly equal lengths begin, and the end."""
    return np.linspace(0, transitions, batches + 1).astype(np.int64)
