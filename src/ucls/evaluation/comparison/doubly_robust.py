"""Doubly robust estimation: fitted values, corrected by reweighted TD errors, with cross-fitting.

With values q from LSTD-Q of all *other* folds of episodes, v(s) their mean over the actions of the evaluated policy,
and the weights w_t of importance sampling,

    mean over episodes of  v(s_0) + sum_t gamma^t w_t (r_t + gamma v(s_{t+1}) - q(s_t, a_t)).

Assumptions: those of importance sampling *or* those of LSTD-Q: it is consistent if either the probabilities or the
fitted values are right, and with known probabilities unbiased whatever the features. Cross-fitting makes the terms of
an episode independent of the values that are used for it. For the logged policy all weights are 1, and it is the mean
return. After a truncation the fitted values stand for the rest, and their error is not part of the influence:
intervals need episodes that run until they terminate, or until the discount makes the rest unimportant.
"""

import numpy as np

from ucls.evaluation.comparison.estimate import Estimate
from ucls.evaluation.comparison.lstd_q import Design, Fit, solve, sums, td_errors
from ucls.evaluation.comparison.policies import OnLog

FOLDS = 5


def doubly_robust(design: Design, policy: OnLog, weight: np.ndarray, folds: int = FOLDS) -> Estimate:
    """The cross-fitted estimate of a policy's value; episode i is in fold i mod `folds`."""
    log = design.log
    folds = min(folds, log.n_episodes)
    if folds < 2 or policy.outside.max(initial=0.0) > 0:
        return Estimate(np.nan, np.full(log.n_episodes, np.inf))
    fold = log.episode % folds
    S, b, usable = sums(design, policy, fold, folds)
    terms = np.zeros(log.n_steps)
    first = np.zeros(log.n_episodes)
    begins = np.zeros(log.n_steps, bool)
    begins[log.first[:-1]] = True
    for f in range(folds):
        fit = solve(S.sum(axis=0) - S[f], b.sum(axis=0) - b[f], len(log.actions), usable)
        mine = fold == f
        errors, values = _errors(design, policy, fit)
        terms[mine] = errors[mine]
        first[f::folds] = values[begins & mine]
    with np.errstate(over="ignore", invalid="ignore"):
        correction = np.add.reduceat(log.discounting * weight * terms, log.first[:-1])
    earned = first + correction
    return Estimate(float(earned.mean()), earned - earned.mean())


def _errors(design: Design, policy: OnLog, fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """The TD error (0 where the next state is unknown) and the policy's value in every row."""
    errors, values = np.zeros(design.log.n_steps), np.zeros(design.log.n_steps)
    for rows, here, after in design.parts():
        q = fit.q(here)
        values[rows] = (policy.now[rows] * q).sum(axis=1)
        errors[rows] = td_errors(design.log, policy, fit, rows, q, after)
    return errors, values
