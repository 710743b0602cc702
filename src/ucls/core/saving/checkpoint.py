"""Checkpoints: arrays and a JSON description in one safetensors file, written whole or not at all.

Reading one never executes code. In a file, arrays are packed (see `packing`).

Matrices have room for every feature that there is, and most features are not seen for a long time. So `flatten` can
trim a matrix to the leading block beyond which it holds one number, or one on its diagonal and one off it, as where
nothing was learned: the block keeps the name of the matrix, and NAME@beyond has the two numbers, off the diagonal and
on it. `rebuild` makes the same matrix again, bit for bit, in the shape that a new learner has: a file does not say any
shape. Arrays that grow are stored whole, because their length is known only from the file.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ucls._util.files import write_atomic
from ucls.core.saving import packing
from ucls.errors import UserError, printable
from ucls.kernels.arrays import aligned, zeros
from ucls.kernels.ranges import Sizes, check, declared, fits

FORMAT = 3  # of files with packed arrays; with trimmed matrices 2, and others 1
BEYOND = "@beyond"
TRIMMED = 2**16  # bytes of the smallest matrix that is trimmed
SUFFIX = ".safetensors"
ZIP = b"PK\x03\x04"  # the first bytes of exported policies, and of agents of other packages

T = TypeVar("T")


def named(path: str | Path) -> Path:
    """The file that an agent is saved to: `.safetensors` is added to a name without a suffix, any other is refused.

    >>> print(named("runs/best"))
    runs/best.safetensors
    """
    path = Path(path)
    if _is_folder(path):
        raise UserError(f"{printable(path)} is a folder: name a file, for example {printable(path / 'agent')}{SUFFIX}")
    if path.suffix.lower() == SUFFIX:
        return path
    if path.suffix:
        right = printable(path.with_suffix(SUFFIX))
        raise UserError(f"an agent is saved in the format {SUFFIX[1:]}, not {printable(path.suffix)}: name it {right}")
    return path.with_name(path.name + SUFFIX)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # no valid file name: writing it says why
        return False


def found(path: str | Path) -> Path:
    """The file that an agent is loaded from: of a name without a suffix the one that `named` gives, if it is there."""
    path = Path(path)
    if path.suffix or not path.name or _is_folder(path):
        return path
    longer = path.with_name(path.name + SUFFIX)
    return longer if _is_file(longer) else path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def save(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Path:
    """Write arrays and what they are about."""
    path, (how, packed) = Path(path), packing.pack(arrays)
    blob = to_bytes(packed, {**about, packing.PACKED: how} if how else about)
    write_atomic(path, lambda file: file.write_bytes(blob))
    return path


def load(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save` wrote, or say in one line why that cannot be."""
    path = found(path)
    if not path.is_file():
        raise UserError(f"no checkpoint at {path}: give the file that `save` or `ucls train --out` wrote")
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if blob.startswith(ZIP):
        raise UserError(f"{path} is not a saved agent: ucls.policy.Policy reads what `export` wrote")
    about, arrays = from_bytes(blob, str(path))
    how = about.pop(packing.PACKED, {})
    return about, packing.unpack(how, arrays, str(path))


def to_bytes(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any] = {}) -> bytes:
    """Arrays and what they are about as bytes; equal content gives equal bytes."""
    from safetensors.numpy import save as serialize

    # safetensors writes the buffer as it lies in memory: anything but C order would be corrupted.
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    version = 2 if any(name.endswith(BEYOND) for name in arrays) else 1
    version = FORMAT if packing.PACKED in about else version
    text = json.dumps({**about, "format": version}, sort_keys=True)
    return serialize(contiguous, {"ucls": text})


