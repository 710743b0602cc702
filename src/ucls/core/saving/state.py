"""The state of an algorithm as arrays: its fields, or what its hooks `to_arrays` and `from_arrays` make of it.

The hooks are for algorithms on the plain engine whose state is more than arrays, such as a network and its optimizer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.kernels.ranges import Sizes, check, may_grow, require

PREFIX = "state"


def has_hooks(algorithm: Any) -> bool:
    """Whether the algorithm turns its state into arrays by itself."""
    return hasattr(algorithm, "to_arrays")


def require_state(algorithm: Any, state: Any) -> None:
    """Refuse a state that could not be saved, or that does not declare what it must."""
    if has_hooks(algorithm):
        _own_arrays(algorithm, state)
        return
    require("State", state)
    if hasattr(algorithm, "grow") and not may_grow(state):
        raise UserError("State has data that grow, but no field says that it does: Annotated[Any, Grows(axis)]")


def to_arrays(algorithm: Any, state: Any, trim: bool = False) -> dict[str, np.ndarray]:
    """Copies of the arrays of a state, by dotted names; `trim` leaves out what was never visited of large matrices."""
    if not has_hooks(algorithm):
        return checkpoint.flatten(PREFIX, state, trim)
    return {f"{PREFIX}.{name}": array.copy() for name, array in _own_arrays(algorithm, state).items()}


def refuse_unsound(algorithm: Any, state: Any, sizes: Sizes) -> None:
    """Refuse a state whose numbers could not be loaded again."""
    if not has_hooks(algorithm):
        check(PREFIX, state, state, sizes)
        return
    for name, array in _own_arrays(algorithm, state).items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UserError(f"{PREFIX}.{name} contains numbers that are not finite: they cannot be saved")


def from_arrays(algorithm: Any, state: Any, arrays: Mapping[str, np.ndarray], sizes: Sizes) -> Any:
    """A state like `state`, which stays as it is, with the content of these arrays; refused if they do not fit."""
    if not has_hooks(algorithm):
        return checkpoint.rebuild(PREFIX, state, arrays, sizes)
    own = {name.partition(".")[2]: array.copy() for name, array in arrays.items() if name.startswith(f"{PREFIX}.")}
    types = {name: array.dtype for name, array in _own_arrays(algorithm, state).items()}
    if types != {name: array.dtype for name, array in own.items()}:
        raise UserError("the checkpoint does not fit the algorithm: its arrays have other names or types")
    for name, array in own.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UserError(f"the checkpoint cannot be right: {PREFIX}.{name} is not finite")
    try:
        return algorithm.from_arrays(state, own)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise UserError(f"the checkpoint does not fit the algorithm: {type(error).__name__}: {error}") from None


def _own_arrays(algorithm: Any, state: Any) -> dict[str, np.ndarray]:
    arrays = algorithm.to_arrays(state)
    for name, array in arrays.items():
        if not (isinstance(array, np.ndarray) and array.dtype.kind in "fiub"):
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise UserError(f"to_arrays returned {name!r} of type {kind}: return NumPy arrays of numbers")
    return arrays
