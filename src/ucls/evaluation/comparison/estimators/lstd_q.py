"""LSTD-Q: the value of a policy from transitions of another one, by least squares, with episodes as clusters.

With features x(s, a) and x_bar(s') the mean of x(s', a') over the actions of the evaluated policy,

    A = mean over episodes of sum_t x_t (x_t - gamma x_bar(s'_t))',   b = that of sum_t x_t r_t,   theta = A^-1 b,

and the value is m'theta, m being the mean of x_bar over the start states. The influence of episode i is

    x_bar(s_i0)'theta - m'theta  +  m'A^-1 sum_t x_t delta_t,       delta_t = r_t + gamma x_bar(s'_t)'theta - x_t'theta,

which is Theorem 1's sandwich with episodes as clusters. For up to `LEAVE_OUT` episodes the TD errors of an episode are
those under the theta of all others (with U and V the rows x_t and x_t - gamma x_bar(s'_t) of the episode, and S the sum
of all episodes, they are (I - V S^-1 U')^-1 delta), because an episode pulls theta toward itself.

Assumptions: the next state and the reward depend on the past through the state and the action only; episodes are
independent; the log shows the actions of the evaluated policy wherever that policy goes; and the features represent its
values, or else theta is only the nearest fixed point. Probabilities of the logged actions are not needed. A step whose
next state is unknown, the last one before a truncation, is left out.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.estimators.estimate import Estimate, undetermined
from ucls.evaluation.comparison.estimators.systems import Design, dense
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

LEAVE_OUT = 500  # episodes up to which TD errors are those under the theta of all others
WORK = 2e11  # multiplications that leaving out may cost
RANK = 1e-10  # of the largest singular value of A: below that a direction counts as unseen
SEEN = 1e-6  # of |m|: more than that in unseen directions, and the value is not determined


class Fit(NamedTuple):
    """Weights theta (a row for each action), the inverse of the sum S over episodes, and unseen directions."""

    theta: np.ndarray
    inverse: np.ndarray
    null: np.ndarray
    usable: np.ndarray

    def q(self, rows: Any) -> np.ndarray:
        """The value of every action, for rows of state features."""
        return rows @ self.theta.T

    def determines(self, wanted: np.ndarray) -> np.ndarray:
        """Whether theta in some directions follows from the data."""
        return np.linalg.norm(wanted @ self.null, axis=1) <= SEEN * np.linalg.norm(wanted, axis=1)


def solve(S: np.ndarray, b: np.ndarray, n_actions: int, usable: np.ndarray) -> Fit:
    """Solve S theta = b with the inverse or, if no bound of the condition number rules out unseen directions, with the
    pseudoinverse."""
    inverse, null = _inverse(S)
    return Fit((inverse @ b).reshape(n_actions, -1), inverse, null, usable)


def _inverse(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        inverse = np.linalg.inv(S)
        if np.linalg.norm(S) * np.linalg.norm(inverse) < 1 / RANK:  # no less than the condition number
            return inverse, np.zeros((len(S), 0))
    except np.linalg.LinAlgError:
        pass
    left, singular, right = np.linalg.svd(S)
    rank = int((singular > RANK * singular.max(initial=0.0)).sum())
    return (right[:rank].T / singular[:rank]) @ left[:, :rank].T, right[rank:].T


class Evaluated(NamedTuple):
    """The value over the start states, the values at chosen states, the TD error of every row, and the rank of S."""

    value: Estimate
    at: list[Estimate]
    residuals: np.ndarray
    rank: int


def evaluate(design: Design, policy: OnLog, at: np.ndarray | None = None) -> Evaluated:
    """The value of a policy over the start states and, for rows `at` of mean features x_bar(s), the value of each."""
    log = design.log
    S, b, usable = design.sums(policy)
    fit = solve(S.sum(axis=0), b.sum(axis=0), len(log.actions), usable)
    starts, now = design.basis.rows(log.starts), policy.now[log.first[:-1]]
    values, m = (now * fit.q(starts)).sum(axis=1), (starts.T @ now).T.ravel() / log.n_episodes
    wanted = m[None] if at is None else np.vstack([m, at])
    scores, residuals = _scores(design, policy, fit, wanted)
    seen = fit.determines(wanted)
    found = [Estimate(float(values.mean()), values - values.mean() + scores[:, 0])]
    found += [Estimate(float(row @ fit.theta.ravel()), scores[:, 1 + i]) for i, row in enumerate(wanted[1:])]
    shown = policy.outside.max(initial=0.0) == 0
    sound = [each if yes and shown else undetermined(log.n_episodes) for each, yes in zip(found, seen, strict=True)]
    return Evaluated(sound[0], sound[1:], residuals, len(fit.inverse) - fit.null.shape[1])


def td_errors(
    log: EpisodeLog, policy: OnLog, usable: np.ndarray, rows: np.ndarray, q: np.ndarray, q_next: np.ndarray
) -> np.ndarray:
    """The TD errors of some rows, from the values of all actions here and next; 0 where the next state is unknown."""
    follows = log.discount[rows] * (policy.after[rows] * q_next).sum(axis=1)
    errors = log.reward[rows] + follows - q[np.arange(len(q)), log.action[rows]]
    return np.where(usable[rows], errors, 0.0)


def _scores(design: Design, policy: OnLog, fit: Fit, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every episode, n wanted' S^-1 sum_t x_t delta_t, with the TD errors of episodes that are left out; and the TD
    error of every row, with none left out."""
    log = design.log
    n_actions = len(log.actions)
    directions = (log.n_episodes * wanted @ fit.inverse).reshape(len(wanted) * n_actions, -1)
    leave = is_left_out(log, fit.theta.size)
    found, residuals = np.zeros((log.n_steps, len(wanted))), np.zeros(log.n_steps)
    delta = residuals if not leave else np.zeros(log.n_steps)
    weights = np.vstack([fit.theta, directions]).T
    for part in design.parts():
        rows = part.rows
        now, later = part.times(weights)
        residuals[rows] = td_errors(log, policy, fit.usable, rows, now[:, :n_actions], later[:, :n_actions])
        if leave:
            ordered, here, after = part.in_order()
            x, gap = pairs(log, policy, fit.usable, ordered, here, after)
            begin, end = np.searchsorted(log.first, (ordered.start, ordered.stop))
            first = log.first[begin : end + 1] - ordered.start
            delta[ordered] = left_out(first, x, gap @ fit.inverse, residuals[ordered])
        every = now[:, n_actions:].reshape(-1, len(wanted), n_actions)
        found[rows] = every[np.arange(len(every)), :, log.action[rows]]
    with np.errstate(invalid="ignore"):  # of infinite ones
        return np.add.reduceat(found * delta[:, None], log.first[:-1], axis=0), residuals


