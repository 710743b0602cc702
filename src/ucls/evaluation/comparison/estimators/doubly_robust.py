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

from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.estimators.lstd_q import solve, td_errors
from ucls.evaluation.comparison.estimators.systems import Design
from ucls.evaluation.comparison.policies import OnLog

FOLDS = 5


def doubly_robust(design: Design, policy: OnLog, weight: np.ndarray) -> Estimate:
    """The cross-fitted estimate of a policy's value, with the folds of the design."""
    log = design.log
    if not 2 <= design.folds <= log.n_episodes or policy.outside.max(initial=0.0) > 0:
        return Estimate(np.nan, np.full(log.n_episodes, np.inf))
    S, b, usable = design.sums(policy)
    whole, total = S.sum(axis=0), b.sum(axis=0)
    fits = [solve(whole - S[f], total - b[f], len(log.actions), usable) for f in range(design.folds)]
    errors, values = np.zeros(log.n_steps), np.zeros(log.n_steps)
    thetas = np.concatenate([fit.theta for fit in fits])
    for part in design.parts():
        rows = part.rows
        own = np.arange(len(design.fold[rows])), design.fold[rows]  # the fit without its episode
        q, q_next = (values_.reshape(len(own[0]), len(fits), -1)[own] for values_ in part.times(thetas.T))
        values[rows] = (policy.now[rows] * q).sum(axis=1)
        errors[rows] = td_errors(log, policy, usable, rows, q, q_next)
    with np.errstate(over="ignore", invalid="ignore"):
        correction = np.add.reduceat(log.discounting * weight * errors, log.first[:-1])
    earned = values[log.first[:-1]] + correction
    return Estimate(float(earned.mean()), earned - earned.mean())
