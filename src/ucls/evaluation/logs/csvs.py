"""CSV files as columns of numbers or texts: at NumPy's speed if the file is plain, row by row if it is not."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ucls.errors import UserError, printable

SAMPLE = 1000  # rows from which it is guessed which columns are numbers
DELIMITERS = (",", ";", "\t")


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """The columns of a file by their names: numbers (NaN for empty cells), or texts if a cell is no number."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        delimiter = max(DELIMITERS, key=first.count)
        sample = [row for row, _ in zip(csv.reader(file, delimiter=delimiter), range(SAMPLE), strict=False) if row]
    head = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    if not head:
        raise UserError("the file is empty: the first line names the columns")
    if len(set(head)) < len(head):
        twice = next(name for i, name in enumerate(head) if name in head[:i])
        raise UserError(f"two columns are named {printable(twice[:100])!r}")
    if not sample:
        raise UserError("there are no rows below the line of names")
    columns = _read_plain(path, head, delimiter, sample)
    return _read_rows(path, head, delimiter) if columns is None else columns


def _read_plain(
    path: Path, head: Sequence[str], delimiter: str, sample: Sequence[Sequence[str]]
) -> dict[str, np.ndarray] | None:
    """The columns of a file without quotes and empty cells; None if it is not that plain."""
    content = path.read_bytes()
    if b'"' in content or b"\n" not in content or any(len(row) != len(head) or "" in row for row in sample):
        return None
    texts = [i for i in range(len(head)) if not all(_is_number(row[i]) for row in sample)]
    numbers = [i for i in range(len(head)) if i not in texts]
    form = {"delimiter": delimiter, "skiprows": 1, "comments": None, "encoding": "utf-8-sig"}
    columns: dict[str, np.ndarray] = {}
    try:
        if numbers:
            cells = np.loadtxt(path, np.float64, usecols=numbers, ndmin=2, **form)
            columns |= {head[i]: np.ascontiguousarray(cells[:, j]) for j, i in enumerate(numbers)}
        for i in texts:
            columns[head[i]] = np.char.strip(np.loadtxt(path, str, usecols=[i], ndmin=1, **form))
    except (ValueError, IndexError):
        return None
    rows = len(next(iter(columns.values())))
    lines = content.count(b"\n", content.index(b"\n") + 1) + (not content.endswith(b"\n"))
    within = content.count(delimiter.encode(), content.index(b"\n"))
    if any(len(column) != rows for column in columns.values()) or rows != lines or within != rows * (len(head) - 1):
        return None
    return {name: columns[name] for name in head}


def _read_rows(path: Path, head: Sequence[str], delimiter: str) -> dict[str, np.ndarray]:
    """The columns of any file that Python's reader can read."""
    rows: list[list[str]] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=delimiter)
        next(reader)
        try:
            for row in reader:
                if not row:
                    continue
                if len(row) != len(head):
                    raise UserError(
                        f"line {reader.line_num} has {len(row)} cells, but the first line {len(head)} names"
                    )
                rows.append(row)
        except csv.Error as error:
            raise UserError(f"line {reader.line_num}: {error}") from None
    return {name: as_column([row[i].strip() for row in rows]) for i, name in enumerate(head)}


def as_column(cells: Sequence[str]) -> np.ndarray:
    """Cells as numbers if all of them are, with NaN for empty ones; otherwise as they are."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells, str)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
