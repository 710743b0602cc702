"""Checksums stored beside data, so that corruption is detected and never mistaken for a result."""

import hashlib
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

DOUBLE = struct.Struct("<3sd").pack


def seal(*values: Any) -> str:
    """Return a checksum of values in their order, each with its type and length. Checksums are stored in files: this
    never changes.

    >>> seal("a", 1) == seal("a", 1), seal("a", 1) == seal("a", 1.0), seal("ab", "c") == seal("a", "bc")
    (True, False, False)
    """
    return digest_of_parts(parts_of(values))


def digest_of_parts(parts: Iterable[bytes]) -> str:
    """Return the checksum of values that `part` has turned into bytes: some are the same in a million checksums."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:24]


def part(value: Any) -> bytes:
    """A value as bytes, with its type and length."""
    return parts_of((value,))[0]


def parts_of(values: Iterable[Any]) -> list[bytes]:
    """Values as bytes, each with its type and length; in one loop, because a store has many millions."""
    parts = []
    for value in values:
        kind = type(value)
        if kind is float:
            parts.append(DOUBLE(b"f8:", value))
        elif value is None:
            parts.append(b"n0:")
        elif kind is bytes:
            parts.append(b"b%d:%b" % (len(value), value))
        elif isinstance(value, str):
            content = value.encode("utf-8", "surrogatepass")
            parts.append(b"s%d:%b" % (len(content), content))
        else:
            content = b"%d" % value
            parts.append(b"i%d:%b" % (len(content), content))
    return parts


def seal_arrays(arrays: Mapping[str, np.ndarray], *values: Any) -> str:
    """Return the checksum of some values and of arrays with their names, types and shapes."""
    parts = [(name, a.dtype.str, repr(a.shape), a.tobytes()) for name, a in sorted(arrays.items())]
    return seal(*values, *(part for named in parts for part in named))
