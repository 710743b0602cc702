"""Two algorithms on common seeds, pair by pair, and the correction of p-values for many such comparisons."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError
from ucls.stats.many import MANY, sign_flip_p_of_many
from ucls.stats.resampling import batches
from ucls.stats.summary import Estimate, bootstrap_mean, scores

EXACT = 14  # differences up to which all 2^n flips are tried
PERMUTATIONS = 9999


class Paired(NamedTuple):
    """What a comparison of x and y on common seeds found.

    `difference` (x - y) and its `p` are of the `pairs` in which both runs are sound (None and 1.0 if there are none);
    `dropped` is the number of the others. `p_rank`, by signed ranks, and the counts are of all pairs: a diverged run
    loses to a sound one by more than any sound run does.
    """

    difference: Estimate | None
    p: float
    p_rank: float
    pairs: int
    dropped: int
    wins: int
    ties: int
    losses: int


def common_seeds(seeds_x: ArrayLike, seeds_y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Where the seeds that both have stand in each, in the order of the seeds.

    >>> common_seeds([5, 1, 2], [2, 3, 1])
    (array([1, 2]), array([2, 0]))
    """
    seeds_x, seeds_y = np.asarray(seeds_x), np.asarray(seeds_y)
    if len(np.unique(seeds_x)) < len(seeds_x) or len(np.unique(seeds_y)) < len(seeds_y):
        raise UserError("a seed occurs twice: pairs need one run for each seed")
    _, in_x, in_y = np.intersect1d(seeds_x, seeds_y, assume_unique=True, return_indices=True)
    return in_x, in_y


def paired(
    x: ArrayLike, y: ArrayLike, confidence: float = 0.95, permutations: int = PERMUTATIONS, seed: int = 0
) -> Paired | None:
    """Compare runs pair by pair: x[i] and y[i] had the same seed; None without pairs.

    >>> found = paired([3.0, 4.0, 5.0, 6.0], scores([2.0, 3.0, 4.0, 0.0], diverged=[False, False, False, True]))
    >>> found.difference, found.pairs, found.dropped, found.wins
    (Estimate(mean=1.0, low=1.0, high=1.0), 3, 1, 4)
    >>> found.p, found.p_rank
    (0.25, 0.125)
    """
    x, y = scores(x), scores(y)
    if len(x) != len(y):
        raise UserError(f"{len(x)} runs cannot pair with {len(y)}: see `common_seeds`")
    if len(x) == 0:
        return None
    sound_x, sound_y = ~np.isneginf(x), ~np.isneginf(y)
    both = sound_x & sound_y
    difference, sign = np.zeros(len(x)), sound_x.astype(float) - sound_y
    difference[both] = x[both] - y[both]
    sign[both] = np.sign(difference[both])
    size = np.where(sound_x != sound_y, np.inf, np.abs(difference))
    # A pair that was dropped is a difference of 0, which a flip does not change: one set of flips serves both tests.
    p, p_rank = _sign_flip_tests(np.column_stack([difference, sign * _ranks(size)]), permutations, seed)
    return Paired(
        difference=bootstrap_mean(difference[both], confidence, seed) if both.any() else None,
        p=p,
        p_rank=p_rank,
        pairs=int(both.sum()),
        dropped=int((~both).sum()),
        wins=int((sign > 0).sum()),
        ties=int((sign == 0).sum()),
        losses=int((sign < 0).sum()),
    )


def _ranks(sizes: np.ndarray) -> np.ndarray:
    """The ranks of the sizes that are not 0, from 1, ties sharing their mean rank; what rank 0s get does not matter."""
    _, place, times = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(times) - (sizes == 0).sum()
    return (last - (times - 1) / 2)[place]


@functools.lru_cache(maxsize=4)
def _every_flip(n: int) -> np.ndarray:
    return (2 * (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1) - 1).astype(np.int8)


@functools.lru_cache(maxsize=16)  # of a megabyte
def _random_flips(n: int, rows: int, seed: int, batch: int) -> np.ndarray:
    return 2 * np.random.default_rng([seed, batch]).integers(0, 2, (rows, n), np.int8) - 1


def _sign_flip_tests(columns: np.ndarray, permutations: int, seed: int) -> list[float]:
    """The sign-flip test of every column."""
    columns = columns[(columns != 0).any(axis=1)]
    n = len(columns)
    # Sums that are equal on paper may differ in the last bits.
    bars = np.abs(columns.sum(axis=0)) - 1e-12 * np.abs(columns).sum(axis=0)
    if n <= EXACT:
        return (_extreme(_every_flip(n), columns, bars) / 2**n).tolist()
    if n >= MANY:
        return sign_flip_p_of_many(columns)
    extreme = np.ones(len(bars))
    for i, rows in enumerate(batches(n, permutations)):
        extreme += _extreme(_random_flips(n, rows, seed, i), columns, bars)
    return (extreme / (1 + permutations)).tolist()


def _extreme(flips: np.ndarray, columns: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """How many of the flips bring the sum of each column to its bar or beyond."""
    signs = flips.astype(np.float64)
    return np.array([(np.abs(signs @ column) >= bar).sum() for column, bar in zip(columns.T.copy(), bars, strict=True)])


def holm(p_values: ArrayLike, total: int | None = None) -> np.ndarray:
    """Adjust p-values so that the chance of *any* false finding among them stays under the level they are held to.

    `total` comparisons count if more could have been made than these, such as all pairs.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    times = max(total or 0, len(p)) - np.arange(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(p[order] * times, 1.0))
    return adjusted
