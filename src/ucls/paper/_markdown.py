"""Tables for pages, and for the data files behind them."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def markdown_table(lines: Iterable[Iterable[Any]]) -> str:
    """Return a table of lines: the heads, their alignment, and the rows.

    >>> print(markdown_table([["p", "runs"], ["---", "---:"], [0.1, 30]]))
    | p | runs |
    | --- | ---: |
    | 0.1 | 30 |
    """
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as the text of a CSV file.

    >>> csv_text(["p", "found"], [["0.1", "2 [1, 3]"]])
    'p,found\\n0.1,"2 [1, 3]"\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()
