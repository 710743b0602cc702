"""Intervals that hold for several estimates of the same number, and allow for what the features may miss.

Fourier features are finite, so estimates with them have a bias. How far an estimate moves between coarser and finer
features shows its size: what they disagree by, beyond noise, is added to both sides of the interval (the allowance). It
is 0 if the features represent the values, and where it is not, it vanishes only as features become finer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.checks import Check
from ucls.evaluation.comparison.estimators.estimate import Estimate, quantile
from ucls.evaluation.comparison.estimators.importance import Weights
from ucls.evaluation.comparison.estimators.lstd_q import Evaluated
from ucls.evaluation.comparison.estimators.systems import Design
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.comparison.result import Span
from ucls.evaluation.comparison.sensitivity import ByLambda

DOUBLY_ROBUST, LSTD_Q, BOTH = "doubly robust", "LSTD-Q", "LSTD-Q and doubly robust"


def allowance(here: Estimate, other: Estimate, confidence: float) -> float:
    """How much two estimates with different features disagree, beyond their noise."""
    gap = here.minus(other)
    if not np.isfinite(gap.error):
        return 0.0
    return max(0.0, abs(gap.value) - quantile(confidence, gap.freedom) * gap.error)


def span(estimates: Sequence[Estimate], confidence: float, extra: float = 0.0) -> Span:
    """The first estimate, with the smallest interval that contains those of all, and `extra` on both sides."""
    intervals = [each.interval(confidence) for each in estimates]
    return Span(
        estimates[0].value, min(low for low, _ in intervals) - extra, max(high for _, high in intervals) + extra
    )


def p_value(estimates: Sequence[Estimate], extra: float = 0.0) -> float:
    """The largest p-value of the hypotheses that the number is at most `extra` away from 0, one for each estimate.

    It is below 1 - confidence exactly if `span` excludes 0. Estimates of opposite sign exclude nothing.
    """
    if len({np.sign(each.value) for each in estimates}) > 1:
        return 1.0
    return max(each.p_beyond(extra) for each in estimates)


class Fitted(NamedTuple):
    """LSTD-Q of one policy with one set of features."""

    design: Design
    logged: Evaluated
    new: Evaluated

    @property
    def difference(self) -> Estimate:
        return self.new.value.minus(self.logged.value)


class Found(NamedTuple):
    """What was found for one candidate, before the correction for their number."""

    name: str
    policy: OnLog
    fits: list[Fitted]
    others: list[Fitted]
    robust: tuple[Estimate, Estimate] | None
    weighted: tuple[Estimate, Estimate] | None
    per_decision: tuple[Estimate, Estimate] | None
    weights: Weights | None
    by_lambda: ByLambda
    checks: list[Check]
    trusted: str

    @property
    def differences(self) -> list[Estimate]:
        """The estimates of the difference that the interval must cover."""
        return self._chosen([fit.difference for fit in self.fits], 1)

    @property
    def values(self) -> list[Estimate]:
        """The estimates of the new policy's value that the interval must cover."""
        return self._chosen([fit.new.value for fit in self.fits], 0)

    def _chosen(self, fitted: list[Estimate], place: int) -> list[Estimate]:
        if self.robust is None or self.trusted == LSTD_Q:
            return fitted
        return [self.robust[place]] if self.trusted == DOUBLY_ROBUST else [*fitted, self.robust[place]]

    def allowances(self, confidence: float) -> tuple[float, float]:
        """What the features may miss: of the new policy's value, and of the difference."""
        pair = [*self.fits, *self.others][:2]
        if len(pair) < 2 or self.trusted == DOUBLY_ROBUST or self.fits[0].design.basis.exact:
            return 0.0, 0.0
        one, other = pair
        return (
            allowance(one.new.value, other.new.value, confidence),
            allowance(one.difference, other.difference, confidence),
        )

    @property
    def confirmed(self) -> bool:
        """Whether the result does not rest on one set of approximate features alone."""
        alone = len(self.fits) + len(self.others) < 2 and self.trusted == LSTD_Q
        return not alone or self.fits[0].design.basis.exact
