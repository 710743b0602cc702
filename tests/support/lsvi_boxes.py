"""UCB-Q, LSVI-UCB, LSVI-PHE and tabular RLSVI in plain dense NumPy, from their papers' pseudocode: the oracles.

`horizon` 0 is the discounted form: one regression, iterated until V stays. Every regression is on the list of all
transitions; nothing is carried over but w. `return_max` must be above every return.
"""

import numpy as np


class Timed:
    """The step of the episode, and the range of values."""

    def __init__(self, horizon, return_max):
        self.H, self.h, self.v0 = horizon, 0, return_max
        self.worst, self.discount, self.steps, self.longest = 0.0, 0.0, 0, 0

    def start(self, rng):
        self.h = self.steps = 0

    def see(self, r, gamma):
        self.worst, self.discount = min(self.worst, r), max(self.discount, gamma)
        self.steps += 1
        self.longest = max(self.longest, self.steps)

    @property
    def span(self):
        return 1 / (1 - self.discount) if self.discount < 1 else self.longest

    @property
    def vmin(self):
        return min(self.worst * self.span, self.v0)


class UCBQ(Timed):
    """Algorithm 1 of Jin et al. 2018, for one-hot features: x'Q is the entry of Q."""

    def __init__(self, d, bonus_scale, return_max, horizon):
        super().__init__(horizon, return_max)
        self.Q, self.N = np.zeros((max(1, horizon), d)), np.zeros((max(1, horizon), d))
        self.scale = bonus_scale

    def b(self, t):
        return self.scale * (self.v0 - self.vmin) * np.sqrt((self.H or self.span) / t)

    def values(self, xs, h=None):
        h = self.h if h is None else h
        return np.where(xs @ self.N[h] > 0, xs @ self.Q[h], self.v0 + self.b(1))

    def update(self, x, xs, a, r, gamma, xs_next, rng):
        self.see(r, gamma)
        pair, h = np.argmax(x), self.h
        after = (h + 1) % self.H if self.H else 0
        ahead = 0.0
        if gamma > 0 and (not self.H or h + 1 < self.H):
            ahead = min(self.v0, self.values(xs_next, after).max())
        self.N[h, pair] += 1
        t, H = self.N[h, pair], self.H or self.span
        alpha = (H + 1) / (H + t)
        self.Q[h, pair] = (1 - alpha) * self.Q[h, pair] + alpha * (r + gamma * ahead + self.b(t))
        self.h = after


class LSVI(Timed):
    """Least-squares value iteration; a subclass says what is added to regressions and to values."""

    def __init__(self, d, ridge, return_max, horizon, samples=1):
        super().__init__(horizon, return_max)
        self.data = [[] for _ in range(max(1, horizon))]  # of each step: x, r, gamma, xs_next
        self.states = []
        self.d, self.ridge, self.w = d, ridge, np.zeros((samples, max(1, horizon), d))

    def Lambda(self, h):
        X = np.array([x for x, *_ in self.data[h]]).reshape(-1, self.d)
        return self.ridge * np.eye(self.d) + X.T @ X

    def bonus(self, h, xs):
        return np.zeros(len(xs))

    def Q(self, h, xs):
        return (xs @ self.w[:, h].T).max(axis=1) + self.bonus(h, xs)

    def values(self, xs):
        return np.minimum(np.maximum(self.Q(self.h, xs), self.vmin), self.v0)

    def V(self, h, xs):
        return np.clip(self.Q(h, xs).max(), self.vmin, self.v0)

    def regress(self, h, V, p, noise):
        """w of step h for every sample; `noise[m]` has a number for each transition."""
        for m in range(len(self.w)):
            b = p[m, h].copy()
            for (x, r, gamma, xs_next), xi in zip(self.data[h], noise[m], strict=True):
                b += x * (r + xi + (gamma * V(xs_next) if gamma > 0 else 0.0))
            self.w[m, h] = np.linalg.solve(self.Lambda(h), b)

    def plan(self, p, noise):
        if self.H:
            for h in reversed(range(self.H)):
                self.regress(h, lambda xs, h=h: self.V(h + 1, xs) if h + 1 < self.H else 0.0, p, noise[h])
            return
        before = None
        for _ in range(200):
            V = {xs.tobytes(): self.V(0, xs) for xs in self.states}
            change = max((abs(V[s] - before[s]) for s in V), default=0.0) if before is not None else np.inf
            if change <= 1e-4 * (self.v0 - self.vmin):
                break
            self.regress(0, lambda xs, V=V: V[xs.tobytes()], p, noise[0])
            before = V

    def zeros(self):
        """No perturbation, of w and of targets."""
        return np.zeros(self.w.shape), [np.zeros((len(self.w), len(data))) for data in self.data]

    def remember(self, x, xs, r, gamma, xs_next):
        self.see(r, gamma)
        self.data[self.h].append((x, r, gamma, xs_next))
        self.states += [xs, xs_next] if gamma > 0 else [xs]
        if self.H:
            self.h = (self.h + 1) % self.H


