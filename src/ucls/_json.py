"""Strict JSON: `null` where there is no number, because JSON has no word for NaN or infinity."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def as_json(data: Any, **form: Any) -> str:
    """The data as JSON that every parser reads; keywords are those of `json.dumps`.

    >>> as_json({"mean": float("nan"), "ends": [1.0, float("inf")]})
    '{"mean": null, "ends": [1.0, null]}'
    """
    return json.dumps(_finite(data), allow_nan=False, **form)


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data
