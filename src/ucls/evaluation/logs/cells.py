"""Columns of a log read as numbers, flags and names; what is wrong with them, with its row."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ucls.errors import printable

FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0, "": 0.0}
ACTIONS = 1000  # at most


class Problem(NamedTuple):
    """Something wrong with a log: its kind, the first row that has it (from 1; None for the whole log), how many rows
    have it, a line of text, and whether it prevents a comparison."""

    kind: str
    row: int | None
    rows: int
    text: str
    error: bool


def report(
    wrong: np.ndarray, order: np.ndarray, said: str, kind: str, problems: list[Problem], error: bool = True
) -> None:
    """Add a problem if some rows are wrong; `order` has the place of every row in the source."""
    if wrong.any():
        rows = order[wrong]
        row, count = int(rows.min()) + 1, int(wrong.sum())
        where = f"row {row:,}" if count == 1 else f"row {row:,} and {count - 1:,} more"
        problems.append(Problem(kind, row, count, f"{where}: {said}", error))


def numbers(column: np.ndarray, name: str, problems: list[Problem], empty: bool = False) -> np.ndarray:
    """A column of finite numbers; cells may be `empty`."""
    shown = printable(name[:100])
    if column.dtype.kind == "U":
        found = np.array([_number(cell) for cell in column])
        wrong = np.isnan(found) & (column != "") if empty else np.isnan(found)
        cell = printable(str(column[np.argmax(wrong)])[:40]) if wrong.any() else ""
        report(wrong, np.arange(len(column)), f"{shown} is {cell!r}, which is no number", "number", problems)
        return found
    found = column.astype(np.float64)
    wrong = ~np.isfinite(found)
    if empty:
        wrong &= ~np.isnan(found)
    report(wrong, np.arange(len(column)), f"{shown} is missing or not finite", "number", problems)
    return found


def flag(column: np.ndarray, name: str, problems: list[Problem]) -> np.ndarray:
    """A column of 0 and 1, or of true and false."""
    if column.dtype.kind == "U":
        words, inverse = np.unique(column, return_inverse=True)
        found = np.array([FLAGS.get(str(word).lower(), np.nan) for word in words])[inverse]
    else:
        found = np.where(np.isnan(column.astype(np.float64)), 0.0, column)
    wrong = ~np.isin(found, (0, 1))
    report(wrong, np.arange(len(column)), f"{printable(name[:100])} must be 0 or 1", "flag", problems)
    return found == 1


def numbered(column: np.ndarray, name: str, problems: list[Problem]) -> tuple[np.ndarray, np.ndarray]:
    """The values of a column of actions, integers or texts, and the number of the value in every row."""
    shown = printable(name[:100])
    missing = column == "" if column.dtype.kind == "U" else ~np.isfinite(column.astype(np.float64))
    report(missing, np.arange(len(column)), f"{shown} is missing", "action", problems)
    if missing.any():
        return np.zeros(0), np.zeros(len(column), np.int64)
    if column.dtype.kind == "f":
        report(column != np.round(column), np.arange(len(column)), f"{shown} must be a whole number or a name: "
               "only discrete actions can be compared", "action", problems)  # fmt: skip
        column = column.astype(np.int64)
    values, inverse = np.unique(column, return_inverse=True)
    if len(values) > ACTIONS:
        problems.append(Problem("action", None, len(column), f"{shown} has {len(values):,} values, more than "
                                f"{ACTIONS:,}: only discrete actions can be compared", True))  # fmt: skip
    return values, inverse.reshape(-1)


def first_appearance(column: np.ndarray, name: str, problems: list[Problem]) -> np.ndarray:
    """Values numbered in the order of their first appearance."""
    missing = column == "" if column.dtype.kind == "U" else np.isnan(column.astype(np.float64))
    report(missing, np.arange(len(column)), f"{printable(name[:100])} is missing", "episode", problems)
    _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def check_steps(
    step: np.ndarray, last: np.ndarray, order: np.ndarray, name: str, has_next: bool, problems: list[Problem]
) -> None:
    """Steps of an episode must follow each other without gaps."""
    within = ~last[:-1]
    change = np.diff(step)
    later = order[1:]
    shown = printable(name[:100])
    report(within & (change <= 0), later, f"{shown} does not increase within its episode", "order", problems)
    usual = float(np.median(change[within & (change > 0)])) if (within & (change > 0)).any() else 1.0
    gap = within & (change > 0) & (np.abs(change - usual) > 1e-6 * max(1.0, abs(usual)))
    report(gap, later, f"{shown} skips steps of its episode, so the next state is not known", "gap", problems,
           error=not has_next)  # fmt: skip


def check_discount(discount: np.ndarray, name: str, problems: list[Problem]) -> None:
    """Discounts are between 0 and 1."""
    wrong = np.isfinite(discount) & ~((discount >= 0) & (discount <= 1))
    report(wrong, np.arange(len(discount)), f"{printable(name[:100])} must be from 0 to 1", "discount", problems)


def ends_of(
    flags: Mapping[str, np.ndarray], last: np.ndarray, ends: str | None, order: np.ndarray, problems: list[Problem]
) -> np.ndarray:
    """Which rows terminate their episode. If only truncations are marked, all other ends are terminations."""
    for role in ("terminated", "truncated"):
        if role in flags:
            report(flags[role] & ~last, order, f"the episode was {role} here, but goes on in a later row", "end",
                   problems)  # fmt: skip
    if "terminated" in flags:
        unmarked = last & ~flags["terminated"] & ~flags.get("truncated", np.ones_like(last))
        report(unmarked, order, "an episode ends here unmarked: it counts as truncated", "end", problems, False)
        return flags["terminated"]
    if "truncated" in flags:
        return last & ~flags["truncated"]
    return last & (ends == "terminated")


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
