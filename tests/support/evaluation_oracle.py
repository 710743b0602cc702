"""LSTD(lambda) and every estimator of its variance in plain dense NumPy, from their definitions."""

import itertools

import numpy as np

from support import boxes


class Transitions:
    """Dense transitions, with the traces and differences that all definitions share."""

    def __init__(self, X, r, gamma, X_next, lambda_, rho=None, start=None, eta=0.0):
        n, d = X.shape
        self.X, self.r, self.gamma, self.X_next, self.lambda_ = X, r, gamma, X_next, lambda_
        self.n, self.start = n, np.zeros(n, bool) if start is None else start
        rho = np.ones(n) if rho is None else rho
        self.D = X - gamma[:, None] * X_next
        self.Z, z, gamma_previous = np.zeros((n, d)), np.zeros(d), 0.0
        for t in range(n):
            if self.start[t]:
                gamma_previous = 0.0
            z = rho[t] * (gamma_previous * lambda_ * z + X[t])
            self.Z[t], gamma_previous = z, gamma[t]
        self.A = self.Z.T @ self.D / n + eta * np.eye(d)
        self.w = np.linalg.pinv(self.A, rcond=1e-12) @ (self.Z.T @ r / n)
        self.delta = r - self.D @ self.w

    def around(self, S):
        """A+ S A+'."""
        inverse = np.linalg.pinv(self.A, rcond=1e-12)
        return inverse @ S @ inverse.T

    def sandwich(self):
        U = self.Z * self.delta[:, None]
        return self.around(U.T @ U / self.n) / self.n

    def leave_one_out(self):
        """Solve again without each transition in turn, its place in the traces kept."""
        S = np.zeros_like(self.A)
        for t in range(self.n):
            rest = np.arange(self.n) != t
            w = np.linalg.solve(self.Z[rest].T @ self.D[rest], self.Z[rest].T @ self.r[rest])
            u = self.Z[t] * (self.r[t] - self.D[t] @ w)
            S += np.outer(u, u)
        return self.around(S / self.n) / self.n

    def robust(self, batches):
        edges = np.linspace(0, self.n, batches + 1).astype(int)
        U = self.Z * self.delta[:, None]
        S = sum(np.outer(U[i:j].sum(0), U[i:j].sum(0)) for i, j in itertools.pairwise(edges))
        return self.around(S / self.n * batches / (batches - 1)) / self.n

    def global_printed(self):
        z = self.Z.mean(0)
        return np.var(self.delta) * self.around(np.outer(z, z))

    def global_corrected(self):
        return np.var(self.delta) * self.around(self.Z.T @ self.Z / self.n) / self.n

    def running(self, beta):
        box = boxes.UCLS(len(self.w), lambda_=self.lambda_, beta=beta)
        for t in range(self.n):
            if self.start[t]:
                box.start()
            box.update(self.X[t], self.r[t], self.gamma[t], self.X_next[t])
        return box.C

    def linear_td(self, alpha, alpha_var):
        box = boxes.UCLSL(len(self.w), lambda_=self.lambda_, alpha=alpha, alpha_var=alpha_var)
        for t in range(self.n):
            if self.start[t]:
                box.start()
            box.update(self.X[t], self.r[t], self.gamma[t], self.X_next[t])
        return np.outer(box.w_var, box.w_var)

    def block_bootstrap(self, resamples, blocks, seed):
        edges = np.linspace(0, self.n, blocks + 1).astype(int)
        weights = np.random.default_rng(seed).exponential(size=(resamples, blocks))
        total = np.zeros_like(self.A)
        for weight in weights:
            each = np.repeat(weight, np.diff(edges))[:, None]
            w = np.linalg.solve((self.Z * each).T @ self.D, (self.Z * each).T @ self.r)
            total += np.outer(w - self.w, w - self.w)
        return total / resamples
