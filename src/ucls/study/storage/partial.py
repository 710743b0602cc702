"""Checkpoints of unfinished runs, in files beside the store. Invalid files are discarded."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls.core.history import History
from ucls.core.protocol import AnyRun, content_of
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.storage.seal import seal_arrays

CHECKPOINT_SECONDS = 120.0


class Checkpoints(NamedTuple):
    """The folder in which a worker saves its unfinished runs (None: it saves none), and the seconds between two saves.

    `time_limit` is the number of seconds after which a cell is stopped, None if it never is.
    """

    folder: Path | None = None
    every: float = CHECKPOINT_SECONDS
    time_limit: float | None = None


def partial_file(folder: Path, id: str) -> Path:
    """Return the file of an unfinished run."""
    return folder / f"{id}.safetensors"


def keep(folder: Path, cell: RunSpec, run: AnyRun) -> str:
    """Save a checkpoint of a run; return an error message if that fails, for example because the disk is full.

    The run itself continues."""
    try:
        about, arrays = content_of(run)
        own = {"cell": cell.id, "numerics": cell.numerics, "seal": _seal(cell, run.steps, arrays)}
        checkpoint.save(partial_file(folder, cell.id), {**about, **own}, arrays)
    except OSError as error:
        return f"its checkpoint could not be saved: {error.strerror or error}"
    except UserError as error:
        return f"its checkpoint could not be saved: {error}"
    return ""


def resume_run(folder: Path, cell: RunSpec, run: AnyRun) -> str:
    """Restore a new run from its checkpoint, if there is one; return an error message if it is invalid.

    Then the run may be partly restored: create another.
    """
    path = partial_file(folder, cell.id)
    if not os.path.lexists(path):
        return ""
    try:
        about, arrays = checkpoint.load(path)
        run.restore(arrays, _verified(cell, about, arrays))
        return ""
    except Exception as error:  # whatever is wrong with a file costs its steps, not the cell
        discard(folder, cell.id)
        return f"restarted from the beginning, its checkpoint is invalid: {error}"


def discard(folder: Path, id: str) -> None:
    """Delete the checkpoint of a run; one that cannot be deleted is not used."""
    try:
        partial_file(folder, id).unlink(missing_ok=True)
    except OSError:
        return


def _verified(cell: RunSpec, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> int:
    """Return the steps of a checkpoint if it belongs to this run."""
    steps = about.get("steps")
    if about.get("cell") != cell.id or about.get("numerics") != cell.numerics:
        raise UserError("it belongs to another run or another results version")
    if type(steps) is not int or not 0 < steps <= cell.steps:
        raise UserError(f"it claims {str(steps)[:40]} steps of {cell.steps:,}")
    if len(History.from_arrays(arrays, steps).rewards) != steps:
        raise UserError("its history is not as long as its steps")
    if about.get("seal") != _seal(cell, steps, arrays):
        raise UserError("its checksum does not match")
    return steps


def _seal(cell: RunSpec, steps: int, arrays: Mapping[str, np.ndarray]) -> str:
    return seal_arrays(arrays, cell.id, cell.numerics, steps)
