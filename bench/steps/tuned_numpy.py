"""Optimized NumPy: in place, sparse where features are sparse, matrix-vector products only."""

import numpy as np

from bench.steps.dense_numpy import B_STEP, BETA, ETA, LAMBDA, W_STEP
from bench.steps.stream import Stream


class TunedNumpy:
    """Algorithm 2 with A and B by columns (At[j] is column j of A), no new matrix in a step."""

    NAME = "NumPy, tuned"
    unit = 1

    def __init__(self, stream: Stream, dtype: str) -> None:
        d = stream.d
        self.At, self.Bt, self.C = np.zeros((d, d), dtype), np.eye(d, dtype=dtype), np.eye(d, dtype=dtype)
        self.b, self.z, self.w, self.nu = (np.zeros(d, dtype) for _ in range(4))
        self.c, self.c_max, self.gamma_previous = np.ones(d, dtype), 1.0, 0.0
        self.stream, self.t = stream, 0
        self.value = stream.value.astype(dtype)

    def run(self, steps: int) -> None:
        s = self.stream
        for t in range(self.t, self.t + steps):
            i = t % len(s.r)
            self.update(s.index[i], self.value[i], float(s.r[i]), s.gamma, s.index[i + 1], self.value[i + 1])
        self.t += steps

    def update(self, index, value, r: float, gamma: float, index_next, value_next) -> None:
        At, Bt, z, w = self.At, self.Bt, self.z, self.w
        delta = float(r + gamma * (value_next @ w[index_next]) - value @ w[index])
        z *= self.gamma_previous * LAMBDA
        z[index] += value
        self.b *= 1 - BETA
        self.b += BETA * r * z
        At *= 1 - BETA
        At[index] += np.outer(BETA * value, z)
        At[index_next] -= np.outer(BETA * gamma * value_next, z)
        flat = At.ravel()

        alpha = min(1.0, B_STEP / (float(flat @ flat) * float(value @ value) + 1.0))
        h = At @ (value @ Bt[index])
        h[index] -= value
        g = h @ At
        g *= alpha
        Bt[index] -= np.outer(value, g)

        self.nu *= 1 - BETA
        self.nu += BETA * delta * z
        a = Bt @ self.nu
        before, self.c_max = self.c_max, max(self.c_max, float(np.max(np.abs(a))) ** 2)
        if self.c_max != before:
            self.C.ravel()[:: len(w) + 1] += self.c * (self.c_max - before)
        near = np.flatnonzero(np.abs(z) > BETA)
        self.c[near] *= 1 - BETA
        block = np.ix_(near, near)
        changed = self.C[block]
        changed *= 1 - BETA
        changed += np.outer(BETA * a[near], a[near])
        self.C[block] = changed

        v = w @ At
        np.subtract(self.b, v, out=v)
        w += W_STEP * (Bt @ v)
        w += (W_STEP * ETA) * v
        self.gamma_previous = gamma
