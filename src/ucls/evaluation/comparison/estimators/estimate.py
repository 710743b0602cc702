"""An estimate with the influence of every episode: what makes differences and tests of differences joint.

An estimator of a value J is asymptotically J plus the mean over episodes of an influence with mean 0. Its variance is
that of this mean, the influence of a difference is the difference of influences, and episodes count as independent
clusters, whatever happens within them.
"""

from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A value, and the influence of every episode on it."""

    value: float
    influence: np.ndarray

    @property
    def error(self) -> float:
        """The standard error: infinite if the data do not determine the value."""
        n = len(self.influence)
        if n < 2 or not np.isfinite(self.value):
            return np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            error = float(np.sqrt(np.sum(self.influence**2) / (n * (n - 1))))
        return error if np.isfinite(error) else np.inf

    def minus(self, other: "Estimate") -> "Estimate":
        """The difference of two estimates from the same episodes."""
        with np.errstate(invalid="ignore"):
            return Estimate(self.value - other.value, self.influence - other.influence)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the standard error, (sum of squares)^2 / sum of fourth powers of the influences.

        That is the number of episodes that decide: few if some have much more influence than others, and a third of
        all if the influences are normal, which makes intervals a little wide for few episodes.
        """
        top = np.abs(self.influence).max(initial=0.0)
        if not 0 < top < np.inf:
            return 1.0
        squares = (self.influence / top) ** 2
        return float(np.clip(squares.sum() ** 2 / (squares**2).sum(), 1.0, max(1.0, len(squares) - 1.0)))

    def interval(self, confidence: float) -> tuple[float, float]:
        """A confidence interval, with Student's t."""
        radius = quantile(confidence, self.freedom) * self.error
        return (-np.inf, np.inf) if not np.isfinite(radius) else (self.value - radius, self.value + radius)

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the hypothesis that the value is 0."""
        return self.p_beyond(0.0)

    def p_beyond(self, margin: float) -> float:
        """The p-value of the hypothesis that the value is at most `margin` away from 0; two-sided if that is 0."""
        from scipy import special

        error, beyond = self.error, abs(self.value) - margin
        if not np.isfinite(error):
            return 1.0
        if error == 0:
            return 1.0 if beyond <= 0 else 0.0
        return min(1.0, float(2 * special.stdtr(self.freedom, -beyond / error)))


def undetermined(n_episodes: int) -> Estimate:
    """The estimate of a value that the data do not determine."""
    return Estimate(np.nan, np.full(n_episodes, np.inf))


def quantile(confidence: float, freedom: float) -> float:
    """How many standard errors an interval extends to each side."""
    from scipy import special

    return float(special.stdtrit(freedom, (1 + confidence) / 2))
