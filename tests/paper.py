"""Each algorithm box of the paper in plain dense NumPy: the oracle. Nobody optimises it.

A box is written in the order and with the letters of the paper. Where the box is wrong, `literal=True` runs it as it is
printed, and `literal=False` with the corrections that docs and docstrings name.
"""

import numpy as np


class UCLS:
    """Algorithm 2, UCLS(lambda), with Algorithm 1, GetOptimisticAction."""

    def __init__(self, d, literal=False, p=0.1, lambda_=0.9, beta=0.001, eta=1e-4, c_max=1.0, b_step=0.01, w_step=1.0):
        self.A = np.zeros((d, d))
        self.b, self.z, self.w = np.zeros(d), np.zeros(d), np.zeros(d)
        self.B, self.C = np.eye(d), c_max * np.eye(d)
        self.nu, self.c = np.zeros(d), np.ones(d)
        self.p, self.eta, self.beta, self.c_max, self.lambda_ = p, eta, beta, c_max, lambda_
        self.b_step, self.w_step = b_step, w_step
        self.literal = literal
        self.gamma_previous = 0.0

    def start(self):
        self.gamma_previous = 0.0

    def upper(self, x):
        """x'w + u, where x has a row for each action."""
        xCx = np.einsum("ai,ij,aj->a", x, self.C, x)
        if not self.literal:
            xCx = np.maximum(xCx, 0.0)
        return x @ self.w + np.sqrt((1 + 1 / self.p) * xCx)

    def update(self, x, r, gamma, x_next):
        beta = self.beta
        delta = r + (gamma * x_next - x) @ self.w
        if self.literal:
            self.z = gamma * self.lambda_ * self.z + x
        else:
            self.z = self.gamma_previous * self.lambda_ * self.z + x
        z = self.z
        self.b = (1 - beta) * self.b + beta * r * z
        self.A = (1 - beta) * self.A + beta * np.outer(z, x - gamma * x_next)

        alpha = min(1.0, self.b_step / (np.linalg.norm(self.A, "fro") ** 2 * (x @ x) + 1.0))
        self.B = self.B - alpha * np.outer(self.A @ (self.A.T @ (self.B @ x) - x), x)

        self.nu = (1 - beta) * self.nu + beta * delta * z
        a = self.B.T @ self.nu
        temp = self.c_max
        self.c_max = max(self.c_max, np.max(a**2))
        if temp != self.c_max:
            for i in range(len(x)):
                self.C[i, i] += self.c[i] * (self.c_max - temp)
        near = np.flatnonzero(z != 0) if self.literal else np.flatnonzero(np.abs(z) > beta)
        self.c[near] *= 1 - beta
        block = np.ix_(near, near)
        self.C[block] = (1 - beta) * self.C[block] + beta * np.outer(a[near], a[near])

        self.w = self.w + self.w_step * (self.B.T + self.eta * np.eye(len(x))) @ (self.b - self.A @ self.w)
        self.gamma_previous = gamma
