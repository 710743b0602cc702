"""The arrays of a state in words: their shape, and whether they hold numbers with a point or whole ones.

States are changed in place, and a plain number in a NamedTuple cannot be. So a number that changes is an array of one,
a `Scalar`, which kernels read and write as `state.t[0]`. Whole numbers (flags are, too) declare their range besides,
`Annotated[IntVector, FEATURE]`, see `ranges`.

The words are for readers and for type checkers, which do not tell a `Scalar` from a `Vector`; numba looks at the arrays
themselves.
"""

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
