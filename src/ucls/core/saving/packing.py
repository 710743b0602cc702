"""Arrays in files, in fewer bytes and without any loss.

The bytes of numbers are sorted by their significance and compressed with zlib: unused entries, integers and exponents
take almost nothing. Of a matrix that is symmetric but for rounding, the upper triangle is stored as differences from
the lower one. The digits of different numbers remain: they cannot be compressed.

A reader refuses to unpack more than `LIMIT` bytes, so a small file cannot request much memory; beyond that, a writer
stores arrays as they are.
"""

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucls.errors import UserError

PACKED = "packed"  # what a file says about its packed arrays: their type, their shape, and whether they are folded
LEVEL = 6  # of zlib: 2 to 10% smaller than 1, and 9 gains 1% in five times the time
SMALL = 2**10  # bytes of the smallest array that is packed
LIMIT = 2**29  # bytes of all packed arrays before they are packed
TYPES = ("<f8", "<f4", "<i8", "<i4", "|u1")
SAME = 1e-6  # relative difference of two entries that are the same but for rounding


def pack(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `unpack` needs to know, and the arrays, packed where that saves a tenth."""
    how: dict[str, Any] = {}
    packed, left = dict(arrays), LIMIT
    for name, array in arrays.items():
        if SMALL <= array.nbytes <= left and array.dtype.str in TYPES:
            folded = _is_symmetric(array)
            blob = zlib.compress(_planes(_folded(array) if folded else array), LEVEL)
            if 10 * len(blob) < 9 * array.nbytes:
                packed[name], left = np.frombuffer(blob, np.uint8), left - array.nbytes
                how[name] = [array.dtype.str, list(array.shape), folded]
    return how, packed


def unpack(how: Any, arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays that were packed, or a one-line error if they cannot have been."""
    found, left = dict(arrays), LIMIT
    try:
        for key, (kind, shape, folded) in dict(how).items():
            found[key] = _unpacked(found[key], kind, shape, folded, left)
            left -= found[key].nbytes
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error):
        raise UserError(f"{name} is corrupted: what it says about its packed arrays cannot be right") from None
    return found


def _unpacked(blob: np.ndarray, kind: str, shape: list[int], folded: bool, most: int) -> np.ndarray:
    """One array, of at most so many bytes; a ValueError if it cannot have been packed."""
    sound = kind in TYPES and len(shape) > 0 and all(type(n) is int and n > 0 for n in shape)
    if not sound or (folded and not _can_fold(kind, shape)):
        raise ValueError(kind)
    size = math.prod(shape) * np.dtype(kind).itemsize
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(blob.tobytes(), size + 1) if size <= most else b""
    if len(raw) != size or not unpacking.eof:
        raise ValueError(kind)
    planes = np.frombuffer(raw, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    array = np.ascontiguousarray(planes.T).view(kind).reshape(shape)
    return _unfolded(array) if folded else array


def _planes(array: np.ndarray) -> bytes:
    """The first bytes of all numbers, then the second ones, and so on."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes()


def _can_fold(kind: str, shape: Any) -> bool:
    return kind == "<f8" and len(shape) > 1 and shape[-1] == shape[-2]


def _is_symmetric(array: np.ndarray) -> bool:
    """Whether an array is a matrix, or a stack of matrices, that are symmetric but for rounding."""
    if not _can_fold(array.dtype.str, array.shape):
        return False
    return np.allclose(array, array.swapaxes(-1, -2), rtol=SAME, atol=SAME * float(np.abs(array).max()))


def _folded(array: np.ndarray) -> np.ndarray:
    """The bits of a matrix; above the diagonal how far they are from those below it, by size and with the sign last."""
    bits = np.ascontiguousarray(array).view(np.int64)
    apart = bits - bits.swapaxes(-1, -2)
    return np.where(_above(array), (apart << 1) ^ (apart >> 63), bits)


def _unfolded(array: np.ndarray) -> np.ndarray:
    """The matrix that was folded."""
    bits = array.view(np.int64)
    apart = (array.view(np.uint64) >> np.uint64(1)).view(np.int64) ^ -(bits & 1)
    return np.where(_above(array), bits.swapaxes(-1, -2) + apart, bits).view(np.float64)


def _above(array: np.ndarray) -> np.ndarray:
    return np.triu(np.ones(array.shape[-2:], bool), 1)
