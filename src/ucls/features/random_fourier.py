"""Random Fourier features of Rahimi and Recht (2007): cosines whose products approximate a Gaussian kernel.

The similarity of two states is exp(-|u - v|^2 / (2 length_scale^2)), where u and v are the states scaled to [0, 1], for
any number of dimensions. The features are dense: they are for observations with many components, where tiles would be
too many. They are drawn once, with the seed `feature_seed`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.features import BUDGET, DENSE, Allocation
from ucls.features.cosine import Coder, cosines, encode, lookup
from ucls.settings import POSITIVE, Whole

__all__ = ["Coder", "Settings", "allocation", "encode", "fit", "lookup", "make"]


class Settings(NamedTuple):
    """The settings of random Fourier features."""

    n_features: Annotated[int, Whole(2, 100_000), "number of features"] = 200
    length_scale: Annotated[float, POSITIVE, "distance over which states are similar; 1 is from bound to bound"] = 0.3
    feature_seed: Annotated[int, Whole(), "seed that the features are drawn with"] = 0


def fit(dimensions: int, n_actions: int) -> dict[str, Any]:
    """As many features as the budget allows; with more components states are farther apart, so the scale is larger."""
    scale = Settings._field_defaults["length_scale"] * (dimensions / 3) ** 0.5
    return {"n_features": max(2, min(DENSE, BUDGET // n_actions)), "length_scale": round(scale, 3)}


def allocation(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Allocation:
    """A row of frequencies for each feature."""
    return Allocation(
        settings.n_features * n_actions, settings.n_features, settings.n_features * (len(low) + 1) + 2 * len(low)
    )


def make(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Coder:
    """Draw the features; the first is a constant.

    >>> coder = make(Settings(n_features=50), [0.0] * 6, [1.0] * 6, n_actions=3)
    >>> coder.size, coder.n_active
    (150, 50)
    """
    rng = np.random.Generator(np.random.PCG64(settings.feature_seed))
    frequencies = rng.standard_normal((settings.n_features, len(low))) / settings.length_scale
    phases = rng.uniform(0.0, 2 * np.pi, settings.n_features)
    frequencies[0], phases[0] = 0.0, 0.0
    return cosines(frequencies, phases, low, high, n_actions)
