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
    values = (now * fit.q(starts)).sum(axis=1)
    m = (starts.T @ now).T.ravel() / log.n_episodes
    wanted = m[None] if at is None else np.vstack([m, at])
    scores, residuals = _scores(design, policy, fit, wanted)
    seen = np.linalg.norm(wanted @ fit.null, axis=1) <= SEEN * np.linalg.norm(wanted, axis=1)
    found = [Estimate(float(values.mean()), values - values.mean() + scores[:, 0])]
    found += [Estimate(float(row @ fit.theta.ravel()), scores[:, 1 + i]) for i, row in enumerate(wanted[1:])]
    shown = policy.outside.max(initial=0.0) == 0
    sound = [each if yes and shown else undetermined(log.n_episodes) for each, yes in zip(found, seen, strict=True)]
    return Evaluated(sound[0], sound[1:], residuals, len(fit.inverse) - fit.null.shape[1])


def td_errors(log: EpisodeLog, policy: OnLog, fit: Fit, rows: Any, q: np.ndarray, after: Any) -> np.ndarray:
    """The TD errors of some rows, from the values of their actions; 0 where the next state is unknown."""
    follows = log.discount[rows] * (policy.after[rows] * fit.q(after)).sum(axis=1)
    errors = log.reward[rows] + follows - q[np.arange(len(q)), log.action[rows]]
    return np.where(fit.usable[rows], errors, 0.0)


def _scores(design: Design, policy: OnLog, fit: Fit, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every episode, n wanted' S^-1 sum_t x_t delta_t, with the TD errors of episodes that are left out; and the TD
    error of every row, with none left out."""
    log, d = design.log, fit.theta.size
    directions = (log.n_episodes * wanted @ fit.inverse).reshape(len(wanted), len(log.actions), -1)
    lengths = log.lengths.astype(np.float64)
    cost = float(log.n_steps) * d**2 + float((np.minimum(lengths, d) ** 2 * lengths).sum())
    leave = log.n_episodes <= LEAVE_OUT and cost <= WORK
    found, residuals = np.zeros((log.n_steps, len(wanted))), np.zeros(log.n_steps)
    delta = residuals if not leave else np.zeros(log.n_steps)
    for rows, here, after in design.parts():
        residuals[rows] = td_errors(log, policy, fit, rows, fit.q(here), after)
        if leave:
            delta[rows] = residuals[rows]
            _leave_out(design, policy, fit, rows, dense(here), dense(after), delta)
        for a in range(len(log.actions)):
            chosen = np.flatnonzero(log.action[rows] == a)
            found[rows.start + chosen] = here[chosen] @ directions[:, a].T
    return np.add.reduceat(found * delta[:, None], log.first[:-1], axis=0), residuals


def _leave_out(
    design: Design, policy: OnLog, fit: Fit, rows: slice, here: np.ndarray, after: np.ndarray, delta: np.ndarray
) -> None:
    """Replace the TD errors of some rows by those under the theta of all other episodes."""
    log = design.log
    x = np.zeros((len(here), *fit.theta.shape))
    x[np.arange(len(here)), log.action[rows]] = here
    gap = x - (log.discount[rows, None] * policy.after[rows])[:, :, None] * after[:, None, :]
    x, gap = x.reshape(len(here), -1), gap.reshape(len(here), -1)
    x[~fit.usable[rows]] = gap[~fit.usable[rows]] = 0.0
    gap = gap @ fit.inverse
    begin, end = np.searchsorted(log.first, (rows.start, rows.stop))
    for i in range(begin, end):
        part = slice(log.first[i] - rows.start, log.first[i + 1] - rows.start)
        own = slice(log.first[i], log.first[i + 1])
        leverage = gap[part] @ x[part].T
        try:
            delta[own] = np.linalg.solve(np.eye(len(leverage)) - leverage, delta[own])
        except np.linalg.LinAlgError:  # without this episode nothing is determined
            delta[own] = np.inf
