"""The complete bound as batch formulas: A, b and the sum of squared errors over all transitions, solved in the open."""

import numpy as np
from scipy.linalg import lu_factor, lu_solve


class UCLSExact:
    """UCLS with its complete bound. Nothing here is a recursion but the trace: every step factors A anew."""

    def __init__(self, d, m=1.0, factor=0.3, lambda_=0.4, return_max=None, least=0.1):
        self.m, self.factor, self.lambda_, self.return_max, self.least = m, factor, lambda_, return_max, least
        self.d, self.kappa, self.guarded = d, None, 0
        self.factors = None  # of A, until it changes
        self.A, self.b, self.p, self.S = np.zeros((d, d)), np.zeros(d), np.zeros(d), np.zeros((d, d))
        self.z, self.gamma = np.zeros(d), 0.0
        self.episodes = [[]]  # (reward, discount) of every step of every episode

    def start(self):
        self.z, self.gamma = np.zeros(self.d), 0.0
        self.episodes.append([])

    @property
    def w(self):
        return self.solve(self.b)

    @property
    def h(self):
        return self.solve(self.p)

    def solve(self, right, transposed=False):
        if self.kappa is None:
            return np.zeros(self.d)
        if self.factors is None:
            self.factors = lu_factor(self.A)
        return lu_solve(self.factors, right, int(transposed))

    @property
    def C(self):
        inverse = np.linalg.inv(self.A)
        return inverse @ self.S @ inverse.T

    @property
    def v0(self):
        """What was declared, or the guess; and no less than a return that was observed to its end, or nearly."""
        steps = [step for episode in self.episodes for step in episode]
        if self.return_max is not None:
            v0 = self.return_max
        elif all(r == 0 for r, _ in steps):
            v0 = 1.0
        else:
            way = max([0.0] + [r for r, gamma in steps if gamma > 0])
            gamma = max([0.0] + [gamma for _, gamma in steps])
            span = 1 / (1 - gamma) if gamma < 1 else max(len(episode) for episode in self.episodes)
            once, hoped = max([0.0] + [r for r, gamma in steps if gamma == 0]), way * span
            while hoped > once and max(self.observed(), default=-np.inf) >= 0.95 * hoped:
                hoped *= 2
            v0 = max(once, hoped)
        return max([v0, *self.observed()])

    def observed(self):
        """The returns of finished episodes, and of finished parts of 1024 steps of long ones."""
        returns = []
        for number, episode in enumerate(self.episodes):
            parts = [episode[i : i + 1024] for i in range(0, len(episode), 1024)]
            for part in parts:
                over = part[-1][1] == 0 or len(part) == 1024 or number < len(self.episodes) - 1
                total, to_come = 0.0, 1.0
                for r, gamma in reversed(part if over else []):
                    total, to_come = r + gamma * total, to_come * gamma
                    if to_come < 0.01:
                        returns.append(total)
        return returns

    def values(self, xs):
        """The upper bound of every action."""
        if self.kappa is None:
            return np.full(len(xs), self.v0)
        w, h = self.w, self.h
        ys = self.solve(xs.T, transposed=True)  # x'Cx = y'Sy with y = A^-T x
        noise = np.sqrt(np.maximum(0, np.einsum("ia,ij,ja->a", ys, self.S, ys, optimize=True)))
        return xs @ w + self.v0 * np.clip(1 - xs @ h, 0, 1) + self.factor * noise

    def update(self, x, r, gamma, x_next):
        if self.kappa is None:
            self.kappa = self.m * (x @ x or 1.0)
            self.A += self.kappa * np.eye(self.d)
        self.episodes[-1].append((r, gamma))
        w = self.w
        self.z = self.gamma * self.lambda_ * self.z + x
        d = x - gamma * x_next
        s = d @ self.solve(self.z)
        c = 1.0
        if 1 + s < self.least:
            c = (1 - self.least) / -s
            self.guarded += 1
        delta = r - d @ w
        self.A += c * np.outer(self.z, d)
        self.factors = None
        self.b += c * r * self.z
        self.p += c * (1 - gamma) * self.z
        self.S += c**2 * delta**2 * np.outer(self.z, self.z)
        self.gamma = gamma