def is_left_out(log: EpisodeLog, d: int) -> bool:
    """Whether the TD errors of an episode are those under the theta of all others."""
    lengths = log.lengths.astype(np.float64)
    cost = float(log.n_steps) * d**2 + float((np.minimum(lengths, d) ** 2 * lengths).sum())
    return log.n_episodes <= LEAVE_OUT and cost <= WORK


def pairs(
    log: EpisodeLog, policy: OnLog, usable: np.ndarray, rows: slice, here: Any, after: Any
) -> tuple[np.ndarray, np.ndarray]:
    """x_t and x_t - gamma x_bar(s'_t) of some rows, 0 where the next state is unknown."""
    here, after = dense(here), dense(after)
    x = np.zeros((len(here), len(log.actions), here.shape[1]))
    x[np.arange(len(here)), log.action[rows]] = here
    gap = x - (log.discount[rows, None] * policy.after[rows])[:, :, None] * after[:, None, :]
    x, gap = x.reshape(len(here), -1), gap.reshape(len(here), -1)
    x[~usable[rows]] = gap[~usable[rows]] = 0.0
    return x, gap


def left_out(first: np.ndarray, x: np.ndarray, gap: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """TD errors of every episode under the theta of all others; `gap` is V S^-1 of all episodes."""
    found = delta.copy()
    for begin, end in itertools.pairwise(first.tolist()):
        leverage = gap[begin:end] @ x[begin:end].T
        try:
            found[begin:end] = np.linalg.solve(np.eye(end - begin) - leverage, delta[begin:end])
        except np.linalg.LinAlgError:  # without this episode nothing is determined
            found[begin:end] = np.inf
    return found