def from_bytes(blob: bytes, name: str = "the checkpoint") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `to_bytes` made, or say in one line why that cannot be."""
    from safetensors.numpy import load as parse

    try:
        arrays = parse(blob)
        length = int.from_bytes(blob[:8], "little")
        text = json.loads(blob[8 : 8 + length]).get("__metadata__", {}).get("ucls")
    except Exception as error:  # the readers raise their own kinds, and others where a type or a shape is unknown
        why = " ".join(str(error).split())[:200]
        raise UserError(f"{name} is corrupted or not a checkpoint: {why}") from None
    if text is None:
        raise UserError(f"{name} is not a checkpoint of ucls: it says nothing about itself")
    return _about(text, name), arrays


def _about(text: str, name: str) -> dict[str, Any]:
    """What a checkpoint says of itself: an object with a format that we know."""
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    known = about.get("format") if isinstance(about, dict) else None
    if about is None or type(known) is not int or known < 1:
        raise UserError(f"{name} is not a checkpoint of ucls: what it says about itself cannot be read")
    if known > FORMAT:
        raise UserError(f"{name} was written by a newer ucls (format {known}): update ucls to read it")
    return about


def flatten(prefix: str, parts: Any, trim: bool = False) -> dict[str, np.ndarray]:
    """Copies of the arrays of a NamedTuple, and of the NamedTuples in it, by dotted names; with `trim`, of large
    matrices only the part that `rebuild` needs."""
    arrays: dict[str, np.ndarray] = {}
    fields = declared(type(parts))
    for field, part in zip(parts._fields, parts, strict=True):
        name = f"{prefix}.{field}"
        if isinstance(part, np.ndarray):
            arrays |= _trimmed(name, part) if trim and fields[field].grows is None else {name: part.copy()}
        elif isinstance(part, tuple):
            arrays |= flatten(name, part, trim)
    return arrays


def _trimmed(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """A copy of an array, or of the leading block of a matrix and what is beyond it. Numbers are compared by their
    bits, so that -0 remains -0."""
    if array.ndim < 2 or array.nbytes < TRIMMED or array.dtype.itemsize > 8:
        return {name: array.copy()}
    bits = array.view(f"u{array.dtype.itemsize}")
    corner = (-1,) * array.ndim
    off = (*corner[1:], 0) if _has_diagonal(array) else corner
    differs = bits != bits[off]
    if _has_diagonal(array):
        _diagonal(differs)[...] = _diagonal(bits) != bits[corner]
    ends = []
    for axis in range(array.ndim):
        others = tuple(i for i in range(array.ndim) if i != axis)
        ends.append(int(np.flatnonzero(differs.any(axis=others))[-1:].sum()) + 1)
    block = array[tuple(slice(end) for end in ends)]
    if 10 * block.size > 9 * array.size:
        return {name: array.copy()}
    return {name: block.copy(), name + BEYOND: np.array([array[off], array[corner]], array.dtype)}


def _has_diagonal(array: np.ndarray) -> bool:
    return array.shape[-1] == array.shape[-2] > 1


def _diagonal(matrix: np.ndarray) -> np.ndarray:
    """The diagonal of a matrix, or of each in a stack of them, as a view that can be written to."""
    return np.einsum("...ii->...i", matrix)


def rebuild(prefix: str, like: T, arrays: Mapping[str, np.ndarray], sizes: Sizes) -> T:
    """Make a NamedTuple like `like` with the arrays that `flatten` named, each within the range that its field declares
    (see `ranges`); copies, so that kernels may write."""
    parts = _rebuild(prefix, like, arrays)
    check(prefix, parts, like, sizes)
    return parts


def _rebuild(prefix: str, like: T, arrays: Mapping[str, np.ndarray]) -> T:
    parts: dict[str, Any] = {}
    fields = declared(type(like))
    for field, part in zip(like._fields, like, strict=True):  # pyright: ignore
        name = f"{prefix}.{field}"
        if isinstance(part, np.ndarray):
            parts[field] = _array(name, part, arrays, fields[field].grows)
        else:
            parts[field] = _rebuild(name, part, arrays) if isinstance(part, tuple) else part
    return type(like)(**parts)


def _array(name: str, like: np.ndarray, arrays: Mapping[str, np.ndarray], grows: int | None) -> np.ndarray:
    """A copy of the array of this name, whole again if it was trimmed."""
    array, beyond = arrays.get(name), arrays.get(name + BEYOND)
    if array is not None and array.dtype == like.dtype:
        if beyond is None and fits(array.shape, like.shape, grows):
            return aligned(array)
        if beyond is not None and grows is None and _is_block(array, beyond, like):
            return _expanded(array, beyond, like)
    raise UserError(f"the checkpoint does not fit: {name!r} is missing or of another size or type")


def _is_block(block: np.ndarray, beyond: np.ndarray, like: np.ndarray) -> bool:
    """Whether these can be the leading block of an array like another, and what is beyond it."""
    inside = block.ndim == like.ndim >= 2 and all(n <= m for n, m in zip(block.shape, like.shape, strict=True))
    fills = beyond.shape == (2,) and beyond.dtype == like.dtype
    return inside and fills and (_has_diagonal(like) or beyond[0].tobytes() == beyond[1].tobytes())


def _expanded(block: np.ndarray, beyond: np.ndarray, like: np.ndarray) -> np.ndarray:
    """An array of the shape of `like` with this leading block. Memory that remains 0 is not touched."""
    array = zeros(like.shape, like.dtype)
    if beyond[0].tobytes().strip(b"\0"):
        array[...] = beyond[0]
    if _has_diagonal(array):
        _diagonal(array)[...] = beyond[1]
    array[tuple(slice(n) for n in block.shape)] = block
    return array
