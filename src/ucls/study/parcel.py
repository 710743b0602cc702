"""Outcomes as files, for workers that share nothing with the driver but a folder."""

from pathlib import Path

import numpy as np

from ucls import checkpoint
from ucls.study.result import Measures, Result
from ucls.study.runner import Outcome
from ucls.study.store import Circumstance

SUFFIX = ".safetensors"


def parcel_file(folder: Path, id: str) -> Path:
    """Where the outcome of a cell is left."""
    return folder / f"{id}{SUFFIX}"


def leave(folder: Path, outcome: Outcome) -> None:
    """Leave an outcome in a folder, whole or not at all."""
    about = {"id": outcome.id, "error": outcome.error, "traceback": outcome.traceback, "attempts": outcome.attempts}
    arrays: dict[str, np.ndarray] = {}
    if outcome.result is not None and outcome.about is not None:
        steps, diverged, measures, found, learner = outcome.result
        about |= {"steps": steps, "diverged": diverged, "measures": measures, "circumstance": outcome.about}
        arrays = {f"result.{name}": array for name, array in found.items()}
        if learner is not None:
            arrays["learner"] = np.frombuffer(learner, np.uint8)
    checkpoint.save(parcel_file(folder, outcome.id), about, arrays)


def fetch(path: Path) -> Outcome:
    """Read what `leave` left."""
    about, arrays = checkpoint.load(path)
    told = Outcome(about["id"], None, None, about["error"], about["traceback"], about["attempts"])
    if "measures" not in about:
        return told
    found = {name.removeprefix("result."): array for name, array in arrays.items() if name != "learner"}
    learner = arrays["learner"].tobytes() if "learner" in arrays else None
    result = Result(about["steps"], about["diverged"], Measures(*about["measures"]), found, learner)
    return told._replace(result=result, about=Circumstance(*about["circumstance"]))
