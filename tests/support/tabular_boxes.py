"""The pseudocode of the model-based tabular baselines, as plain dense NumPy on arrays of states and actions.

Next states have one more number, the last, for termination. Nothing is optimized.
"""

import math

import numpy as np


class Box:
    """What was seen: chances of next states as counts, rewards, discounts; the step of the episode, and all steps."""

    def __init__(self, S, A, hyper):
        self.S, self.A, self.hyper = S, A, hyper
        self.counts, self.rewards = np.zeros((S, A, S + 1)), [[[] for _ in range(A)] for _ in range(S)]
        self.discounts = np.zeros((S, A, S + 1))
        self.order = [[[] for _ in range(A)] for _ in range(S)]  # next states, as they were first seen
        self.step, self.t, self.first = 0, 0, 0

    def start(self):
        self.step = 0

    def see(self, s, a, r, gamma, s_next):
        if self.step == 0:
            self.first = s
        self.counts[s, a, s_next] += 1
        self.discounts[s, a, s_next] += gamma
        self.rewards[s][a].append(r)
        if s_next not in self.order[s][a]:
            self.order[s][a].append(s_next)
        self.step, self.t = self.step + 1, self.t + 1

    @property
    def n(self):
        return self.counts.sum(axis=2)

    @property
    def chances(self):
        return self.counts / np.maximum(1, self.n)[:, :, None]

    @property
    def mean_rewards(self):
        return np.array([[np.mean(r) if r else 0.0 for r in row] for row in self.rewards])


class RMax(Box):
    """R-max: known pairs have their empirical model, all others the maximum return."""

    def __init__(self, S, A, hyper):
        super().__init__(S, A, hyper)
        self.q = np.full((S, A), hyper.return_max)

    def learn(self, s, a, r, gamma, s_next):
        if self.n[s, a] == self.hyper.visits:
            return
        self.see(s, a, r, gamma, s_next)
        known = self.n == self.hyper.visits
        for _ in range(5000):
            ahead = np.append(self.q.max(axis=1), 0.0)
            target = self.mean_rewards + (self.discounts * ahead).sum(axis=2) / np.maximum(1, self.n)
            self.q = np.where(known, np.minimum(self.hyper.return_max, target), self.hyper.return_max)


class Oim(Box):
    """The optimistic initial model: one visit of every pair led to a state worth the maximum return."""

    def __init__(self, S, A, hyper):
        super().__init__(S, A, hyper)
        self.q = np.full((S, A), hyper.return_max)

    def learn(self, s, a, r, gamma, s_next):
        self.see(s, a, r, gamma, s_next)
        for _ in range(2000):
            ahead = np.append(np.minimum(self.hyper.return_max, self.q.max(axis=1)), 0.0)
            total = self.n * self.mean_rewards + (self.discounts * ahead).sum(axis=2)
            self.q = (self.hyper.return_max + total) / (1 + self.n)


class Ucbvi(Box):
    """UCBVI-BF: the values of all steps, planned at the beginning of every episode."""

    def __init__(self, S, A, hyper):
        super().__init__(S, A, hyper)
        self.q = np.full((hyper.horizon, S, A), hyper.horizon * hyper.reward_max)
        self.met = np.zeros((hyper.horizon + 1, S + 1))

    def learn(self, s, a, r, gamma, s_next):
        self.met[self.step % self.hyper.horizon, s] += 1
        self.see(s, a, r, gamma, s_next)
        if self.step % self.hyper.horizon == 0:
            self.plan()

    def start(self):
        if self.step % self.hyper.horizon:
            self.plan()
        super().start()

    def plan(self):
        H, S, A, n, p = self.hyper.horizon, self.S, self.A, self.n, self.chances
        most, L, v = H * self.hyper.reward_max, math.log(5 * S * A * max(1, self.t) / self.hyper.delta), np.zeros(S + 1)
        for h in reversed(range(H)):
            for s, a in np.argwhere(n > 0):
                variance = p[s, a] @ v**2 - (p[s, a] @ v) ** 2
                doubt = 0.0
                for y in range(S):
                    met = self.met[h + 1, y] if h + 1 < H else 0
                    seldom = 100**2 * H * most**2 * S**2 * A * L**2 / met if met else most**2
                    doubt += p[s, a, y] * min(seldom, most**2)
                b = math.sqrt(8 * L * max(0, variance) / n[s, a]) + 14 * most * L / (3 * n[s, a])
                b += math.sqrt(8 * doubt / n[s, a])
                target = self.mean_rewards[s, a] + p[s, a] @ v + self.hyper.bonus_scale * b
                self.q[h, s, a] = min(self.q[h, s, a], most, target)
            v = np.append(self.q[h].max(axis=1), 0.0)


