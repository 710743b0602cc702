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

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.estimate import Estimate, undetermined
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

LEAVE_OUT = 500  # episodes up to which TD errors are those under the theta of all others
WORK = 2e11  # multiplications that leaving out may cost
RANK = 1e-10  # of the largest singular value of A: below that a direction counts as unseen
SEEN = 1e-6  # of |m|: more than that in unseen directions, and the value is not determined
CHUNK, LEAST = 1 << 18, 512  # entries of a matrix of features, and its rows at least
KEPT = 3e7  # entries up to which features are computed once


class Design:
    """The features of a log, in parts of some rows: those of the states, and those of the next states."""

    def __init__(self, log: EpisodeLog, basis: Basis):
        self.log, self.basis = log, basis
        step = max(LEAST, CHUNK // max(1, basis.size))
        cuts = np.searchsorted(log.first, np.arange(step, log.n_steps, step))
        edges = np.unique(np.concatenate([[0], log.first[cuts], [log.n_steps]]))
        self._edges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        self._kept: list[tuple[slice, Any, Any]] | None = None
        if basis.size * log.n_steps <= KEPT:
            self._kept = list(self._made())

    def parts(self) -> Iterator[tuple[slice, Any, Any]]:
        """The rows, the features of their states, and those of their next states (0 where there is none)."""
        yield from self._made() if self._kept is None else self._kept

    def _made(self) -> Iterator[tuple[slice, Any, Any]]:
        log = self.log
        for begin, end in self._edges:
            rows = slice(begin, end)
            here = self.basis.rows(log.states[rows])
            if isinstance(here, np.ndarray):
                after = np.zeros_like(here)
                after[:-1] = here[1:]
                after[~log.follows[rows]] = 0.0
                alone = np.flatnonzero(log.has_next[rows] & ~log.follows[rows])
                if len(alone):
                    after[alone] = self.basis.rows(log.next_states[rows][alone])
            else:
                after = self.basis.rows(log.next_states[rows])
            yield rows, here, after


class Fit(NamedTuple):
    """Weights theta (a row for each action), the inverse of the sum S over episodes, and unseen directions."""

    theta: np.ndarray
    inverse: np.ndarray
    null: np.ndarray
    usable: np.ndarray

    def q(self, rows: Any) -> np.ndarray:
        """The value of every action, for rows of state features."""
        return rows @ self.theta.T


def sums(design: Design, policy: OnLog, fold: np.ndarray, folds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sums S and b over the episodes of every fold (`fold` numbers those of the rows), and the usable rows."""
    log, n_actions, size = design.log, len(design.log.actions), design.basis.size
    usable = policy.known & (log.has_next | log.terminated)
    S = np.zeros((folds, n_actions, size, n_actions, size))
    b = np.zeros((folds, n_actions, size))
    weights = log.discount[:, None] * policy.after
    for rows, here, after in design.parts():
        for f in range(folds):
            for a in range(n_actions):
                chosen = np.flatnonzero(usable[rows] & (log.action[rows] == a) & (fold[rows] == f))
                if not len(chosen):
                    continue
                x = here[chosen]
                b[f, a] += x.T @ log.reward[rows][chosen]
                S[f, a, :, a] += dense(x.T @ x)
                weight = weights[rows][chosen]
                for c in np.flatnonzero(weight.any(axis=0)):
                    some = np.flatnonzero(weight[:, c])
                    S[f, a, :, c] -= dense(x[some].T @ scaled(after[chosen[some]], weight[some, c]))
    d = n_actions * size
    return S.reshape(folds, d, d), b.reshape(folds, d), usable


def solve(S: np.ndarray, b: np.ndarray, n_actions: int, usable: np.ndarray) -> Fit:
    """Solve S theta = b with the pseudoinverse."""
    left, singular, right = np.linalg.svd(S)
    rank = int((singular > RANK * singular.max(initial=0.0)).sum())
    inverse = (right[:rank].T / singular[:rank]) @ left[:, :rank].T
    return Fit((inverse @ b).reshape(n_actions, -1), inverse, right[rank:].T, usable)


class Evaluated(NamedTuple):
    """The value over the start states, the values at chosen states, the TD error of every row, and the rank of S."""

    value: Estimate
    at: list[Estimate]
    residuals: np.ndarray
    rank: int


def evaluate(design: Design, policy: OnLog, at: np.ndarray | None = None) -> Evaluated:
    """The value of a policy over the start states and, for rows `at` of mean features x_bar(s), the value of each."""
    log = design.log
    S, b, usable = sums(design, policy, np.zeros(log.n_steps, np.int64), 1)
    fit = solve(S[0], b[0], len(log.actions), usable)
    firsts = starting(design, policy)
    values = np.einsum("nak,ak->n", firsts, fit.theta)
    m = firsts.reshape(log.n_episodes, -1).mean(axis=0)
    wanted = m[None] if at is None else np.vstack([m, at])
    scores, residuals = _scores(design, policy, fit, wanted)
    seen = np.linalg.norm(wanted @ fit.null, axis=1) <= SEEN * np.linalg.norm(wanted, axis=1)
    found = [Estimate(float(values.mean()), values - values.mean() + scores[:, 0])]
    found += [Estimate(float(row @ fit.theta.ravel()), scores[:, 1 + i]) for i, row in enumerate(wanted[1:])]
    shown = policy.outside.max(initial=0.0) == 0
    sound = [each if yes and shown else undetermined(log.n_episodes) for each, yes in zip(found, seen, strict=True)]
    return Evaluated(sound[0], sound[1:], residuals, len(fit.inverse) - fit.null.shape[1])


def starting(design: Design, policy: OnLog) -> np.ndarray:
    """x_bar of the start state of every episode, by action."""
    starts = dense(design.basis.rows(design.log.starts))
    return policy.now[design.log.first[:-1]][:, :, None] * starts[:, None, :]


def td_errors(log: EpisodeLog, policy: OnLog, fit: Fit, rows: slice, q: np.ndarray, after: Any) -> np.ndarray:
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


def dense(rows: Any) -> np.ndarray:
    """A matrix as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def scaled(rows: Any, weights: np.ndarray) -> Any:
    """A matrix whose rows are multiplied by weights."""
    return rows * weights[:, None] if isinstance(rows, np.ndarray) else rows.multiply(weights[:, None]).tocsr()
