"""Checkpoints: arrays and a JSON description in one safetensors file, written whole or not at all.

Reading one never executes code.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ucls._files import write_atomic
from ucls.errors import UserError
from ucls.kernels.arrays import aligned
from ucls.kernels.ranges import Sizes, check, declared, fits

FORMAT = 1

T = TypeVar("T")


def save(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Path:
    """Write arrays and what they are about."""
    path = Path(path)
    blob = to_bytes(arrays, about)
    write_atomic(path, lambda file: file.write_bytes(blob))
    return path


def load(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save` wrote, or say in one line why that cannot be."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"no checkpoint at {path}: give the file that `save` or `ucls train --out` wrote")
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    return from_bytes(blob, str(path))


def to_bytes(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any] = {}) -> bytes:
    """Arrays and what they are about as bytes; equal content gives equal bytes."""
    from safetensors.numpy import save as serialise

    # safetensors writes the buffer as it lies in memory: anything but C order would be corrupted.
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, **about}, sort_keys=True)
    return serialise(contiguous, {"ucls": text})


def from_bytes(blob: bytes, name: str = "the checkpoint") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `to_bytes` made, or say in one line why that cannot be."""
    from safetensors.numpy import load as parse

    try:
        arrays = parse(blob)
        length = int.from_bytes(blob[:8], "little")
        text = json.loads(blob[8 : 8 + length]).get("__metadata__", {}).get("ucls")
    except Exception as error:  # the readers raise their own kinds, and others where a type or a shape is unknown
        why = " ".join(str(error).split())[:200]
        raise UserError(f"{name} cannot be read as a checkpoint, it is damaged or foreign: {why}") from None
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


def flatten(prefix: str, parts: Any) -> dict[str, np.ndarray]:
    """Copies of the arrays of a NamedTuple, and of the NamedTuples in it, by dotted names."""
    arrays: dict[str, np.ndarray] = {}
    for field, part in zip(parts._fields, parts, strict=True):
        if isinstance(part, np.ndarray):
            arrays[f"{prefix}.{field}"] = part.copy()
        elif isinstance(part, tuple):
            arrays |= flatten(f"{prefix}.{field}", part)
    return arrays


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
            array = arrays.get(name)
            if array is None or array.dtype != part.dtype or not fits(array.shape, part.shape, fields[field].grows):
                raise UserError(f"the checkpoint does not fit: {name!r} is missing or of another size or type")
            parts[field] = aligned(array)
        else:
            parts[field] = _rebuild(name, part, arrays) if isinstance(part, tuple) else part
    return type(like)(**parts)
