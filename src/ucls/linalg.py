"""Small kernels on active features, and the linear system A w = b that the least-squares algorithms share.

Features are sparse: `Active` holds the indices and values of the active ones. Vectors and matrices are dense, but only
their leading block of n features seen so far is touched: a feature that was never active has a zero row and column in
A, a unit row and column in B, and w = b = z = 0, so leaving it out is exact.

`System` keeps A by columns with a lazy scale, A[:, j] = scale * At[j], and B, the running estimate of A^-T, by columns,
B[:, c] = Bt[c]. Then every sparse update is an operation on contiguous rows, averaging A costs a few rows instead of
all of them, and each step reads A once (`gradient_and_residual`) and B once (`transpose_times`).
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls._jit import jit
from ucls.ranges import FEATURE, POSITIVE, Count

RENORMALISE = 1e-3  # fold the scale into A when it falls below this


class Active(NamedTuple):
    """Active features: indices and values, of one action (1-D) or a row for each action (2-D)."""

    index: Annotated[Any, FEATURE]
    value: Any


def no_features(n_actions: int, n_active: int) -> Active:
    """Make room for the features of every action."""
    return Active(np.zeros((n_actions, n_active), np.int64), np.zeros((n_actions, n_active)))


def enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A larger array with this one in its corner and zeros elsewhere; pages that nobody writes take no memory."""
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


@jit
def of_action(xs, a):
    """The features x of one action."""
    return Active(xs.index[a], xs.value[a])


@jit
def copy(xs, to):
    """Copy the features of every action."""
    for a in range(xs.index.shape[0]):
        for i in range(xs.index.shape[1]):
            to.index[a, i] = xs.index[a, i]
            to.value[a, i] = xs.value[a, i]


@jit
def dot(x, w):
    """x'w."""
    total = 0.0
    for i in range(len(x.index)):
        total += x.value[i] * w[x.index[i]]
    return total


@jit
def square(x):
    """|x|^2."""
    total = 0.0
    for i in range(len(x.index)):
        total += x.value[i] * x.value[i]
    return total


@jit
def quadratic(C, x):
    """x'Cx of a symmetric C, of which only the lower triangle is read."""
    total = 0.0
    for i in range(len(x.index)):
        row = x.index[i]
        inner = 0.5 * x.value[i] * C[row, row]
        for j in range(i):
            column = x.index[j]
            inner += x.value[j] * (C[row, column] if column < row else C[column, row])
        total += 2.0 * x.value[i] * inner
    return total


@jit
def argmax(values, rng):
    """The index of the largest value; ties are broken uniformly at random."""
    best, ties = 0, 1
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
    if ties > 1:
        skip = int(rng.random() * ties)
        for i in range(best, len(values)):
            if values[i] == values[best]:
                if skip == 0:
                    return i
                skip -= 1
    return best


@jit
def epsilon_greedy(values, epsilon, rng):
    """The index of the largest value, or with probability epsilon any index."""
    if rng.random() < epsilon:
        return int(rng.random() * len(values))
    return argmax(values, rng)


@jit
def see(seen, x):
    """Widen the leading block to hold the features x, and return its size."""
    n = seen[0]
    for i in range(len(x.index)):
        n = max(n, x.index[i] + 1)
    seen[0] = n
    return n


@jit
def average(y, n, beta, c, z):
    """y <- (1 - beta) y + beta c z, on the first n features."""
    keep, add = y.dtype.type(1.0 - beta), y.dtype.type(beta * c)
    for i in range(n):
        y[i] = keep * y[i] + add * z[i]


@jit
def add(y, n, c, z):
    """y <- y + c z, on the first n features."""
    step = y.dtype.type(c)
    for i in range(n):
        y[i] += step * z[i]


class System(NamedTuple):
    """A w = b under exponential averaging, and B, the running estimate of A^-T.

    `scale` and `norm2` (the squared Frobenius norm of A) are carried along; `seen` is the size of the leading block.
    """

    At: Any
    Bt: Any
    b: Any
    w: Any
    scale: Annotated[Any, POSITIVE]
    norm2: Any
    seen: Annotated[Any, Count("features")]


def system(size: int, dtype: Any) -> System:
    """Start with A = 0, b = 0, w = 0, B = I."""
    return System(
        At=np.zeros((size, size), dtype),
        Bt=np.eye(size, dtype=dtype),
        b=np.zeros(size, dtype),
        w=np.zeros(size, dtype),
        scale=np.ones(1),
        norm2=np.zeros(1),
        seen=np.zeros(1, np.int64),
    )


