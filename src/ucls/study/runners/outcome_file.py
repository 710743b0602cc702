"""Outcomes as files, for workers that share only a folder with the driver."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ucls.core.metrics import Metrics
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.study.outcome import Outcome
from ucls.study.storage.result import Circumstance, Result
from ucls.study.storage.seal import seal_arrays

SUFFIX = ".safetensors"
FIELDS = ("id", "error", "traceback", "attempts", "note")  # of an outcome, beside its result


def outcome_file(folder: Path, id: str) -> Path:
    """Return the file for the outcome of a run."""
    return folder / f"{id}{SUFFIX}"


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write an outcome to a folder atomically."""
    about: dict[str, Any] = {name: getattr(outcome, name) for name in FIELDS}
    arrays: dict[str, np.ndarray] = {}
    if outcome.result is not None and outcome.about is not None:
        steps, diverged, metrics, own, learner = outcome.result
        about |= {"steps": steps, "diverged": diverged, "metrics": metrics, "circumstance": outcome.about}
        arrays = {f"result.{name}": array for name, array in own.items()}
        if learner is not None:
            arrays["learner"] = np.frombuffer(learner, np.uint8)
    about |= {"seal": _seal(about, arrays)}
    checkpoint.save(outcome_file(folder, outcome.id), about, arrays)


def read_outcome(path: Path) -> Outcome:
    """Read the output of `write_outcome`; a corrupted file is refused."""
    about, arrays = checkpoint.load(path)
    content = {name: about.get(name) for name in about if name not in ("seal", "format")}
    if about.get("seal") != _seal(content, arrays) or about.get("id") != path.name.removesuffix(SUFFIX):
        raise UserError(f"{path} is corrupted: its checksum does not match")
    outcome = Outcome(
        about["id"], None, None, about["error"], about["traceback"], about["attempts"], note=about["note"]
    )
    if "metrics" not in about:
        return outcome
    own = {name.removeprefix("result."): array for name, array in arrays.items() if name != "learner"}
    learner = arrays["learner"].tobytes() if "learner" in arrays else None
    result = Result(about["steps"], about["diverged"], Metrics(*about["metrics"]), own, learner)
    return outcome._replace(result=result, about=Circumstance(*about["circumstance"]))


def _seal(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    return seal_arrays(arrays, json.dumps(about, sort_keys=True))
