"""LSTD-Q(lambda): how much an estimate depends on lambda.

With the traces of tree backups (Precup, Sutton and Singh, 2000), pi being the evaluated policy,

    z_t = x_t + gamma lambda pi(a_t|s_t) z_{t-1},   S = sum z_t (x_t - gamma x_bar(s'_t))',   b = sum z_t r_t,

theta = S^-1 b estimates the same values for every lambda if the state is Markov and the features represent them: no
probabilities of the logged actions are needed. With lambda 0 it is LSTD-Q. If estimates with different lambda disagree
by more than their noise, one of the two does not hold: a hidden cause acts over several steps, and a larger lambda sees
more of it. Influences are those of LSTD-Q with z_t in place of the first x_t, and episodes are left out as there.

Logs with many rows or features are represented by some of their episodes, spread over all.
"""

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.estimators.estimate import Estimate, undetermined
from ucls.evaluation.comparison.estimators.lstd_q import is_left_out, left_out, pairs, solve
from ucls.evaluation.comparison.estimators.systems import dense
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

LAMBDAS = (0.0, 0.5, 0.9)
ENTRIES, WORK = 1e7, 2e9  # entries of the matrix of all x, and multiplications, that may be spent on it


def sample(log: EpisodeLog, d: int) -> np.ndarray:
    """The episodes that represent a log with d features: all of them, if that is cheap."""
    rows = min(ENTRIES / d, WORK / d**2)
    count = int(np.clip(log.n_episodes * rows / log.n_steps, 2, log.n_episodes))
    return np.linspace(0, log.n_episodes - 1, count).astype(np.int64)


def some_of(policy: OnLog, log: EpisodeLog, episodes: np.ndarray) -> OnLog:
    """A policy in the rows of some episodes."""
    rows = np.isin(log.episode, episodes)
    return OnLog(*(each[rows] for each in policy))


def by_lambda(log: EpisodeLog, basis: Basis, policy: OnLog) -> list[Estimate]:
    """The value of a policy over the start states with every one of `LAMBDAS`."""
    rows, n_actions = basis.rows(log.states), len(log.actions)
    usable = policy.known & (log.has_next | log.terminated)
    x, gap = pairs(log, policy, usable, slice(0, log.n_steps), rows, basis.rows(log.next_states))
    starts, now = dense(rows)[log.first[:-1]], policy.now[log.first[:-1]]
    m = (starts.T @ now).T.ravel() / log.n_episodes
    found = []
    for lambda_ in LAMBDAS:
        z = traces(log, x, lambda_ * usable * policy.now[np.arange(log.n_steps), log.action])
        fit = solve(z.T @ gap, z.T @ log.reward, n_actions, usable)
        delta = np.where(usable, log.reward, 0.0) - gap @ fit.theta.ravel()
        if is_left_out(log, len(m)):
            delta = left_out(log.first, z, gap @ fit.inverse, delta)
        with np.errstate(invalid="ignore"):  # of infinite ones
            scores = log.n_episodes * np.add.reduceat(z @ (m @ fit.inverse) * delta, log.first[:-1])
        values = (now * fit.q(starts)).sum(axis=1)
        known = fit.determines(m[None])[0] and policy.outside.max(initial=0.0) == 0
        value = Estimate(float(values.mean()), values - values.mean() + scores)
        found.append(value if known else undetermined(log.n_episodes))
    return found


def traces(log: EpisodeLog, x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """z_t = x_t + gamma factor_t z_{t-1} within every episode."""
    z, decay = x.copy(), np.zeros(log.n_steps)
    decay[1:] = np.where(log.follows[:-1], log.discount[:-1], 0.0) * factor[1:]
    for k in range(1, int(log.lengths.max())):
        row = log.first[:-1][log.lengths > k] + k
        z[row] += decay[row, None] * z[row - 1]
    return z
