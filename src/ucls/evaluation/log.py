"""A log of transitions in little memory: what an evaluator has seen, for as many passes as an estimator needs.

Features are kept sparse, one row after the other, and the row of x_next follows that of x. Where a transition begins
with the features that the one before ended with, as along a trajectory, the row is shared. With k active features a
transition then takes 12 k + 48 bytes: 144 MB for a million with k = 8.
"""

from typing import Any, NamedTuple

import numpy as np

from ucls.kernels.active import Active, enlarged
from ucls.kernels.compilation.jit import jit

ROWS, TRANSITIONS, BREAKS, SEEN = range(4)


class Log(NamedTuple):
    """Transitions: `row[t]` is the row of x, the next row is that of x_next, and row i is `first[i] : first[i + 1]`.

    `decay` is what remains of the trace of the transition before: its discount times its rho, 0 at a start. `used`
    counts rows, transitions, breaks (no start, yet x is not the x_next before), and the leading block of features.
    """

    first: Any
    index: Any
    value: Any
    row: Any
    reward: Any
    discount: Any
    rho: Any
    decay: Any
    used: Any


def empty_log() -> Log:
    """Make a log without space for transitions."""
    numbers = [np.zeros(0) for _ in range(4)]
    row, index = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Log(np.zeros(1, np.int64), index, np.zeros(0), row, *numbers, used=np.zeros(4, np.int64))


def with_room(log: Log, transitions: int, entries: int) -> Log:
    """The log with room for so many more transitions and active features."""
    rows, n = int(log.used[ROWS]), int(log.used[TRANSITIONS])
    return Log(
        first=_grown(log.first, rows + 1 + 2 * transitions),
        index=_grown(log.index, int(log.first[rows]) + entries),
        value=_grown(log.value, int(log.first[rows]) + entries),
        row=_grown(log.row, n + transitions),
        reward=_grown(log.reward, n + transitions),
        discount=_grown(log.discount, n + transitions),
        rho=_grown(log.rho, n + transitions),
        decay=_grown(log.decay, n + transitions),
        used=log.used,
    )


def _grown(array: np.ndarray, needed: int) -> np.ndarray:
    return array if needed <= len(array) else enlarged(array, (max(needed, 3 * len(array) // 2),))


@jit
def append(log, x, reward, discount, x_next, rho, start):
    """Append transitions; x and x_next have a row for each, and entries of value 0 are left out."""
    rows, n = log.used[ROWS], log.used[TRANSITIONS]
    for t in range(len(reward)):
        decay = 0.0 if start[t] or n == 0 else log.discount[n - 1] * log.rho[n - 1]
        if n == 0 or not _is_last(log, rows, x.index[t], x.value[t]):
            if decay > 0.0:
                log.used[BREAKS] += 1
            _add_row(log, rows, x.index[t], x.value[t])
            rows += 1
        log.row[n] = rows - 1
        if discount[t] > 0.0:
            _add_row(log, rows, x_next.index[t], x_next.value[t])
        else:
            log.first[rows + 1] = log.first[rows]
        rows += 1
        log.reward[n], log.discount[n], log.rho[n], log.decay[n] = reward[t], discount[t], rho[t], decay
        n += 1
    log.used[ROWS], log.used[TRANSITIONS] = rows, n


@jit
def _is_last(log, rows, index, value):
    """Whether the last row holds these features."""
    place, end = log.first[rows - 1], log.first[rows]
    for i in range(len(index)):
        if value[i] != 0.0:
            if place == end or log.index[place] != index[i] or log.value[place] != value[i]:
                return False
            place += 1
    return place == end


@jit
def _add_row(log, rows, index, value):
    place = log.first[rows]
    for i in range(len(index)):
        if value[i] != 0.0:
            log.index[place], log.value[place] = index[i], value[i]
            log.used[SEEN] = max(log.used[SEEN], index[i] + 1)
            place += 1
    log.first[rows + 1] = place


@jit
def features(log, t):
    """The features x and x_next of a transition."""
    row = log.row[t]
    i, j, k = log.first[row], log.first[row + 1], log.first[row + 2]
    return Active(log.index[i:j], log.value[i:j]), Active(log.index[j:k], log.value[j:k])
