"""Features as users give them, converted to rows of active ones; numbers are checked here."""

from typing import Any

import numpy as np

from ucls.errors import UserError
from ucls.kernels.active import Active


def numbers(values: Any, name: str, n: int | None = None) -> np.ndarray:
    """A column of finite numbers, with as many rows as the others."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise UserError(f"{name} must be numbers") from None
    if n is not None and found.ndim == 0:
        found = np.full(n, found)
    if found.ndim != 1:
        raise UserError(f"{name} must be one number for each transition, not an array of shape {found.shape}")
    if n is not None and len(found) != n:
        raise UserError(f"there are {n} rewards but {len(found)} numbers of {name}")
    if not np.isfinite(found).all():
        raise UserError(f"{name} holds NaN or infinity, first in transition {int(np.argmin(np.isfinite(found)))}")
    return np.ascontiguousarray(found)


def sparse_rows(x: Any, size: int, n: int | None, name: str, ignored: np.ndarray | None = None) -> Active:
    """Rows of active features. Dense ones keep no indices: these are those of the columns.

    Rows that are `ignored` (after an end) are made 0, whatever they hold.
    """
    if isinstance(x, tuple):
        if len(x) != 2:
            raise UserError(f"{name} is a tuple of {len(x)}: give (indices, values)")
        index, value = np.asarray(x[0]), np.asarray(x[1], np.float64)
        if value.shape != index.shape:
            raise UserError(f"{name} has indices of shape {index.shape} but values of shape {value.shape}")
    else:
        found = np.asarray(x)
        if found.dtype.kind not in "iufb":
            raise UserError(f"{name} must be integers (indices) or floats (all features)")
        if found.dtype.kind in "iu":
            index, value = found, np.ones(found.shape)
        else:
            index, value = np.arange(size)[None], np.asarray(found, np.float64)
            if value.ndim != 2 or value.shape[1] != size:
                hint = "give integers if indices are meant"
                raise UserError(f"{name} has the shape {value.shape} but there are {size} features: {hint}")
    if value.ndim != 2 or (n is not None and len(value) != n):
        raise UserError(f"{name} has the shape {value.shape}: it needs a row for each transition ({n})")
    if ignored is not None and ignored.any():
        value = np.where(ignored[:, None], 0.0, value)
        if len(index) == len(value):
            index = np.where(ignored[:, None], 0, index)
    if index.dtype.kind not in "iu":
        raise UserError(f"the indices of {name} must be integers")
    if index.size and not (index.min() >= 0 and index.max() < size):
        raise UserError(f"{name} has indices from {index.min()} to {index.max()}: they must be from 0 to {size - 1}")
    if not np.isfinite(value).all():
        row = int(np.argmin(np.isfinite(value).all(axis=1)))
        raise UserError(f"{name} holds NaN or infinity, first in transition {row}")
    return Active(index, value)


def dense_rows(rows: Active, part: slice) -> Active:
    """Some of the rows as arrays that a kernel takes."""
    value = np.ascontiguousarray(rows.value[part])
    index = rows.index[part] if len(rows.index) == len(rows.value) else rows.index
    return Active(np.ascontiguousarray(np.broadcast_to(index, value.shape), np.int32), value)
