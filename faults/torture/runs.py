"""A run and a study small enough for thousands of trials, and their undisturbed results."""

import functools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from ucls.core.saving import checkpoint
from ucls.study import Member, RunSpec, Store, Study, make_run_specs, run_study
from ucls.study.outcome import Outcome
from ucls.study.runners.base import outcome_of
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.result import pack
from ucls.train.run_folder import CHECKPOINT, HISTORY, RESULT
from ucls.train.train import Order, train

RIVER, NAME, STEPS = "ucls/RiverSwim-v0", "s", 150
SMALL = {"tilings": 2, "tiles": 2, "table_size": 8}


def order(steps: int = STEPS, seed: int = 0, resumed: bool = False) -> Order:
    """A small run, or the rest of one."""
    return Order(RIVER, "sarsa", steps, seed, {} if resumed else SMALL, None, "float64", None)


def study() -> Study:
    """A study of three small runs."""
    cells = make_run_specs(RIVER, "sarsa", steps=40, seeds=range(3), settings=SMALL)
    return Study(NAME, tuple(Member("a", cell) for cell in cells))


def run_here(cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event) -> Iterator[Outcome]:
    """A runner in this process."""
    for cell in cells:
        if stop.is_set():
            return
        yield outcome_of(cell, checkpoints, stop.is_set)


def conduct_here(path: Path) -> Any:
    """Run the study in a store."""
    with Store(path, write=True) as store:
        return run_study(store, study(), run_here, quiet=True, checkpoint_interval=0.0)


def trained(out: Path) -> dict[str, Any]:
    """Everything that the folder of a run says of the run itself, to the last bit; its files must agree."""
    about, arrays = checkpoint.load(out / CHECKPOINT)
    with np.load(out / HISTORY) as history:
        if not np.array_equal(history["rewards"], arrays["history.rewards"]):
            raise AssertionError("the history is not the checkpoint's")
    result = json.loads((out / RESULT).read_text())
    if result["steps"] != about["steps"] or result["total_reward"] != float(arrays["history.rewards"].sum()):
        raise AssertionError("the result is not the checkpoint's")
    return {"steps": about["steps"], **{name: array.tobytes() for name, array in arrays.items()}}


def stored(path: Path) -> dict[str, Any]:
    """Every result in a store."""
    with Store(path) as store:
        found = {row.id: store.result(row.id) for row in store.rows(NAME)}
    return {id: None if r is None else (r.metrics, pack(r.arrays)) for id, r in found.items()}


@functools.cache
def undisturbed_run(seed: int = 0) -> dict[str, Any]:
    """What the run comes to."""
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        train(order(seed=seed), Path(folder) / "run")
        return trained(Path(folder) / "run")


@functools.cache
def undisturbed_study() -> dict[str, Any]:
    """What the study comes to."""
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        conduct_here(Path(folder) / "s.sqlite")
        return stored(Path(folder) / "s.sqlite")
