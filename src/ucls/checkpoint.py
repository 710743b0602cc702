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

FORMAT = 1

T = TypeVar("T")


def save(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Path:
    """Write arrays and what they are about."""
    from safetensors.numpy import save_file

    path = Path(path)
    # safetensors writes the buffer as it lies in memory: anything but C order would be corrupted.
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, **about}, sort_keys=True)
    write_atomic(path, lambda file: save_file(contiguous, file, {"ucls": text}))
    return path


def load(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what `save` wrote, or say in one line why that cannot be."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.is_file():
        raise UserError(f"no checkpoint at {path}: give the file that `save` or `ucls train --out` wrote")
    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get("ucls")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} cannot be read as a checkpoint, it is damaged or foreign: {error}") from None
    if text is None:
        raise UserError(f"{path} is not a checkpoint of ucls: it says nothing about itself")
    about = json.loads(text)
    if about["format"] > FORMAT:
        raise UserError(f"{path} was written by a newer ucls (format {about['format']}): update ucls to read it")
    return about, arrays


def flatten(prefix: str, parts: Any) -> dict[str, np.ndarray]:
    """The arrays of a NamedTuple, and of the NamedTuples in it, by dotted names."""
    found: dict[str, np.ndarray] = {}
    for field, part in zip(parts._fields, parts, strict=True):
        if isinstance(part, np.ndarray):
            found[f"{prefix}.{field}"] = part
        elif isinstance(part, tuple):
            found |= flatten(f"{prefix}.{field}", part)
    return found


def rebuild(prefix: str, like: T, arrays: Mapping[str, np.ndarray], growable: bool = False) -> T:
    """Make a NamedTuple like `like` with the arrays that `flatten` named; copies, so that kernels may write.

    An array has the shape of its like; if `growable`, it may be larger.
    """
    parts: dict[str, Any] = {}
    for field, part in zip(like._fields, like, strict=True):  # pyright: ignore
        name = f"{prefix}.{field}"
        if isinstance(part, np.ndarray):
            array = arrays.get(name)
            if array is None or array.dtype != part.dtype or not _fits(array.shape, part.shape, growable):
                raise UserError(f"the checkpoint does not fit: {name!r} is missing or of another size or type")
            parts[field] = array.copy()
        else:
            parts[field] = rebuild(name, part, arrays, growable) if isinstance(part, tuple) else part
    return type(like)(**parts)


def _fits(shape: tuple[int, ...], like: tuple[int, ...], growable: bool) -> bool:
    if not growable or len(shape) != len(like):
        return shape == like
    return all(n >= least for n, least in zip(shape, like, strict=True))
