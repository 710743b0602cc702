"""UCLS-Plan as batch formulas over the list of all transitions: dense matrices, nothing remembered from step to step.

The features of a transition are dense rows, one for each action: `xs` before it, `xs_next` after it (zeros after
termination). Actions share no features, so that M falls into blocks by itself.
"""

import numpy as np


class Plan:
    """The fixed point of optimistic least-squares value iteration."""

    def __init__(self, transitions, v0, vmin, prior_visits, noise_scale, lambda_):
        self.xs = np.array([t.xs for t in transitions])
        self.a = np.array([t.a for t in transitions])
        self.r = np.array([t.r for t in transitions])
        self.gamma = np.array([t.gamma for t in transitions])
        self.xs_next = np.array([t.xs_next for t in transitions])
        self.x = self.xs[np.arange(len(self.a)), self.a]
        self.first = np.array([t.starts for t in transitions])
        self.v0, self.vmin, self.base, self.noise_scale, self.lambda_ = v0, vmin, min(0.0, v0), noise_scale, lambda_
        self.kappa = prior_visits * (self.x[0] @ self.x[0])
        self.M = self.kappa * np.eye(self.x.shape[1]) + self.x.T @ self.x
        self.inverse = np.linalg.inv(self.M)
        self.pairs = self._groups(self.x)
        self.phi, self.w = np.zeros(len(self.M)), np.zeros(len(self.M))
        self.C = np.zeros_like(self.M)

    @staticmethod
    def _groups(rows):
        """Which rows are the same: a number for each."""
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()

    def upper(self, xs):
        """U, of rows of features."""
        variance = np.einsum("...i,ij,...j->...", xs, self.C, xs, optimize=True)
        return self.v0 + xs @ self.phi + self.noise_scale * np.sqrt(np.maximum(0, variance))

    def left(self, xs):
        """The part of the prior that is left."""
        size = np.einsum("...i,...i->...", xs, xs)
        return self.kappa * np.einsum("...i,ij,...j->...", xs, self.inverse, xs, optimize=True) / size

    def targets(self):
        """r + gamma V(s'), optimistic and of the mean; the mean's maximum is over actions that were tried."""
        ahead, ahead_mean = np.zeros(len(self.r)), np.zeros(len(self.r))
        goes_on = self.gamma > 0
        xs = self.xs_next[goes_on]
        ahead[goes_on] = np.clip(self.upper(xs).max(axis=1), self.vmin, self.v0)
        means = np.where(self.left(xs) <= 0.5, self.base + xs @ self.w, -np.inf).max(axis=1)
        ahead_mean[goes_on] = np.where(np.isfinite(means), np.clip(means, self.vmin, self.v0), self.base)
        return self.r + self.gamma * ahead, self.r + self.gamma * ahead_mean

    def returns(self, y, scores, values):
        """Targets over several steps, from these of one step: the next action must have the best of the scores."""
        best = np.where(np.isfinite(scores.max(axis=1)), scores.argmax(axis=1), -1)
        G = y.copy()
        for t in range(len(y) - 2, -1, -1):
            if not self.first[t + 1] and self.a[t + 1] == best[t + 1]:
                ahead = np.clip(G[t + 1], self.vmin, self.v0) - values[t + 1]
                G[t] += self.gamma[t] * self.lambda_ * ahead
        return G

    def long_targets(self, y, y_mean):
        """The targets of the regression, optimistic and of the mean."""
        upper = self.upper(self.xs)
        mean = np.where(self.left(self.xs) <= 0.5, self.base + self.xs @ self.w, -np.inf)
        tried = np.isfinite(mean).any(axis=1)
        V = np.clip(upper.max(axis=1), self.vmin, self.v0)
        V_mean = np.where(tried, np.clip(mean.max(axis=1), self.vmin, self.v0), self.base)
        return self.returns(y, upper, V), self.returns(y_mean, mean, V_mean)

    def sweep(self):
        """Compute phi, w and C from the targets that they give; return the largest change of a target."""
        y, y_mean = self.targets()
        G, G_mean = self.long_targets(y, y_mean)
        self.phi = np.linalg.solve(self.M, self.x.T @ (G - self.v0))
        self.w = np.linalg.solve(self.M, self.x.T @ (G_mean - self.base))
        delta = G - self.means(self.pairs, G)  # free of the prior: from the plain mean of the same features
        visits = np.bincount(self.pairs)
        leverage, repeated = 1 / visits[self.pairs], np.sum(visits > 1)
        if np.sum(1 - leverage) < 0.1 * len(y):  # hardly any features are met twice: from the regression
            delta = G - self.v0 - self.x @ self.phi
            leverage = np.einsum("ni,ij,nj->n", self.x, self.inverse, self.x, optimize=True)
            repeated = np.sum(1 - leverage)
        freedom = np.sum(1 - leverage)
        self.variance = ((self.v0 - self.vmin) * 0.5**repeated) ** 2
        if freedom > 1e-9:
            self.variance += np.sum(delta**2) / freedom
        weights = delta**2 + leverage * self.variance
        self.C = self.inverse @ (self.x.T * weights) @ self.x @ self.inverse
        after, after_mean = self.targets()
        return max(np.abs(after - y).max(), np.abs(after_mean - y_mean).max())

    @staticmethod
    def means(groups, y):
        """The mean of each row's group."""
        return (np.bincount(groups, y) / np.bincount(groups))[groups]

    def solve(self, tolerance=1e-10, most=20_000):
        """Sweep until no target changes by more than the tolerance; return how much the last one changed."""
        change = np.inf
        for _ in range(most):
            change = self.sweep()
            if change <= tolerance:
                break
        return change
