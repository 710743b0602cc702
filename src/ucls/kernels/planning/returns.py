"""The largest return that an agent may hope for: declared, or guessed from the rewards that it has seen.

Guessed, it is the larger of the largest reward that came with an end and the largest one on the way, which might come
for ever, over 1 - gamma (or once for each step of the longest episode, where nothing is discounted); 0 where no reward
was positive. While every reward was 0 any positive number does, because nothing is compared with it: 1. An end pays
once, but a reward on the way may be the lesser of two: once a return has come near what was hoped for, all of that is
had, and `MORE` times as much is hoped for. The guess is scale-free: rewards of another size make it larger or smaller
by as much.

A return that was observed is a bound from below on the largest one. `observe` keeps the rewards of the episode until
it ends, or until there are `ROOM` of them, and then looks at the return from every state in it; where the episode did
not end, only at those of which less than a hundredth is still to come.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import COUNT, FLAG, NOT_NEGATIVE, UNIT, Count

ROOM = 1024
TO_COME = 0.01
NONE = -1e300  # below every return
HAD = 0.95  # the part of what was hoped for with which all of it is had
MORE = 2.0  # times that, which is hoped for then; 4 finds River Swim's top sooner, and costs CartPole's greedy policy


class Returns(NamedTuple):
    """What was seen of rewards: the largest at an end and on the way (0 if none is positive), the largest discount,
    whether any reward was not 0, the steps of this episode and of the longest; the largest return (`NONE` at first);
    and the first `count` of the rewards and discounts that were not looked at yet."""

    at_end: Annotated[Scalar, NOT_NEGATIVE]
    on_way: Annotated[Scalar, NOT_NEGATIVE]
    discount: Annotated[Scalar, UNIT]
    varied: Annotated[IntScalar, FLAG]
    steps: Annotated[IntScalar, COUNT]
    longest: Annotated[IntScalar, COUNT]
    attained: Scalar
    rewards: Vector
    discounts: Annotated[Vector, UNIT]
    count: Annotated[IntScalar, Count("rewards")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """When all the room is taken, the rewards are looked at: there is always room for one more."""
        return "" if self.count[0] < ROOM else "too many rewards are kept"


def returns() -> Returns:
    """Start with nothing seen."""
    return Returns(
        at_end=np.zeros(1),
        on_way=np.zeros(1),
        discount=np.zeros(1),
        varied=np.zeros(1, np.uint8),
        steps=np.zeros(1, np.int64),
        longest=np.zeros(1, np.int64),
        attained=np.full(1, NONE),
        rewards=np.zeros(ROOM),
        discounts=np.zeros(ROOM),
        count=np.zeros(1, np.int64),
    )


@jit
def begin(seen):
    """Begin an episode."""
    _look_back(seen)
    seen.steps[0] = 0


@jit
def observe(seen, r, gamma):
    """See the reward of a step, and its discount, which is 0 at an end."""
    seen.steps[0] += 1
    seen.longest[0] = max(seen.longest[0], seen.steps[0])
    if r != 0.0:
        seen.varied[0] = 1
    if gamma == 0.0:
        seen.at_end[0] = max(seen.at_end[0], r)
    else:
        seen.on_way[0] = max(seen.on_way[0], r)
        seen.discount[0] = max(seen.discount[0], gamma)
    k = seen.count[0]
    seen.rewards[k] = r
    seen.discounts[k] = gamma
    seen.count[0] = k + 1
    if gamma == 0.0 or k + 1 == ROOM:
        _look_back(seen)


@jit
def _look_back(seen):
    """Look at the returns of the states that the kept rewards came from, and forget those."""
    total, to_come = 0.0, 1.0
    for k in range(seen.count[0] - 1, -1, -1):
        total = seen.rewards[k] + seen.discounts[k] * total
        to_come *= seen.discounts[k]
        if to_come < TO_COME:
            seen.attained[0] = max(seen.attained[0], total)
    seen.count[0] = 0


@jit
def span(seen):
    """The sum of discounts, or the length of the longest episode where nothing is discounted."""
    return 1.0 / (1.0 - seen.discount[0]) if seen.discount[0] < 1.0 else float(seen.longest[0])


@jit
def forever(seen):
    """The return if the largest reward before termination came with every step."""
    return seen.on_way[0] * span(seen)


@jit
def guess(seen, more):
    """The largest return that the rewards seen so far allow to hope for; `more` times it when it was attained."""
    if seen.varied[0] == 0:
        return 1.0
    hoped = forever(seen)
    if hoped > seen.at_end[0]:
        while HAD * hoped <= seen.attained[0] < np.inf:
            hoped *= more
    return max(seen.at_end[0], hoped)