@jit
def average_outer(system, n, beta, z, x, gamma, x_next):
    """A <- (1 - beta) A + beta z (x - gamma x')': only the columns of active features are touched."""
    At = system.At
    system.scale[0] *= 1.0 - beta
    system.norm2[0] *= (1.0 - beta) ** 2
    if system.scale[0] < RENORMALISE:
        _renormalise(system, n)
    scale = system.scale[0]
    z2 = 0.0
    for i in range(n):
        z2 += z[i] * z[i]
    dx = np.zeros(n)
    for i in range(len(x.index)):
        dx[x.index[i]] += x.value[i]
    for i in range(len(x_next.index)):
        dx[x_next.index[i]] -= gamma * x_next.value[i]
    for active in (x.index, x_next.index):
        for j in active:
            if dx[j] != 0.0:
                c = At.dtype.type(beta * dx[j] / scale)
                column = At[j]
                t = column.dtype.type(0)
                for i in range(n):
                    t += column[i] * z[i]
                    column[i] += c * z[i]
                system.norm2[0] += scale * scale * (2.0 * c * t + c * c * z2)
                dx[j] = 0.0


@jit
def _renormalise(system, n):
    """Fold the scale into A, and recompute its norm."""
    scale = system.At.dtype.type(system.scale[0])
    norm2 = 0.0
    for j in range(n):
        row = system.At[j]
        for i in range(n):
            row[i] *= scale
            norm2 += row[i] * row[i]
    system.scale[0] = 1.0
    system.norm2[0] = norm2


@jit
def gradient_and_residual(system, n, x):
    """Return g = A (A'Bx - x) and v = b - Aw, reading A once, four columns at a time.

    The j-th entry of A'Bx - x needs column j only, so the columns can be added up as soon as it is known.
    """
    At, w = system.At, system.w
    scale = At.dtype.type(system.scale[0])
    q = np.zeros(n, At.dtype)  # Bx
    h = np.zeros(n, At.dtype)  # A'Bx - x, over the scale of A
    for c in range(len(x.index)):
        xc = At.dtype.type(x.value[c])
        h[x.index[c]] -= xc
        row = system.Bt[x.index[c]]
        for i in range(n):
            q[i] += xc * row[i]
    u = np.zeros(n, At.dtype)  # Aw, over the scale
    g = np.zeros(n, At.dtype)
    whole = n - n % 4
    for j in range(0, whole, 4):
        c0, c1, c2, c3 = At[j, :n], At[j + 1, :n], At[j + 2, :n], At[j + 3, :n]
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        s0 = s1 = s2 = s3 = At.dtype.type(0)
        for i in range(n):
            s0 += c0[i] * q[i]
            s1 += c1[i] * q[i]
            s2 += c2[i] * q[i]
            s3 += c3[i] * q[i]
            u[i] += (w0 * c0[i] + w1 * c1[i]) + (w2 * c2[i] + w3 * c3[i])
        h0, h1, h2, h3 = scale * s0 + h[j], scale * s1 + h[j + 1], scale * s2 + h[j + 2], scale * s3 + h[j + 3]
        for i in range(n):
            g[i] += (h0 * c0[i] + h1 * c1[i]) + (h2 * c2[i] + h3 * c3[i])
    for j in range(whole, n):
        column = At[j, :n]
        s = At.dtype.type(0)
        for i in range(n):
            s += column[i] * q[i]
            u[i] += w[j] * column[i]
        hj = scale * s + h[j]
        for i in range(n):
            g[i] += hj * column[i]
    for i in range(n):
        g[i] *= scale
        u[i] = system.b[i] - scale * u[i]
    return g, u


@jit
def subtract_outer(Bt, n, alpha, g, x):
    """B <- B - alpha g x'."""
    for c in range(len(x.index)):
        step = Bt.dtype.type(alpha * x.value[c])
        row = Bt[x.index[c]]
        for i in range(n):
            row[i] -= step * g[i]


@jit
def transpose_times(Bt, n, nu, v):
    """Return B'nu and B'v, reading B once, four columns at a time."""
    a = np.empty(n, Bt.dtype)
    r = np.empty(n, Bt.dtype)
    whole = n - n % 4
    for c in range(0, whole, 4):
        c0, c1, c2, c3 = Bt[c, :n], Bt[c + 1, :n], Bt[c + 2, :n], Bt[c + 3, :n]
        a0 = a1 = a2 = a3 = r0 = r1 = r2 = r3 = Bt.dtype.type(0)
        for i in range(n):
            a0 += c0[i] * nu[i]
            a1 += c1[i] * nu[i]
            a2 += c2[i] * nu[i]
            a3 += c3[i] * nu[i]
            r0 += c0[i] * v[i]
            r1 += c1[i] * v[i]
            r2 += c2[i] * v[i]
            r3 += c3[i] * v[i]
        a[c], a[c + 1], a[c + 2], a[c + 3] = a0, a1, a2, a3
        r[c], r[c + 1], r[c + 2], r[c + 3] = r0, r1, r2, r3
    for c in range(whole, n):
        column = Bt[c, :n]
        ac = rc = Bt.dtype.type(0)
        for i in range(n):
            ac += column[i] * nu[i]
            rc += column[i] * v[i]
        a[c], r[c] = ac, rc
    return a, r


@jit
def precondition(w, n, step, r, eta, v):
    """w <- w + step (B' + eta I) v, given r = B'v."""
    c, e = w.dtype.type(step), w.dtype.type(eta)
    for i in range(n):
        w[i] += c * (r[i] + e * v[i])
