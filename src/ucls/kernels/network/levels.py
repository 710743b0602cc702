"""The largest and the smallest possible value, v0 and vmin, from what is remembered.

If the maximum possible return is not given, it is guessed: the largest reward at an end, or the largest one before it
for ever. Where episodes are short or large rewards rare that is the wrong scale, so the guess is cut to

    v0 = max(best, min(guess, 2 best - average)),

with the best and the average discounted return from any remembered state of which less than a hundredth may still come.
If a whole episode had the guessed return, more may be possible, and v0 = 2 best - average. While all returns are equal,
v0 is above them.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Scalar
from ucls.kernels.network import replay as rp
from ucls.kernels.ranges import FLAG, NOT_NEGATIVE, UNIT, Within

TO_COME = 0.01
NONE = -1e300  # below every return


class Seen(NamedTuple):
    """The largest reward at an end and before it (0 if none is positive), and the smallest one (or 0); the largest
    discount; whether any reward was not 0; the best and the average return from any state, the best one of a whole
    episode; and v0 as it was last."""

    at_end: Annotated[Scalar, NOT_NEGATIVE]
    on_way: Annotated[Scalar, NOT_NEGATIVE]
    worst: Annotated[Scalar, Within(-1e300, 0.0)]
    discount: Annotated[Scalar, UNIT]
    varied: Annotated[IntScalar, FLAG]
    best: Scalar
    average: Scalar
    whole: Scalar
    v0: Scalar


def seen() -> Seen:
    """Nothing seen."""
    made = {name: np.zeros(1) for name in Seen._fields}
    made |= {"best": np.full(1, NONE), "whole": np.full(1, NONE)}
    return Seen(**{**made, "varied": np.zeros(1, np.uint8), "v0": np.ones(1)})


def observe(seen: Seen, r: float, gamma: float) -> None:
    """See a reward; the discount is 0 at an end."""
    kind = seen.at_end if gamma == 0.0 else seen.on_way
    kind[0] = max(kind[0], r)
    seen.worst[0] = min(seen.worst[0], r)
    seen.discount[0] = max(seen.discount[0], gamma)
    seen.varied[0] |= r != 0.0


def look_back(seen: Seen, memory: rp.Replay, given: float, longest: int) -> tuple[float, float]:
    """v0 and vmin, from the rewards seen and the returns remembered."""
    n = int(memory.used[0])
    first = np.ones(n, bool)  # rows that no other leads to begin an episode
    first[memory.next[:n][memory.next[:n] >= 0]] = False
    G, left = np.zeros(n), np.zeros(n)
    rp.returns_to_end(memory, G, left)
    over = (left < TO_COME) & (memory.action[:n] >= 0)
    if over.any():
        seen.best[0], seen.average[0] = max(seen.best[0], G[over].max()), G[over].mean()
        if (over & first).any():
            seen.whole[0] = max(seen.whole[0], G[over & first].max())
    seen.v0[0] = _highest(seen, given, longest)
    return float(seen.v0[0]), min(float(seen.worst[0]) * _span(seen, longest), float(seen.v0[0]))


def extrapolates(seen: Seen, longest: int) -> bool:
    """Whether the guess is that the largest reward comes with every step."""
    return bool(seen.on_way[0] * _span(seen, longest) > seen.at_end[0])


def _span(seen: Seen, longest: int) -> float:
    """The sum of discounts, or the length of the longest episode where nothing is discounted."""
    return 1.0 / (1.0 - float(seen.discount[0])) if seen.discount[0] < 1.0 else float(longest)


def _highest(seen: Seen, given: float, longest: int) -> float:
    best = float(seen.best[0])
    if not np.isnan(given):
        return max(given, best)
    if not seen.varied[0]:
        return 1.0
    guess = max(float(seen.at_end[0]), float(seen.on_way[0]) * _span(seen, longest))
    if best == NONE:
        return guess
    ahead = 2.0 * best - float(seen.average[0])
    if ahead <= best:
        ahead = best + max(abs(best), 1e-3)
    return ahead if seen.whole[0] >= guess else max(best, min(guess, ahead))
