"""Tables for pages."""

from collections.abc import Iterable
from typing import Any


def markdown_table(lines: Iterable[Iterable[Any]]) -> str:
    """A table of lines: the heads, how they are aligned, and the rows.

    >>> print(markdown_table([["p", "runs"], ["---", "---:"], [0.1, 30]]))
    | p | runs |
    | --- | ---: |
    | 0.1 | 30 |
    """
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