class Phases(Box):
    """What UCRL2 and PSRL have in common: when they plan."""

    def __init__(self, S, A, hyper):
        super().__init__(S, A, hyper)
        self.q, self.before = np.zeros((max(1, hyper.horizon), S, A)), np.zeros((S, A))

    def learn(self, s, a, r, gamma, s_next):
        self.see(s, a, r, gamma, s_next)
        if self.hyper.horizon:
            due = self.step % self.hyper.horizon == 0
        else:
            s_next = self.first if s_next == self.S else s_next
            a_next = int(np.argmax(self.q[0, s_next]))
            due = self.n[s_next, a_next] - self.before[s_next, a_next] >= max(1, self.before[s_next, a_next])
        if due:
            self.begin_phase()

    def start(self):
        if self.at_start():
            self.begin_phase()
        super().start()

    def at_start(self):
        return self.hyper.horizon and self.step % self.hyper.horizon

    def begin_phase(self):
        self.before = self.n.copy()
        self.plan()

    def plan(self):
        raise NotImplementedError

    def iterate(self, back_up, tolerance):
        """Relative value iteration, or backward induction, with `back_up(v)`; the last entry of v is termination."""
        H, v = self.hyper.horizon, np.zeros(self.S)
        for h in reversed(range(H)):
            self.q[h] = back_up(np.append(v, 0.0))
            v = self.q[h].max(axis=1)
        while not H:
            self.q[0] = back_up(np.append(v, v[self.first]))
            new = self.q[0].max(axis=1)
            change, v = np.ptp(new - v), new - new.min()
            if change < tolerance:
                return


class Ucrl2(Phases):
    """UCRL2: extended value iteration."""

    def plan(self):
        S, A, n, p, t, hyper = self.S, self.A, self.n, self.chances, max(1, self.t), self.hyper
        wide = np.sqrt(7 * np.log(2 * S * A * t / hyper.delta) / (2 * np.maximum(1, n))) * hyper.radius_scale
        reward = np.where(n > 0, np.minimum(1, self.mean_rewards / hyper.reward_max + wide), 1) * hyper.reward_max
        radius = np.sqrt(14 * S * np.log(2 * A * t / hyper.delta) / np.maximum(1, n)) * hyper.radius_scale

        def back_up(v):
            best = int(np.argmax(v[:S]))
            q = reward.copy()
            for s, a in np.ndindex(S, A):
                chance = p[s, a].copy() if n[s, a] else np.eye(S + 1)[best]
                chance[best] = min(1, chance[best] + radius[s, a] / 2)
                for worst in np.argsort(v, kind="stable"):
                    if worst != best:
                        chance[worst] = max(0, chance[worst] - max(0, chance.sum() - 1))
                q[s, a] += chance @ v
            return q

        self.iterate(back_up, hyper.reward_max / math.sqrt(t))


class Psrl(Phases):
    """PSRL: a model drawn from the posterior; `rng` is in the state that the learner's was in."""

    def __init__(self, S, A, hyper, rng, tolerance):
        super().__init__(S, A, hyper)
        self.rng, self.tolerance = rng, tolerance

    def at_start(self):
        return self.t == 0 or super().at_start()

    def plan(self):
        chances, rewards = np.zeros((self.S, self.A, self.S + 1)), np.zeros((self.S, self.A))
        for s, a in np.ndindex(self.S, self.A):
            seen = self.order[s][a][::-1]
            for s_next in seen + [s_next for s_next in range(self.S) if s_next not in seen]:
                prior = self.hyper.chance_prior / self.S if s_next < self.S else 0
                chances[s, a, s_next] = self.rng.gamma(prior + self.counts[s, a, s_next])
            rewards[s, a] = self.draw_reward(np.array(self.rewards[s][a]) / self.hyper.reward_max)
        chances /= chances.sum(axis=2, keepdims=True)
        self.iterate(lambda v: rewards + chances @ v, self.tolerance * self.hyper.reward_max)

    def draw_reward(self, r):
        """The posterior of a normal-gamma prior with mean 0, shape 1 and rate 1."""
        n, k = len(r), self.hyper.visits_prior
        mean = r.mean() if n else 0.0
        rate = 1 + ((r - mean) ** 2).sum() / 2 + k * n * mean**2 / (2 * (k + n))
        precision = self.rng.gamma(1 + n / 2) / rate
        return self.hyper.reward_max * (n * mean / (k + n) + self.rng.normal() / math.sqrt((k + n) * precision))
