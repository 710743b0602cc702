"""A log as a table: named columns from CSV, Parquet, .npz, DataFrames, mappings of arrays, or Minari datasets."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.npz import read_arrays
from ucls.errors import UserError, printable
from ucls.evaluation.logs.csvs import as_column, read_csv
from ucls.evaluation.logs.minari import is_minari, minari_table
from ucls.evaluation.room import memory

PARQUET = (".parquet", ".pq")
Table = dict[str, np.ndarray]


def read_table(source: Any) -> tuple[Table, str]:
    """The columns of a log, each an array of numbers or of texts, and what the log is called."""
    if isinstance(source, str) and source.startswith("minari:"):
        return minari_table(source.removeprefix("minari:")), source
    if isinstance(source, str | Path):
        path = Path(source)
        return _named(path, _read_file(path)), path.name
    if is_minari(source):
        return minari_table(source), "minari"
    if isinstance(source, Mapping):
        return _named(None, dict(source)), "arrays"
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return _named(None, {str(name): source[name] for name in source.columns}), "table"
    raise UserError(f"a log cannot be a {type(source).__name__}: give a file, a DataFrame or a mapping of arrays")


def _read_file(path: Path) -> Mapping[str, Any]:
    try:
        if not path.is_file():
            raise UserError(f"no file {path}: give a CSV, a Parquet file or an .npz")
        with path.open("rb") as file:
            begins = file.read(4)
        if path.suffix == ".npz":
            return _read_npz(path)
        if path.suffix.lower() in PARQUET or begins == b"PAR1":
            return _read_parquet(path)
        return read_csv(path)
    except UserError as error:
        raise _at(path, error) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text: give a CSV, or a Parquet file or .npz by its suffix") from None
    except OSError as error:
        raise UserError(f"cannot read {str(path)[:200]}: {error.strerror}") from None


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    _, names = read_arrays(path, (), 0)
    return read_arrays(path, names, memory() // 2)[0]


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UserError("Parquet files need pyarrow: pip install 'ucls[logs]'") from None
    try:
        table = parquet.read_table(path)
        return {str(name): table.column(name).to_numpy() for name in table.column_names}
    except Exception as error:  # whatever corrupted bytes do to its reader
        raise UserError(
            f"not a Parquet file that pyarrow reads: {printable(str(error).partition('. ')[0][:150])}"
        ) from None


def _named(path: Path | None, columns: Mapping[str, Any]) -> Table:
    """Columns of equal length; a two-dimensional array becomes one column per component."""
    found: Table = {}
    try:
        for name, values in columns.items():
            found |= _flattened(str(name), values)
        lengths = {len(column) for column in found.values()}
        if not found or lengths == {0}:
            raise UserError("the log has no rows")
        if len(lengths) > 1:
            listed = ", ".join(f"{name} {len(column):,}" for name, column in list(found.items())[:8])
            raise UserError(f"the columns differ in length: {printable(listed)}")
    except UserError as error:
        raise _at(path, error) from None
    return found


def _flattened(name: str, values: Any) -> Table:
    to_numpy = getattr(values, "to_numpy", None)
    array = np.asarray(values if to_numpy is None else to_numpy())
    if array.dtype.kind == "O" and array.ndim == 1 and len(array) and isinstance(array[0], list | tuple | np.ndarray):
        array = _from_lists(name, array)
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind in "biu":
        array = array.astype(np.float64) if array.dtype.itemsize < 8 or (np.abs(array) < 2**53).all() else array
    if array.dtype.kind not in "fiuU":
        array = array.astype(str)
    if array.ndim == 1:
        return {name: array.astype(np.float64) if array.dtype.kind == "f" else array}
    if array.ndim == 2:
        return {f"{name}_{i}": np.ascontiguousarray(array[:, i]) for i in range(array.shape[1])}
    raise UserError(f"the column {printable(name[:100])!r} is an array of shape {array.shape}: give one row per step")


def _from_lists(name: str, cells: np.ndarray) -> np.ndarray:
    """Numbers, one row for each cell that lists them."""
    try:
        return np.array([np.asarray(cell, np.float64) for cell in cells])
    except (TypeError, ValueError):
        raise UserError(f"the cells of {printable(name[:100])!r} must list equally many numbers in every row") from None


def _from_objects(array: np.ndarray) -> np.ndarray:
    """Numbers, None for missing ones, or texts."""
    cells = ["" if cell is None else str(cell) for cell in array.ravel().tolist()]
    return as_column(cells).reshape(array.shape)


def _at(path: Path | None, error: UserError) -> UserError:
    said = str(error)
    return error if path is None or said.startswith((str(path), f"no file {path}")) else UserError(f"{path}: {said}")
