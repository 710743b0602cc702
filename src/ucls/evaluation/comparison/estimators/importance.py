"""Importance sampling: rewards reweighted by how much likelier the evaluated policy was to get there.

With the ratio rho_t = pi(a_t|s_t) / p_t of every step, p_t being the probability of the logged action, and the product
w_t = rho_0 ... rho_t within an episode,

    per-decision:   mean over episodes of sum_t gamma^t w_t r_t
    weighted:       sum_t gamma^t (sum_i w_it r_it) / (sum_i w_it)

In the weighted form an episode that is over keeps its last weight and earns 0. It has a bias of order 1/n and far less
variance. Its influence is sum_t gamma^t (w_it / mean_t w) (r_it - r_t), r_t being the weighted mean reward at time t.

Assumptions: the probabilities of the logged actions are right (fitted ones count as known, which makes intervals
approximate), every action of the evaluated policy has a positive one, and episodes are independent. States need not be
Markov, and no features are needed. Rewards after a truncation count as 0. The weights multiply, so that with more than
a few steps a few episodes decide: see the effective sample size.
"""

from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog, per_episode_product

FEW = 2  # episodes with a positive weight that an estimate needs at least


def ratios(log: EpisodeLog, policy: OnLog, probability: np.ndarray) -> np.ndarray:
    """pi(a|s) / p of every row."""
    return policy.now[np.arange(log.n_steps), log.action] / probability


def weights(log: EpisodeLog, ratio: np.ndarray) -> np.ndarray:
    """The product of the ratios up to every row, its own included."""
    with np.errstate(over="ignore"):
        return per_episode_product(ratio, log.first) * ratio


class Weights(NamedTuple):
    """How concentrated the weights of whole episodes are: (sum w)^2 / sum w^2, and the largest as a fraction of all."""

    effective_sample_size: float
    largest: float


def concentration(log: EpisodeLog, weight: np.ndarray) -> Weights:
    """The concentration of the final weights of the episodes.

    >>> from types import SimpleNamespace
    >>> concentration(SimpleNamespace(first=np.array([0, 1, 2, 3])), np.array([1.0, 1.0, 0.0]))
    Weights(effective_sample_size=2.0, largest=0.5)
    """
    final = weight[log.first[1:] - 1]
    top = final.max(initial=0.0)
    if not 0 < top < np.inf:
        return Weights(0.0, 1.0)
    final = final / top
    return Weights(float(final.sum() ** 2 / (final**2).sum()), float(1 / final.sum()))


def per_decision(log: EpisodeLog, weight: np.ndarray) -> Estimate:
    """The per-decision estimate of a policy's value."""
    earned = np.add.reduceat(log.discounting * weight * log.reward, log.first[:-1])
    return Estimate(float(earned.mean()), earned - earned.mean())


def weighted(log: EpisodeLog, weight: np.ndarray) -> Estimate:
    """The weighted per-decision estimate of a policy's value."""
    n, longest = log.n_episodes, int(log.lengths.max())
    time = np.arange(log.n_steps) - np.repeat(log.first[:-1], log.lengths)
    final = weight[log.first[1:] - 1]
    total = np.bincount(time, weight, longest) + np.cumsum(np.bincount(log.lengths, final, longest + 1))[:longest]
    discounted = log.discounting * log.reward
    earned = np.bincount(time, weight * discounted, longest)
    if not (np.isfinite(total).all() and (total > 0).all()) or (final > 0).sum() < FEW:
        return Estimate(np.nan, np.full(n, np.inf))
    mean = earned / total  # of the discounted reward at every time
    share = n / total
    own = np.add.reduceat(weight * share[time] * (discounted - mean[time]), log.first[:-1])
    rest = np.append(np.cumsum((share * mean)[::-1])[::-1], 0.0)  # what an episode that is over is still compared with
    return Estimate(float(mean.sum()), own - final * rest[log.lengths])


def monte_carlo(log: EpisodeLog) -> Estimate:
    """The mean discounted return of the logged policy."""
    returns = log.returns
    return Estimate(float(returns.mean()), returns - returns.mean())
