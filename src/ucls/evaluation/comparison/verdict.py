"""The verdict: better, worse, or cannot say, because ...

A new policy is called better only if the interval of the difference lies above 0, nothing contradicts the assumptions
behind it, and the log shows what the policy would do.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.checks import Check
from ucls.evaluation.comparison.estimators.estimate import Estimate, quantile
from ucls.evaluation.comparison.result import BETTER, CANNOT_SAY, WORSE, Span
from ucls.evaluation.comparison.support import Support
from ucls.evaluation.logs.episodes import EpisodeLog
from ucls.stats import holm

FEW = 20  # episodes below which there is no verdict
NEVER = 0.05  # of the new policy's actions may be unseen
EXCUSED = (
    "features",
    "lambda",
    "returns",
    "estimators",
)  # tests whose failure does not concern doubly robust estimation
POWER = 0.8416  # standard deviations: the chance to decide is then 80%
FAR = 1000  # times as many episodes: more than that is no advice


class Judgment(NamedTuple):
    """A verdict, the reasons if there is none, and how many more episodes would decide."""

    verdict: str
    because: list[str]
    more_episodes: int | None


def levels(p_values: Sequence[float], confidence: float) -> list[tuple[float, float]]:
    """For every candidate the level of its interval and its p-value, both corrected by Holm's method.

    The k-th smallest of m p-values is compared with (1 - confidence) / (m - k + 1), until one is larger. An interval at
    that level excludes 0 exactly if Holm's method rejects.

    >>> levels([0.02, 0.5], 0.9)
    [(0.95, 0.04), (0.9, 0.5)]
    """
    adjusted, m, alpha = holm(p_values), len(p_values), 1 - confidence
    order = np.argsort(p_values, kind="stable")
    found = [confidence] * m
    stopped = None
    for k, i in enumerate(order):
        share = alpha / (m - k) if stopped is None else stopped
        found[i] = round(1 - share, 12)
        if stopped is None and p_values[i] > share:
            stopped = share
    return [(level, float(p)) for level, p in zip(found, adjusted, strict=True)]


def judge(
    log: EpisodeLog,
    difference: Span,
    estimates: Sequence[Estimate],
    level: float,
    support: Support,
    checks: Sequence[Check],
    robust: bool,
    extra: float = 0.0,
    confirmed: bool = True,
) -> Judgment:
    """Judge a difference; `robust` says that it comes from doubly robust estimation, which needs no Markov state.

    `extra` is the allowance for what the features may miss; without another fit or estimator that confirms the result
    there is no verdict.
    """
    because = []
    if log.n_episodes < FEW:
        because.append(f"the log has only {log.n_episodes} episodes; at least {FEW} are needed")
    if support.never > NEVER or not np.isfinite(difference.low):
        because.append(_unseen(log, support))
    because += [check.meaning for check in checks if check.failed and not (robust and check.name in EXCUSED)]
    if not confirmed:
        because.append("the log has too few steps to confirm the result with finer features")
    decided = difference.low > 0 or difference.high < 0
    more = None if decided or not np.isfinite(difference.low) else _more(log.n_episodes, estimates, level, extra)
    if not decided and np.isfinite(difference.low):
        if max(abs(each.value) for each in estimates) == 0:
            advice = "the two policies do not differ in this log"
        elif more is None:
            advice = "the difference is too small for any reasonable number of such episodes"
            if extra:
                advice = f"the features alone leave an error of up to {extra:.4g}"
        else:
            advice = f"about {more:,} more episodes like these would decide"
        because.append(f"the interval includes 0: {advice}")
    if because:
        return Judgment(CANNOT_SAY, because, more)
    return Judgment(BETTER if difference.low > 0 else WORSE, [], None)


def _more(n: int, estimates: Sequence[Estimate], level: float, extra: float = 0.0) -> int | None:
    """How many more episodes would decide with a chance of 80%, if the difference is as estimated."""
    needed = 0.0
    for each in estimates:
        if abs(each.value) <= extra:
            return None
        beyond = abs(each.value) - extra
        needed = max(needed, n * ((quantile(level, each.freedom) + POWER) * each.error / beyond) ** 2)
    if not needed < FAR * n:
        return None
    digits = 10 ** max(0, math.floor(math.log10(max(1.0, needed - n))) - 1)
    return max(1, digits * math.ceil((needed - n) / digits))


def _unseen(log: EpisodeLog, support: Support) -> str:
    text = f"the log does not show {100 * support.never:.3g}% of the new policy's actions"
    if not support.never:
        text = "the log does not determine the values of some states and actions that the new policy reaches"
    where = support.where(log.columns.state)
    return f"{text}, {where}" if where else text
