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
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.estimators.estimate import Estimate, undetermined
from ucls.evaluation.comparison.estimators.systems import Design, Part, dense
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
    return evaluate_all(design, [policy], [at])[0]


def evaluate_all(design: Design, policies: Sequence[OnLog], at: Sequence[np.ndarray | None]) -> list[Evaluated]:
    """The values of several policies, while the features are at hand."""
    design.prepare(policies)
    starts = design.basis.rows(design.log.starts)
    every = [_Evaluation(design, policy, starts, rows) for policy, rows in zip(policies, at, strict=True)]
    ends = np.cumsum([0, *(len(each.weights) for each in every)])
    weights = np.concatenate([each.weights for each in every]).T
    for part in design.parts():
        now, later = part.times(weights)
        for each, begin, end in zip(every, ends[:-1], ends[1:], strict=True):
            each.add(part, now[:, begin:end], later[:, begin:end])
    return [each.finished() for each in every]


def td_errors(
    log: EpisodeLog, policy: OnLog, usable: np.ndarray, rows: np.ndarray, q: np.ndarray, q_next: np.ndarray
) -> np.ndarray:
    """The TD errors of some rows, from the values of all actions here and next; 0 where the next state is unknown."""
    follows = log.discount[rows] * (policy.after[rows] * q_next).sum(axis=1)
    errors = log.reward[rows] + follows - q[np.arange(len(q)), log.action[rows]]
    return np.where(usable[rows], errors, 0.0)


class _Evaluation:
    """The evaluation of a policy: its values and, for every row, its TD error and n wanted' S^-1 x_t."""

    def __init__(self, design: Design, policy: OnLog, starts: Any, at: np.ndarray | None):
        self.log, self.policy = design.log, policy
        n, n_actions = self.log.n_episodes, len(self.log.actions)
        S, b, usable = design.sums(policy)
        self.fit = solve(S.sum(axis=0), b.sum(axis=0), n_actions, usable)
        now = policy.now[self.log.first[:-1]]
        self.values, m = (now * self.fit.q(starts)).sum(axis=1), (starts.T @ now).T.ravel() / n
        self.wanted = m[None] if at is None else np.vstack([m, at])
        directions = (n * self.wanted @ self.fit.inverse).reshape(len(self.wanted) * n_actions, -1)
        self.weights = np.vstack([self.fit.theta, directions])
        self.leave = is_left_out(self.log, self.fit.theta.size)
        self.scores, self.residuals = np.zeros((self.log.n_steps, len(self.wanted))), np.zeros(self.log.n_steps)
        self.delta = np.zeros(self.log.n_steps) if self.leave else self.residuals

    def add(self, part: Part, now: np.ndarray, later: np.ndarray) -> None:
        """Some rows, with the products of their features and those of their next states with the weights."""
        log, policy, n_actions = self.log, self.policy, len(self.log.actions)
        q, q_next = now[:, :n_actions], later[:, :n_actions]
        self.residuals[part.rows] = td_errors(log, policy, self.fit.usable, part.rows, q, q_next)
        if self.leave:
            rows, here, after = part.in_order()
            x, gap = pairs(log, policy, self.fit.usable, rows, here, after)
            begin, end = np.searchsorted(log.first, (rows.start, rows.stop))
            first = log.first[begin : end + 1] - rows.start
            self.delta[rows] = left_out(first, x, gap @ self.fit.inverse, self.residuals[rows])
        every = now[:, n_actions:].reshape(-1, len(self.wanted), n_actions)
        self.scores[part.rows] = every[np.arange(len(every)), :, log.action[part.rows]]

    def finished(self) -> Evaluated:
        """The result, once all rows have been added."""
        log, fit = self.log, self.fit
        with np.errstate(invalid="ignore"):  # of infinite ones
            scores = np.add.reduceat(self.scores * self.delta[:, None], log.first[:-1], axis=0)
        value = float(self.values.mean())
        found = [Estimate(value, self.values - value + scores[:, 0])]
        found += [Estimate(float(w @ fit.theta.ravel()), scores[:, 1 + i]) for i, w in enumerate(self.wanted[1:])]
        shown, none = self.policy.outside.max(initial=0.0) == 0, undetermined(log.n_episodes)
        sound = [each if yes and shown else none for each, yes in zip(found, fit.determines(self.wanted), strict=True)]
        return Evaluated(sound[0], sound[1:], self.residuals, len(fit.inverse) - fit.null.shape[1])


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
