"""The arrays of a log in an .npz."""

from pathlib import Path

import numpy as np

from ucls._util.npz import read_arrays
from ucls.evaluation.logs.names import OPTIONAL, unused
from ucls.evaluation.room import memory

NEEDED = ("x", "reward", "discount", "x_next")


def read_log_arrays(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of a log, and the names of the others, which are not read."""
    known = (*NEEDED, *OPTIONAL)
    arrays, names = read_arrays(path, known, memory() // 2)
    return arrays, unused(names, arrays, known, "array")
