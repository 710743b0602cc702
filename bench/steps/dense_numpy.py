"""The paper's pseudocode in dense NumPy, line by line: the straightforward implementation."""

import numpy as np

from bench.steps.stream import Stream

LAMBDA, BETA, ETA, B_STEP, W_STEP = 0.9, 0.001, 1e-4, 0.01, 1.0


class DenseNumpy:
    """Algorithm 2 of the paper, with dense features and a new matrix for every expression."""

    NAME = "NumPy, dense"
    unit = 1

    def __init__(self, stream: Stream, dtype: str) -> None:
        d = stream.d
        self.A, self.B, self.C = np.zeros((d, d), dtype), np.eye(d, dtype=dtype), np.eye(d, dtype=dtype)
        self.b, self.z, self.w, self.nu = (np.zeros(d, dtype) for _ in range(4))
        self.c, self.c_max, self.gamma_previous = np.ones(d, dtype), 1.0, 0.0
        self.stream, self.t = stream, 0

    def run(self, steps: int) -> None:
        s = self.stream
        for t in range(self.t, self.t + steps):
            i = t % len(s.r)
            self.update(self.dense(i), float(s.r[i]), s.gamma, self.dense(i + 1))
        self.t += steps

    def dense(self, i: int) -> np.ndarray:
        x = np.zeros_like(self.w)
        x[self.stream.index[i]] = self.stream.value[i]
        return x

    def update(self, x: np.ndarray, r: float, gamma: float, x_next: np.ndarray) -> None:
        delta = float(r + (gamma * x_next - x) @ self.w)
        self.z = self.gamma_previous * LAMBDA * self.z + x
        z = self.z
        self.b = (1 - BETA) * self.b + BETA * r * z
        self.A = (1 - BETA) * self.A + BETA * np.outer(z, x - gamma * x_next)

        alpha = min(1.0, float(B_STEP / (np.linalg.norm(self.A) ** 2 * (x @ x) + 1.0)))
        self.B = self.B - alpha * np.outer(self.A @ (self.A.T @ (self.B @ x) - x), x)

        self.nu = (1 - BETA) * self.nu + BETA * delta * z
        a = self.B.T @ self.nu
        before, self.c_max = self.c_max, max(self.c_max, float(np.max(a**2)))
        if self.c_max != before:
            self.C += np.diag(self.c * (self.c_max - before))
        near = np.flatnonzero(np.abs(z) > BETA)
        self.c[near] *= 1 - BETA
        block = np.ix_(near, near)
        self.C[block] = (1 - BETA) * self.C[block] + BETA * np.outer(a[near], a[near])

        self.w = self.w + W_STEP * (self.B.T + ETA * np.eye(len(x), dtype=x.dtype)) @ (self.b - self.A @ self.w)
        self.gamma_previous = gamma
