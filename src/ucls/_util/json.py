"""Strict JSON: `null` where there is no number, because JSON has no NaN or infinity."""

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from ucls.errors import UserError


def as_json(data: Any, **form: Any) -> str:
    """Return data as JSON that every parser reads; keywords are those of `json.dumps`.

    >>> as_json({"mean": float("nan"), "ends": [1.0, float("inf")]})
    '{"mean": null, "ends": [1.0, null]}'
    """
    return json.dumps(_finite(data), allow_nan=False, **form)


def read_json(path: Path, most: int) -> Any:
    """Read a JSON file of at most so many bytes; errors are one line."""
    try:
        if not path.is_file():
            raise UserError(f"{path} is not a file")
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise UserError(f"{path} is larger than {most:,} bytes")
        return json.loads(content)
    except UserError:
        raise
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):  # no text, no JSON, or nested too deeply
        raise UserError(f"{path} is not JSON") from None


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data
