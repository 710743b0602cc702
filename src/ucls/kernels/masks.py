"""Action masks in kernels: which rows of features an algorithm gets to see.

A mask has a number for every action, 0 if the action is invalid in this state. To choose an action, an algorithm gets
the features of valid actions only (`valid_rows`). To learn, it gets a row for every action, and the rows of invalid
ones repeat that of the first valid one (`repeat_valid`): a maximum over rows is then one over valid actions, and row a
is still that of action a.
"""

import numpy as np

from ucls.kernels.active import Active
from ucls.kernels.compilation.jit import jit

UNKNOWN, INVALID, VALID = 0, 1, 2  # what is known of a feature: never met, met while its action was invalid, or valid


@jit
def valid_rows(xs, mask):
    """The features of valid actions, in their order."""
    n = 0
    for a in range(len(mask)):
        n += mask[a] != 0
    index, value = np.empty((n, xs.index.shape[1]), np.int64), np.empty((n, xs.index.shape[1]))
    n = 0
    for a in range(len(mask)):
        if mask[a] != 0:
            for i in range(index.shape[1]):
                index[n, i] = xs.index[a, i]
                value[n, i] = xs.value[a, i]
            n += 1
    return Active(index, value)


@jit
def action_of_row(mask, row):
    """The action whose features are in a row of `valid_rows`; -1 if there is no such row."""
    for a in range(len(mask)):
        if mask[a] != 0:
            if row == 0:
                return a
            row -= 1
    return -1


@jit
def repeat_valid(xs, mask):
    """Replace the features of invalid actions by those of the first valid one."""
    first = action_of_row(mask, 0)
    for a in range(len(mask)):
        if mask[a] == 0:
            for i in range(xs.index.shape[1]):
                xs.index[a, i] = xs.index[first, i]
                xs.value[a, i] = xs.value[first, i]


@jit
def is_same(xs, a, b):
    """Whether two rows have the same features, as that of an invalid action and the one that it repeats."""
    for i in range(xs.index.shape[1]):
        if xs.index[a, i] != xs.index[b, i] or xs.value[a, i] != xs.value[b, i]:
            return False
    return True


@jit
def is_repeated(xs, a):
    """Whether an earlier row has the same features as row a: leaving such rows out counts every valid action once."""
    for b in range(a):  # noqa: SIM110
        if is_same(xs, a, b):
            return True
    return False


@jit
def note(met, xs, mask):
    """Note for every feature whether its action was valid in a state; `met` has a number for each (see `VALID`)."""
    for a in range(len(mask)):
        for i in range(xs.index.shape[1]):
            if xs.value[a, i] != 0.0:
                met[xs.index[a, i]] = max(met[xs.index[a, i]], VALID if mask[a] != 0 else INVALID)


@jit
def recall(met, xs, mask):
    """Write the mask that was met in a state: an action is invalid if it was invalid wherever one of its features was
    active, unless that leaves none."""
    valid = 0
    for a in range(len(mask)):
        mask[a] = 1
        for i in range(xs.index.shape[1]):
            if xs.value[a, i] != 0.0 and met[xs.index[a, i]] == INVALID:
                mask[a] = 0
        valid += mask[a]
    if valid == 0:
        for a in range(len(mask)):
            mask[a] = 1
