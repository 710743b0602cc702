"""UCLS-Plan as batch formulas over the list of all transitions: dense matrices, nothing remembered from step to step.

The features of a transition are dense rows, one for each action: `xs` before it, `xs_next` after it (zeros after
termination). Actions share no features, so that M falls into blocks by itself.
"""

import numpy as np


class Plan:
    """The fixed point of optimistic least-squares value iteration."""

    def __init__(self, transitions, v0, vmin, prior_visits, noise_scale):
        self.xs = np.array([t.xs for t in transitions])
        self.a = np.array([t.a for t in transitions])
        self.r = np.array([t.r for t in transitions])
        self.gamma = np.array([t.gamma for t in transitions])
        self.xs_next = np.array([t.xs_next for t in transitions])
        self.x = self.xs[np.arange(len(self.a)), self.a]
        self.v0, self.vmin, self.base, self.noise_scale = v0, vmin, min(0.0, v0), noise_scale
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

    def sweep(self):
        """Compute phi, w and C from the targets that they give; return the largest change of a target."""
        y, y_mean = self.targets()
        self.phi = np.linalg.solve(self.M, self.x.T @ (y - self.v0))
        self.w = np.linalg.solve(self.M, self.x.T @ (y_mean - self.base))
        delta = y - self.means(self.pairs, y)  # free of the prior: from the plain mean of the same features
        leverage = 1 / np.bincount(self.pairs)[self.pairs]
        if np.sum(1 - leverage) < 0.1 * len(y):  # hardly any features are met twice: from the regression
            delta = y - self.v0 - self.x @ self.phi
            leverage = np.einsum("ni,ij,nj->n", self.x, self.inverse, self.x, optimize=True)
        freedom = np.sum(1 - leverage)
        self.variance = np.sum(delta**2) / freedom if freedom > 1e-9 else 0.0
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
