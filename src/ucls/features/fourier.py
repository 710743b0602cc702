"""The Fourier basis of Konidaris, Osentoski and Thomas (2011): cosines of one component or of a few together.

A feature is cos(pi c'u), where u is the state scaled to [0, 1] and c are integers from 0 to `order`, of which at most
`coupled` are not 0: the full basis, with all components coupled, grows exponentially with their number. The features
are dense: they are for observations with many components, where tiles would be too many.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.features import BUDGET, DENSE, Allocation
from ucls.features.cosine import Coder, cosines, encode, lookup
from ucls.settings import Whole

MOST = 100_000

__all__ = ["Coder", "Settings", "allocation", "encode", "fit", "lookup", "make"]


class Settings(NamedTuple):
    """The settings of the Fourier basis."""

    order: Annotated[int, Whole(1, 1000), "maximum number of half periods between the bounds"] = 3
    coupled: Annotated[int, Whole(1, 1000), "maximum number of components that one feature depends on"] = 2


def fit(dimensions: int, n_actions: int) -> dict[str, Any]:
    """Pairs of components if they fit into the budget, and the highest order that fits, up to the default.

    >>> [fit(dimensions, n_actions=3) for dimensions in (4, 8, 100)]
    [{'order': 3, 'coupled': 2}, {'order': 2, 'coupled': 2}, {'order': 1, 'coupled': 1}]
    """
    most = min(DENSE, BUDGET // n_actions)
    for settings in (Settings(order, coupled) for coupled in (2, 1) for order in (3, 2, 1)):
        if _number(settings, dimensions) <= most:
            return settings._asdict()
    return {"order": 1, "coupled": 1}


def _number(settings: Settings, dimensions: int) -> int:
    """Return the number of features, or refuse too many."""
    number = 0
    for among in range(min(settings.coupled, dimensions) + 1):
        number += math.comb(dimensions, among) * settings.order**among
        if number > MOST:
            break
    return number


def allocation(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Allocation:
    """A row of frequencies for each feature."""
    dimensions = len(low)
    number = _number(settings, dimensions)
    if number > MOST:
        raise UserError(f"fourier makes over {MOST:,} features of {dimensions} numbers: lower order or coupled")
    return Allocation(number * n_actions, number, number * (dimensions + 1) + 2 * dimensions)


def make(settings: Settings, low: Sequence[float], high: Sequence[float], n_actions: int) -> Coder:
    """Make the basis, the constant first, then by the number of dimensions coupled.

    >>> coder = make(Settings(order=2, coupled=2), [0.0, 0.0], [1.0, 1.0], n_actions=3)
    >>> (coder.frequencies / np.pi).astype(int).tolist()
    [[0, 0], [1, 0], [2, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 1], [2, 2]]
    """
    dimensions = len(low)
    rows = []
    for among in range(min(settings.coupled, dimensions) + 1):
        for places in itertools.combinations(range(dimensions), among):
            for waves_along in itertools.product(range(1, settings.order + 1), repeat=among):
                row = np.zeros(dimensions)
                row[list(places)] = waves_along
                rows.append(row)
    return cosines(np.pi * np.array(rows), np.zeros(len(rows)), low, high, n_actions)
