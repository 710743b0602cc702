"""Deciding between two algorithms while seeds are added: when to stop, and how many more are needed.

A p-value holds for a number of seeds that was fixed in advance. Whoever adds seeds until it falls below 0.05 finds a
difference sooner or later, also where there is none. `sequential_p` may be looked at after every seed: the probability
that it *ever* falls to 0.05 is at most 0.05 where differences are as likely to have either sign, the assumption of the
sign-flip test. It takes more seeds than one test at the right moment, which is not known beforehand. Holm's correction
of such p-values holds for many comparisons at any time too.

It is the inverse of a test martingale, the wealth of a gambler who bets on the sign of each difference before seeing
it: prod_i (1 + tanh(c d_i / s_i)), where s_i is the root mean square of the differences up to the i-th. Given their
sizes the signs are fair, so the wealth is not expected to grow, and by Ville's inequality it ever exceeds 1/p with
probability p at most. It is averaged over stakes c and over both directions. AdaStop (Mathieu et al. 2023) has the same
purpose; it needs the number of looks in advance and permutes runs, where this uses that runs have common seeds.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

STAKES = (0.1, 0.2, 0.4, 0.8)
CERTAIN = 0.99  # the largest stake: a run that diverged must not ruin the gambler
POWER = 0.8


def sequential_p(differences: ArrayLike) -> float:
    """The p-value, two-sided, of differences in the order in which they were made; valid at any time.

    Infinite ones are those of a run that diverged and one that did not.

    >>> round(sequential_p([1.0] * 12), 4), round(sequential_p([1.0, -1.0] * 6), 4), sequential_p([])
    (0.0157, 1.0, 1.0)
    """
    d = np.asarray(differences, np.float64)
    finite = np.where(np.isfinite(d), d, 0.0)
    known = np.maximum(np.cumsum(np.isfinite(d)), 1)
    scale = np.sqrt(np.cumsum(np.square(finite)) / known)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(np.isfinite(d), np.where(scale > 0, finite / scale, 0.0), np.sign(d) * math.inf)
    bets = np.clip(np.tanh(np.multiply.outer([*STAKES, *(-c for c in STAKES)], size)), -CERTAIN, CERTAIN)
    log_wealth = np.cumsum(np.log1p(bets), axis=1)
    if not len(d):
        return 1.0
    best = float(np.max(np.logaddexp.reduce(log_wealth, axis=0))) - math.log(2 * len(STAKES))
    return math.exp(-max(0.0, best))


def seeds_to_decide(differences: ArrayLike, level: float = 0.05) -> int | None:
    """Return how many seeds a test at this level needs to find a difference like this one with probability 0.8.

    None where there is no difference, or nothing says how much differences vary.

    >>> seeds_to_decide([1.0, 2.0, 3.0, 0.0, -1.0])
    20
    """
    d = np.asarray(differences, np.float64)
    d = d[np.isfinite(d)]
    if len(d) < 2 or d.mean() == 0.0 or d.std() == 0.0:
        return None
    z = NormalDist().inv_cdf(1.0 - level / 2.0) + NormalDist().inv_cdf(POWER)
    return math.ceil((z * d.std(ddof=1) / abs(d.mean())) ** 2)
