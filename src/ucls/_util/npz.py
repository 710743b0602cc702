"""Arrays of an .npz from an untrusted source: nothing is executed, and no more is allocated than the file holds."""

import math
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError, printable

HEADER = 10_000  # bytes of the description of an array
PLAIN = "iufb"  # kinds of numbers that are read
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what numpy writes; others may claim gigabytes of memory


class Head(NamedTuple):
    """The type and shape that a file declares for an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def read_arrays(path: Path, known: Sequence[str], most: int) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the arrays of these names, as far as a file has them, and the names of all that it has.

    Refuse a file whose arrays take more than `most` bytes, before they are read.
    """
    with _opened(path) as file:
        members = _members(file)
        wanted = {name: members[name] for name in known if name in members}
        size = sum(info.file_size for info in wanted.values())
        if size > most:
            raise UserError(f"{path} holds {size:,} bytes of arrays, more than fit into memory: split it")
        return {name: _array(file, info, path, name) for name, info in wanted.items()}, list(members)


def read_heads(path: Path, known: Sequence[str]) -> dict[str, Head]:
    """Return the shapes and types of the arrays of these names, as far as a file has them, without reading them."""
    with _opened(path) as file:
        members = _members(file)
        return {name: _head(file, members[name], path, name) for name in known if name in members}


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a file; errors are one line."""
    try:
        if not path.is_file():
            raise UserError(f"{path} is not a file")
        with warnings.catch_warnings(), zipfile.ZipFile(path) as file:
            warnings.simplefilter("ignore")  # numpy's, on headers that it reads with effort
            yield file
    except UserError:
        raise
    except Exception:  # whatever damaged bytes do to a reader of zip files
        raise UserError(f"{path} is not an .npz of plain arrays") from None


def _members(file: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    return {info.filename.removesuffix(".npy"): info for info in file.infolist()}


def _head(file: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, name: str) -> Head:
    if info.compress_type not in COMPRESSIONS:
        raise UserError(f"{path}: the array {name!r} is not compressed as numpy does it: write it with numpy.savez")
    form: Any = np.lib.format
    with file.open(info) as stream:
        version = form.read_magic(stream)
        read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        shape, _, dtype = read(stream, max_header_size=HEADER)
    if dtype.hasobject or dtype.kind not in PLAIN:
        raise UserError(f"{path}: the array {name!r} is of type {printable(str(dtype)[:40])}: give plain numbers")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > info.file_size:
        raise UserError(f"{path}: the array {name!r} is declared with shape {str(shape)[:60]}, but is smaller")
    return Head(shape, dtype)


def _array(file: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, name: str) -> np.ndarray:
    _head(file, info, path, name)
    form: Any = np.lib.format
    with file.open(info) as stream:
        return form.read_array(stream, allow_pickle=False, max_header_size=HEADER)
