"""Logs of transitions in files: values and intervals with one command.

A CSV has a line for each transition, in the order in which they happened, under a line of column names: `reward`,
`discount` (0 where an episode ended), any columns NAME of the features with their partners NAME_next, and if wanted
`start` (1 where an episode begins after a truncated one) and `rho` (importance ratio). Cells of
NAME_next may be empty where the discount is 0. An .npz has arrays of the same names; `x` and `x_next` have a row for
each transition: integers are indices of active features, floats are all features.
"""

import csv
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError, unknown
from ucls.evaluation.logs.names import NEXT, OPTIONAL, REQUIRED, features, refuse_lone_partners, unused
from ucls.evaluation.logs.npz import NEEDED, read_log_arrays
from ucls.evaluation.lstd import LSTD, TOO_LARGE, Interval
from ucls.evaluation.off_policy import is_off_policy

CODINGS = ("columns", "affine", "one_hot")
SAID = 200  # characters of a file in a message
NPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"


class Transitions(NamedTuple):
    """What a file holds; `names` are those of the columns of x."""

    x: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    x_next: np.ndarray
    rho: Any
    start: Any
    names: list[str]
    unused: list[str]


class Evaluated(NamedTuple):
    """An evaluator that has seen a file, and the features that were met most often with their intervals.

    `unused` are the names of columns that are neither features nor any of those that have a meaning.
    """

    lstd: LSTD
    names: list[str]
    unused: list[str]
    x: np.ndarray
    visits: np.ndarray
    interval: Interval

    @property
    def off_policy(self) -> bool:
        """Whether the log has importance ratios other than 1."""
        return is_off_policy(self.lstd.fit().log, len(self.lstd))


def read_log(path: Path) -> Transitions:
    """Read a log from a .csv or an .npz."""
    try:
        if not path.is_file():
            raise UserError(f"no file {path}: give a CSV or an .npz")
        with path.open("rb") as file:
            begins = file.read(6)
        if begins == NPY:
            raise UserError(f"{path} is an .npy, one array only: write all of them into an .npz with np.savez")
        if path.suffix == ".npz":
            return _transitions(path, *_named(path, read_log_arrays, path))
        if begins.startswith(ZIP):
            raise UserError(f"{path} is a zip file: name it .npz if it is one")
        return _read_csv(path)
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text: give a CSV, or an .npz by its suffix") from None
    except OSError as error:
        raise UserError(f"cannot read {str(path)[:200]}: {error.strerror}") from None


def _transitions(path: Path, arrays: dict[str, np.ndarray], left: list[str]) -> Transitions:
    for name in NEEDED:
        if name not in arrays:
            raise UserError(f"{path} has no array {name!r} (it has: {_listed(arrays)})")
    n = len(np.atleast_1d(arrays["reward"]))
    x, x_next, discount = arrays["x"], arrays["x_next"], arrays["discount"]
    for name in ("x", "x_next"):
        if arrays[name].ndim != 2 or len(arrays[name]) != n or not arrays[name].shape[1]:
            raise UserError(
                f"{path}: {name} has the shape {arrays[name].shape}: it needs a row for each of {n} rewards"
            )
    if x.dtype.kind != x_next.dtype.kind and "f" in (x.dtype.kind, x_next.dtype.kind):
        raise UserError(f"{path}: x is of type {x.dtype} and x_next of {x_next.dtype}: give both as floats or indices")
    if x.dtype.kind not in "iu" and x.shape != x_next.shape:
        raise UserError(f"{path}: x has {x.shape[1]} columns and x_next {x_next.shape[1]}")
    if discount.shape not in ((), (n,)):
        raise UserError(f"{path}: there are {n} rewards but discounts of shape {discount.shape}")
    start = arrays.get("start", np.zeros(n))
    if start.shape not in ((), (n,)) or not np.isin(start, (0, 1)).all():
        raise UserError(f"{path}: start must hold 0 or 1, for each of {n} rewards")
    names = [f"x{i}" for i in range(x.shape[1])]
    rho = arrays.get("rho", np.ones(()))
    return Transitions(x, arrays["reward"], np.broadcast_to(discount, n), x_next, rho, start == 1, names, left)


def _read_csv(path: Path) -> Transitions:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            head = [name.strip() for name in next(csv.reader(file), [])]
        except csv.Error as error:
            raise UserError(f"{path}, line 1: {error}") from None
        if not head:
            raise UserError(f"{path} is empty: the first line names the columns")
        if len(set(head)) < len(head):
            raise UserError(f"{path} has two columns of the same name")
        names, left = _named(path, _columns, head)
        for name in REQUIRED:
            if name not in head:
                hint = "; for a log with states and actions use `ucls compare-log`" if "action" in head else ""
                raise UserError(f"{path} has no column {name!r} (it has: {_listed(head)}){hint}")
        if not names:
            raise UserError(f"{path} has no features: give columns NAME and NAME_next (it has: {_listed(head)})")
        cells = _cells(path, file, len(head))
    if not len(cells):
        raise UserError(f"{path} has no transitions below its line of names")
    column = {name: cells[:, i] for i, name in enumerate(head)}
    x, x_next = (np.column_stack([column[name + end] for name in names]) for end in ("", "_next"))
    start = column["start"] if "start" in head else np.zeros(len(cells))
    if not np.isin(start, (0, 1)).all():
        raise UserError(f"{path}: the column start must hold 0 or 1")
    return Transitions(x, column["reward"], column["discount"], x_next, column.get("rho", 1.0), start == 1, names, left)