class LSVIUCB(LSVI):
    """Jin et al. 2020, recomputed when a determinant has grown by a factor."""

    def __init__(self, d, bonus_scale, ridge, return_max, horizon, growth):
        super().__init__(d, ridge, return_max, horizon)
        self.scale, self.growth = bonus_scale, growth
        self.last = [np.linalg.slogdet(self.Lambda(h))[1] for h in range(max(1, horizon))]
        self.solves = 0

    def bonus(self, h, xs):
        inverse = np.linalg.inv(self.Lambda(h))
        return self.scale * (self.v0 - self.vmin) * np.sqrt(np.einsum("ai,ij,aj->a", xs, inverse, xs))

    def values(self, xs):
        return np.minimum(self.Q(self.h, xs), self.v0)

    def look(self):
        now = [np.linalg.slogdet(self.Lambda(h))[1] for h in range(len(self.last))]
        if max(b - a for a, b in zip(self.last, now, strict=True)) >= np.log(self.growth) - 1e-12:
            self.plan(*self.zeros())
            self.last, self.solves = now, self.solves + 1

    def start(self, rng):
        super().start(rng)
        self.look()

    def update(self, x, xs, a, r, gamma, xs_next, rng):
        self.remember(x, xs, r, gamma, xs_next)
        if self.h == 0:
            self.look()


class Sampled(LSVI):
    """Draws noise at the start of episodes, and every so many steps where there is no horizon."""

    def __init__(self, d, sigma, ridge, resample_every, return_max, horizon, samples=1):
        super().__init__(d, ridge, return_max, horizon, samples)
        self.sigma, self.every, self.since = sigma, resample_every, 0

    def start(self, rng):
        super().start(rng)
        self.sample(rng)

    def sample(self, rng):
        self.plan(*self.noise(rng))
        self.since = 0

    def update(self, x, xs, a, r, gamma, xs_next, rng):
        self.remember(x, xs, r, gamma, xs_next)
        self.since += 1
        if self.h == 0 if self.H else self.since == self.every:
            self.sample(rng)


class RLSVITabular(Sampled):
    """Russo 2019: the value of a state and action has noise of variance sigma^2 / (n + prior)."""

    def noise(self, rng):
        p, none = self.zeros()
        for h in range(p.shape[1]):
            n = np.diag(self.Lambda(h))  # visits and those of the prior
            p[0, h] = self.sigma * (self.v0 - self.vmin) * rng.standard_normal(self.d) * np.sqrt(n)
        return p, none

    def values(self, xs):
        return self.Q(self.h, xs)


class LSVIPHE(Sampled):
    """Ishfaq et al. 2021; the noise of equal transitions is drawn as a sum, which the first of them gets."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.when, self.sources = ([[] for _ in self.data] for _ in range(2))

    def noise(self, rng):
        p, noise = self.zeros()
        sigma, moves = self.sigma * (self.v0 - self.vmin), self.moves()
        for m in range(len(self.w)):
            p[m] = sigma * np.sqrt(self.ridge) * rng.standard_normal(p[m].shape)
            for (h, i), visits in moves.values():
                noise[h][m, i] = sigma * np.sqrt(visits) * rng.standard_normal()
        return p, noise

    def moves(self):
        """The distinct transitions in the order of their first visits: where that is, and how many there are."""
        found = {}
        for _, h, i in sorted((t, h, i) for h, data in enumerate(self.when) for i, t in enumerate(data)):
            x, _, gamma, xs_next = self.data[h][i]
            move = h, x.tobytes(), self.sources[h][i], gamma > 0 and xs_next.tobytes()
            first, visits = found.get(move, ((h, i), 0))
            found[move] = first, visits + 1
        return found

    def remember(self, x, xs, r, gamma, xs_next):
        self.when[self.h].append(sum(map(len, self.when)))
        self.sources[self.h].append(xs.tobytes())
        super().remember(x, xs, r, gamma, xs_next)
