"""What a report opens with, and what it is compared with."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Opening(NamedTuple):
    """What a reader sees first beside the first figure: findings, what they took, and commands for more, with words."""

    findings: Sequence[str] = ()
    took: str = ""
    commands: Sequence[tuple[str, str]] = ()


class Reference(NamedTuple):
    """Another report to compare with: its name, its claims by number, and its figures as PNG by the names of plots."""

    name: str
    claims: Mapping[Any, Mapping[str, Any]]
    pictures: Mapping[str, bytes] = {}


NOTHING = Reference("", {})