def _columns(head: list[str]) -> tuple[list[str], list[str]]:
    """The features among the columns, and the columns that are not used."""
    names = features(head)
    known = (*REQUIRED, *OPTIONAL)
    left = unused(head, [*known, *names, *(name + NEXT for name in names)], known, "column")
    refuse_lone_partners(left)
    return names, left


def _named(path: Path, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and name the file in what is refused."""
    try:
        return call(*arguments)
    except UserError as error:
        said = str(error)
        raise UserError(said if said.startswith(str(path)) else f"{path}: {said}") from None


def _cells(path: Path, file: Any, width: int) -> np.ndarray:
    """The numbers below the line of names; empty cells are NaN."""
    numbers = array("d")
    reader = csv.reader(file)
    try:
        for line in reader:
            if not line:
                continue
            if len(line) != width:
                raise UserError(f"{len(line)} cells where the first line names {width} columns")
            numbers.extend([float(cell) if cell else np.nan for cell in line])
    except (csv.Error, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        raise UserError(f"{path}, line {reader.line_num + 1}: {in_one_line(error)}") from None
    return np.frombuffer(numbers, np.float64).reshape(-1, width).copy()


def _listed(names: Iterable[str]) -> str:
    return in_one_line(", ".join(names)) or "none"


def in_one_line(text: object) -> str:
    """Text of a file as part of one line."""
    line = "".join(letter if letter.isprintable() else "?" for letter in str(text)[: SAID + 1])
    return line if len(line) <= SAID else line[:SAID] + "..."


def encode(log: Transitions, coding: str) -> tuple[Any, Any, int]:
    """Features of a log: its columns, the columns and a constant, or one for every distinct row of them."""
    if coding not in CODINGS:
        raise unknown("coding of features", coding, CODINGS)
    x, x_next, over = log.x, log.x_next, log.discount == 0
    if coding == "one_hot":
        kept = np.concatenate([x, x_next[~over]])
        if not np.isfinite(kept).all():
            raise UserError("the features hold NaN, infinity or empty cells where no episode ended")
        states, numbers = np.unique(kept, axis=0, return_inverse=True)
        numbers = numbers.reshape(-1)
        after = np.zeros(len(x), np.int64)
        after[~over] = numbers[len(x) :]
        return numbers[: len(x), None], after[:, None], len(states)
    if x.dtype.kind in "iu":
        if coding == "affine":
            raise UserError("the features are indices of active ones: an affine coding needs floats")
        return x, x_next, int(max(x.max(initial=0), x_next.max(initial=0))) + 1
    if coding == "affine":
        one = np.ones((len(x), 1))
        x, x_next = np.hstack([x, one]), np.hstack([x_next, one])
    return x, x_next, x.shape[1]


def evaluate(
    path: Path,
    confidence: float,
    lambda_: float | None,
    estimator: str,
    factor: str,
    coding: str,
    rows: int,
    eta: float = 0.0,
) -> Evaluated:
    """Evaluate the policy that made a log, at the features that it met most often; without a lambda one is chosen."""
    log = read_log(path)
    if not len(np.atleast_1d(log.reward)):
        raise UserError(f"{path} has no transitions")
    try:
        x, x_next, size = encode(log, coding)
        lstd = LSTD(size, lambda_, eta)
        lstd.observe_batch(x, log.reward, log.discount, x_next, log.rho, log.start)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    _, first, visits = np.unique(log.x, axis=0, return_index=True, return_counts=True)
    chosen = np.argsort(-visits, kind="stable")[:rows]
    at = first[chosen]
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            interval = lstd.interval(x[at], confidence, estimator, factor)
        if not np.isfinite(interval.value).all():
            raise UserError(TOO_LARGE)
    except np.linalg.LinAlgError:
        raise UserError(f"{path}: {TOO_LARGE}") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    return Evaluated(lstd, log.names, log.unused, log.x[at], visits[chosen], interval)


def as_data(evaluated: Evaluated) -> dict[str, Any]:
    """What was found as plain data; what the data do not determine is null."""
    values = zip(evaluated.x, evaluated.visits, *evaluated.interval, strict=True)
    rows = [
        {"x": x.tolist(), "visits": int(n), "value": _known(v), "low": _known(low), "high": _known(high)}
        for x, n, v, low, high in values
    ]
    report = {name: _known(value) for name, value in evaluated.lstd.report()._asdict().items()}
    about = {"lambda": evaluated.lstd.lambda_, "columns": evaluated.names, "unused": evaluated.unused}
    return {**report, **about, "rows": rows}


def _known(value: Any) -> Any:
    return value if isinstance(value, int) else (float(value) if np.isfinite(value) else None)
