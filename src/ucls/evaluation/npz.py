"""Arrays of an .npz that somebody handed in: nothing is executed, and nothing allocated that is not there."""

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls.errors import UserError
from ucls.evaluation.names import OPTIONAL, unused
from ucls.evaluation.room import memory

NEEDED = ("x", "reward", "discount", "x_next")
HEADER = 10_000  # bytes of the description of an array


def read_log_arrays(path: Path) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of a log, and the names of the others, which are not read."""
    known = (*NEEDED, *OPTIONAL)
    arrays, names = read_arrays(path, known)
    return arrays, unused(names, arrays, known, "array")


def read_arrays(path: Path, known: Sequence[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of these names, as far as a file has them, and the names of all that it has."""
    try:
        with zipfile.ZipFile(path) as file:
            members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            wanted = {name: members[name] for name in known if name in members}
            size = sum(info.file_size for info in wanted.values())
            if size > memory() // 2:
                raise UserError(f"{path} holds {size:,} bytes of arrays, more than fit into memory: cut it in parts")
            return {name: _array(file, info, path, name) for name, info in wanted.items()}, list(members)
    except UserError:
        raise
    except Exception:  # whatever damaged bytes do to a reader of zip files
        raise UserError(f"{path} is not an .npz of plain arrays") from None


def _array(file: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, name: str) -> np.ndarray:
    form: Any = np.lib.format
    with file.open(info) as stream:
        version = form.read_magic(stream)
        read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        shape, _, dtype = read(stream, max_header_size=HEADER)
    if dtype.hasobject or dtype.kind not in "iufb":
        raise UserError(f"{path}: the array {name!r} is of type {str(dtype)[:40]}: give plain numbers")
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise UserError(f"{path}: the array {name!r} is said to be of shape {str(shape)[:60]}, and is not that large")
    with file.open(info) as stream:
        return form.read_array(stream, allow_pickle=False, max_header_size=HEADER)
