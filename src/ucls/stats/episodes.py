"""When a run has learned its task, from which of its episodes succeeded."""

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError


def solved_after(successes: ArrayLike, window: int = 100, share: float = 0.9) -> int | None:
    """After how many episodes a run solves its task; None if it never does.

    That is the least e for which, of the `window` episodes after the first e, at least `share` succeed: counted from 0,
    episodes e, ..., e + window - 1. Only whole windows count, so a run of fewer episodes than one is not solved. What a
    success is, the caller says: in a Deep Sea that is not stochastic, a return above 1/2.

    >>> solved_after([False, True, False, True, True, True], window=4, share=0.75)
    1
    >>> solved_after([True, True, True], window=4) is None
    True
    """
    if window < 1 or not 0 < share <= 1:
        raise UserError(f"{share} of {window} episodes solves nothing: give a window >= 1, a share > 0 and <= 1")
    total = np.concatenate([[0], np.cumsum(np.asarray(successes, bool))])
    solved = np.flatnonzero((total[window:] - total[:-window]) / window >= share)
    return int(solved[0]) if len(solved) else None
