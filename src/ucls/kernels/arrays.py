"""Array types of a state by shape, with floating-point numbers or integers.

States are changed in place, and a plain number in a NamedTuple cannot be. So a number that changes is an array of one,
a `Scalar`, which kernels read and write as `state.t[0]`. Whole numbers (flags are, too) declare their range besides,
`Annotated[IntVector, FEATURE]`, see `ranges`.

The words are for readers and for type checkers, which do not tell a `Scalar` from a `Vector`; numba looks at the arrays
themselves.

Matrices that are read whole in each step begin with a cache line: `zeros`, `diagonal` and, of another array, `aligned`.
"""

import math
from typing import Any

import numpy as np

_Floats = np.dtype[np.floating[Any]]
_Ints = np.dtype[np.integer[Any]]

Array = np.ndarray[Any, _Floats]
Matrix = np.ndarray[tuple[int, int], _Floats]
Vector = np.ndarray[tuple[int], _Floats]
Scalar = np.ndarray[tuple[int], _Floats]

IntArray = np.ndarray[Any, _Ints]
IntMatrix = np.ndarray[tuple[int, int], _Ints]
IntVector = np.ndarray[tuple[int], _Ints]
IntScalar = np.ndarray[tuple[int], _Ints]

LINE = 64  # bytes; a vector of numbers that straddles two lines takes two loads, which costs up to a fifth of a step


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros aligned to a cache line; unused pages take no memory."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(shape)


def diagonal(size: int, value: Any, dtype: Any) -> np.ndarray:
    """A matrix with one value on its diagonal."""
    matrix = zeros((size, size), dtype)
    np.fill_diagonal(matrix, value)
    return matrix


def aligned(array: np.ndarray) -> np.ndarray:
    """Return a copy aligned to a cache line."""
    copy = zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
