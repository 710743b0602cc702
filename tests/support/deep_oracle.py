"""UCLS-Deep in plain dense NumPy: the network and its loss, and the last layer over the list of all transitions."""

import numpy as np


def normalized(z):
    """Layer normalization of each row."""
    return (z - z.mean(axis=1, keepdims=True)) / np.sqrt(z.var(axis=1, keepdims=True) + 1e-5)


def features(net, inputs):
    """phi of each row; `net` has the weights of the layers by name."""
    h = np.maximum(0.0, net["gain1"] * normalized(inputs @ net["W1"] + net["b1"]) + net["bias1"])
    h = np.maximum(0.0, net["gain2"] * normalized(h @ net["W2"] + net["b2"]) + net["bias2"])
    return h / np.sqrt(h.shape[1] / 2)


def loss(net, inputs, actions, targets, weight, limit):
    """The Huber loss of both heads of the actions taken."""
    out = features(net, inputs) @ net["heads"].T + net["offsets"]
    n_actions, rows, total = len(net["heads"]) // 2, np.arange(len(inputs)), 0.0
    for which in range(2):
        error = out[rows, actions + which * n_actions] - targets[:, which]
        small = np.abs(error) <= limit
        total += (weight * np.where(small, error**2 / 2, limit * (np.abs(error) - limit / 2))).sum()
    return total


def slope(net, name, index, *batch, step=1e-5):
    """The derivative of the loss by one weight, by central differences."""
    sides = []
    for sign in (1.0, -1.0):
        moved = {**net, name: net[name].copy()}
        moved[name][index] += sign * step
        sides.append(loss(moved, *batch))
    return (sides[0] - sides[1]) / (2.0 * step)


class Transition:
    """What an agent remembers of a step: numbers of its state and the next one (None at the end), and the rest."""

    def __init__(self, s, a, r, gamma, s_next):
        self.s, self.a, self.r, self.gamma, self.s_next = s, a, r, gamma, s_next


def n_step(transitions, n):
    """For each transition: the rewards of up to n steps, their discount, and the state after them (None at the end)."""
    taken = {t.s: t for t in transitions}
    found = []
    for t in transitions:
        R, g, s = 0.0, 1.0, t.s
        for _ in range(n):
            step = taken.get(s)
            if step is None:
                break
            R, g, s = R + g * step.r, g * step.gamma, step.s_next
            if s is None:
                break
        found.append((R, g, s))
    return found


class LastLayer:
    """The regressions of one solve, for states given by their features phi and their cells (one per partition)."""

    def __init__(self, phi, cells, transitions, n_actions, v0, vmin, prior_visits, noise_scale, ridge, shrink, n_steps):
        self.x = np.column_stack([phi, np.ones(len(phi))]).astype(np.float64)
        self.cells, self.transitions, self.n_actions = cells, transitions, n_actions
        self.v0, self.vmin, self.base = v0, vmin, min(0.0, v0)
        self.m, self.noise_scale, self.ridge, self.shrink = prior_visits, noise_scale, ridge, shrink
        self.ahead = n_step(transitions, n_steps)
        self.P = cells.shape[1]
        size = self.P, cells.max() + 1, n_actions
        self.n, self.squares, self.cw, self.cu = (np.zeros(size) for _ in range(4))
        for t in transitions:
            for p in range(self.P):
                self.n[p, cells[t.s, p], t.a] += 1
        self.tw, self.tu = (np.zeros((n_actions, self.x.shape[1])) for _ in range(2))

    def mean_over(self, table, s, a):
        """The mean over partitions of a table."""
        return np.mean([table[p, self.cells[s, p], a] for p in range(self.P)])

    def W(self, s, a):
        return self.base + self.x[s] @ self.tw[a] + self.mean_over(self.cw, s, a)

    def U(self, s, a):
        u = self.v0 + self.x[s] @ self.tu[a] + self.mean_over(self.cu, s, a)
        q = self.m * self.mean_over(1.0 / (self.n + 0.01), s, a)
        noise = np.sqrt(self.mean_over(self.squares / (self.n + 0.01) ** 2, s, a))
        return u + (self.v0 - u) * q / (1.0 + q) + self.noise_scale * noise

    def targets(self, value):
        """R + g clip(max of `value`, vmin, v0)."""
        y = []
        for R, g, s in self.ahead:
            ahead = 0.0 if s is None else np.clip(max(value(s, a) for a in range(self.n_actions)), self.vmin, self.v0)
            y.append(R + g * ahead)
        return np.array(y)

    def round(self, passes=3):
        """New targets, regressions, corrections and squared residuals."""
        self.yw, self.yu = self.targets(self.W), self.targets(self.U)
        for a in range(self.n_actions):
            mine = [i for i, t in enumerate(self.transitions) if t.a == a]
            X = self.x[[self.transitions[i].s for i in mine]]
            M = X.T @ X + self.ridge * np.eye(X.shape[1])
            self.tw[a] = np.linalg.solve(M, X.T @ (self.yw[mine] - self.base))
            self.tu[a] = np.linalg.solve(M, X.T @ (self.yu[mine] - self.v0))
        self.cw, _ = self.smoothed(self.yw - self.base, self.tw, passes)
        self.cu, delta = self.smoothed(self.yu - self.v0, self.tu, passes)
        leverage = np.array([self.mean_over(1.0 / np.maximum(self.n, 1), t.s, t.a) for t in self.transitions])
        variance = (delta**2).sum() / (1.0 - leverage).sum()
        self.squares = self.summed(delta**2 + leverage * variance)

    def smoothed(self, y, t, passes):
        """Corrections of a regression, and what is left over after them."""
        c, left = np.zeros_like(self.n), y - [self.x[step.s] @ t[step.a] for step in self.transitions]
        for _ in range(passes):
            more = self.summed(left) / (self.n + self.shrink)
            left = left - [self.mean_over(more, step.s, step.a) for step in self.transitions]
            c += more
        return c, left

    def summed(self, values):
        """The sum of some values of transitions in each cell."""
        total = np.zeros_like(self.n)
        for value, t in zip(values, self.transitions, strict=True):
            for p in range(self.P):
                total[p, self.cells[t.s, p], t.a] += value
        return total
