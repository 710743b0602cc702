"""The opening of a report, and the reference that it is compared with."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Opening(NamedTuple):
    """The content beside the first figure: findings, their cost, and commands for more, with explanations."""

    findings: Sequence[str] = ()
    took: str = ""
    commands: Sequence[tuple[str, str]] = ()


class Reference(NamedTuple):
    """Another report to compare with: its name, its claims by number, and its figures as PNG by the names of plots."""

    name: str
    claims: Mapping[Any, Mapping[str, Any]]
    pictures: Mapping[str, bytes] = {}


NOTHING = Reference("", {})
