"""Eligibility traces: dense ones, for algorithms that touch every feature seen in each step, and sparse ones.

`LiveTrace` keeps z dense too, for reading, next to a list of its live entries, which is all that decaying it or moving
weights along it touches: its cost does not depend on the number of features. A trace that falls below `floor` is
dropped: what it would still add to a weight is less than the rounding of what it has added. Dropping is off at a floor
of 0; then an entry is live if it differs from 0 in exact arithmetic, which underflow cannot hide.

Which discount decays a trace is a setting of all algorithms that have one, `Discount`. The boxes print that of the
transition just taken, which is 0 at an end: it wipes the trace when the reward of the goal arrives, and lets the
features of one episode have a trace in the next. By default it is that of the transition before, and 0 at the start of
an episode. A state keeps the discount of its last transition, an array of one (`gamma`), for `restart` and `discount`.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntScalar, IntVector, Scalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.ranges import FEATURE, FLAG, MADE, Count
from ucls.settings import Choice

PREVIOUS, CURRENT = range(2)
Discount = Annotated[int, Choice("previous", "current")]

FLOOR = {np.dtype(np.float64): 1e-16, np.dtype(np.float32): 1e-8}
TINY = {np.dtype(np.float64): 1e-290, np.dtype(np.float32): 1e-30}  # below is 0: denormals are slow


@jit
def restart(last, which):
    """Begin an episode: the trace restarts from 0, unless the literal discount prevents it."""
    if which == PREVIOUS:
        last[0] = 0.0


@jit
def discount(last, which, gamma):
    """Return the discount by which the trace decays now, and store gamma, that of the transition just taken."""
    decay = last[0] if which == PREVIOUS else gamma
    last[0] = gamma
    return decay


class Trace(NamedTuple):
    """An eligibility trace z. `alive[i]` says z_i != 0 in exact arithmetic, which underflow cannot."""

    z: Vector
    alive: Annotated[IntVector, FLAG]
    tiny: Annotated[Scalar, MADE]


def trace(size: int, dtype: Any) -> Trace:
    """Make a trace of zeros."""
    return Trace(np.zeros(size, dtype), np.zeros(size, np.uint8), np.array([TINY[np.dtype(dtype)]], dtype))


@jit
def decay_and_add(trace, n, decay, x):
    """z <- decay z + x, on the first n features."""
    z, alive, tiny = trace.z, trace.alive, trace.tiny[0]
    d = z.dtype.type(decay)
    for i in range(n):
        z[i] *= d
        if abs(z[i]) < tiny:
            z[i] = 0
    if decay == 0.0:
        alive[:n] = 0
    for i in range(len(x.index)):
        if x.value[i] != 0.0:
            z[x.index[i]] += z.dtype.type(x.value[i])
            alive[x.index[i]] = 1


@jit
def above(trace, n, threshold):
    """The features with |z_i| > threshold, in order; a threshold of 0 asks for z_i != 0."""
    z, alive, literal = trace.z, trace.alive, threshold == 0.0
    places = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        places[count] = i  # stays if it is one of them; a branch here is one that no processor can foretell
        count += (abs(z[i]) > threshold) | (literal & (alive[i] != 0))
    return places[:count]


class LiveTrace(NamedTuple):
    """An eligibility trace z, and the list of its live entries: the first `count` of `live`, in no order."""

    z: Vector
    live: Annotated[IntVector, FEATURE]
    member: Annotated[IntVector, FLAG]
    count: Annotated[IntScalar, Count("live")]  # pyright: ignore[reportIncompatibleMethodOverride]
    floor: Annotated[Scalar, MADE]
    tiny: Annotated[Scalar, MADE]

    def fault(self) -> str:
        """Each live entry is in the list once, and is marked as a member."""
        listed = np.sort(self.live[: self.count[0]])
        return "" if np.array_equal(listed, np.flatnonzero(self.member)) else "the list of live entries is wrong"


def live_trace(size: int, dtype: Any, floor: float | None = None) -> LiveTrace:
    """Make a trace of zeros; its floor is that of the type, or lower if `floor` asks for it."""
    kind = np.dtype(dtype)
    lowest = FLOOR[kind] if floor is None else min(FLOOR[kind], floor)
    return LiveTrace(
        z=np.zeros(size, dtype),
        live=np.zeros(size, np.int64),
        member=np.zeros(size, np.uint8),
        count=np.zeros(1, np.int64),
        floor=np.array([lowest], dtype),
        tiny=np.array([TINY[kind]], dtype),
    )


@jit
def decay_live(trace, decay, x):
    """z <- decay z + x."""
    z, live, member = trace.z, trace.live, trace.member
    d, floor, tiny = z.dtype.type(decay), trace.floor[0], trace.tiny[0]
    count = trace.count[0]
    for k in range(count - 1, -1, -1):  # backwards, because the last one fills a gap
        i = live[k]
        z[i] *= d
        if decay == 0.0 or abs(z[i]) < floor:
            z[i] = 0
            member[i] = 0
            count -= 1
            live[k] = live[count]
        elif abs(z[i]) < tiny:
            z[i] = 0
    for k in range(len(x.index)):
        i = x.index[k]
        if x.value[k] != 0.0:
            z[i] += z.dtype.type(x.value[k])
            if not member[i]:
                member[i] = 1
                live[count] = i
                count += 1
    trace.count[0] = count


@jit
def add_live(w, step, trace):
    """w <- w + step z: the TD(lambda) update, where step is the step size times the TD error."""
    z, live = trace.z, trace.live
    c = w.dtype.type(step)
    for k in range(trace.count[0]):
        w[live[k]] += c * z[live[k]]
