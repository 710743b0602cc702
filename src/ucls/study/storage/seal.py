"""Seals: a digest beside what is kept, so that damage is noticed and never taken for a result."""

import hashlib
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np


def seal(*values: Any) -> str:
    """A digest of values in their order, each with its type and length. Seals are kept in files: this never changes.

    >>> seal("a", 1) == seal("a", 1), seal("a", 1) == seal("a", 1.0), seal("ab", "c") == seal("a", "bc")
    (True, False, False)
    """
    digest = hashlib.sha256()
    for value in values:
        kind, content = _content(value)
        digest.update(f"{kind}{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()[:24]


def seal_arrays(arrays: Mapping[str, np.ndarray], *values: Any) -> str:
    """The seal of some values and of arrays with their names, types and shapes."""
    parts = [(name, a.dtype.str, repr(a.shape), a.tobytes()) for name, a in sorted(arrays.items())]
    return seal(*values, *(part for named in parts for part in named))


def _content(value: Any) -> tuple[str, bytes]:
    if value is None:
        return "n", b""
    if isinstance(value, bytes):
        return "b", value
    if isinstance(value, str):
        return "s", value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        return "f", struct.pack("<d", value)
    return "i", str(int(value)).encode()
