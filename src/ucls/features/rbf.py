"""Random Fourier features of Rahimi and Recht (2007): waves whose products approximate a Gaussian kernel.

Two states are alike as exp(-|u - v|^2 / (2 width^2)) says, u and v being the states between 0 and 1, whatever the
number of dimensions. Dense: for observations of many numbers, where tiles would be too many. The waves are drawn once,
from the setting `draw`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.features import BUDGET, DENSE, Room
from ucls.features.waves import Coder, encode, look, waves
from ucls.settings import POSITIVE, Whole

__all__ = ["Coder", "Settings", "encode", "fit", "look", "make", "room"]


class Settings(NamedTuple):
    """The settings of random Fourier features."""

    number: Annotated[int, Whole(2, 100_000), "number of features"] = 200
    width: Annotated[float, POSITIVE, "how far states are alike, where 1 is from bound to bound"] = 0.3
    draw: Annotated[int, Whole(), "seed that the waves are drawn with"] = 0


def fit(dimensions: int, n_actions: int) -> dict[str, Any]:
    """As many features as there is room for; the more dimensions, the farther apart states lie, so the wider."""
    width = Settings._field_defaults["width"] * (dimensions / 3) ** 0.5
    return {"number": max(2, min(DENSE, BUDGET // n_actions)), "width": round(width, 3)}


def room(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Room:
    """A row of frequencies for each feature."""
    return Room(settings.number * n_actions, settings.number, settings.number * (len(low) + 1) + 2 * len(low))


def make(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Coder:
    """Draw the waves; the first is a constant.

    >>> coder = make(Settings(number=50), [0.0] * 6, [1.0] * 6, n_actions=3)
    >>> coder.size, coder.n_active
    (150, 50)
    """
    rng = np.random.Generator(np.random.PCG64(settings.draw))
    frequencies = rng.standard_normal((settings.number, len(low))) / settings.width
    phases = rng.uniform(0.0, 2 * np.pi, settings.number)
    frequencies[0], phases[0] = 0.0, 0.0
    return waves(frequencies, phases, low, high, n_actions)
