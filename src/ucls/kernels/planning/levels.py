"""What an optimistic planner assumes: the largest and smallest return, and the weights of the prior and the noise."""

from typing import NamedTuple

from ucls.kernels.compilation.jit import jit


class Levels(NamedTuple):
    """`v0`, the largest return there may be, is the prior, worth `prior_visits` visits; no value is below `vmin`.
    Bounds are `noise_scale` standard deviations above the estimate. Targets are returns over several steps, whose
    weight decays by `lambda_` per step."""

    v0: float
    vmin: float
    prior_visits: float
    noise_scale: float
    lambda_: float


@jit
def clip(levels, value):
    """A value within the levels."""
    return min(max(value, levels.vmin), levels.v0)


@jit
def base(levels):
    """What is assumed without optimism: 0, or v0 where that is negative."""
    return min(0.0, levels.v0)


@jit
def variance(levels, total, freedom, repeated):
    """sigma^2 from the summed squared deviations of targets, their degrees of freedom, and how many pairs of state and
    action were visited again: each that was halves the belief that noise as large as the range of values may be."""
    unseen = (levels.v0 - levels.vmin) * 0.5**repeated
    return unseen * unseen + (max(0.0, total) / freedom if freedom > 0.0 else 0.0)
