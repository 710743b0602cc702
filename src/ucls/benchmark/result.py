"""The file of an entry: the entry itself, every run with every episode's return, and the scores.

It is JSON. Arrays are compressed bytes in base64 of a fixed type, so that reading a file executes nothing and cannot
fill memory. Whatever is wrong with a file is one line.
"""

import base64
import binascii
import hashlib
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls._util.files import write_atomic
from ucls._util.json import read_json
from ucls.benchmark.entry import ALGORITHM, LONGEST, OBJECT, Entry
from ucls.benchmark.tasks import VERSION, Scale, Task
from ucls.errors import UserError

FORMAT = "ucls-benchmark"
MOST = 32_000_000  # bytes of a file
SETS = PUBLIC_SET, GENERATED_SET = "public", "generated"
ARRAYS = {"lengths": "<i4", "returns": "<f4", "rewards": "<f4", "greedy_lengths": "<i4", "greedy_returns": "<f4"}
BINS = 200  # of the rewards of a continuing task
WORDS = 300  # characters of a text


class Run(NamedTuple):
    """One run: its finished episodes while learning, those of the greedy policy afterwards, and its provenance.

    `rewards` are sums over bins of equal length, of a continuing task only. A run that failed has an `error`, and one
    whose values diverged no greedy episodes; both score nothing.
    """

    task: str
    seed: int
    steps: int
    diverged: bool
    error: str
    cpu_seconds: float
    machine: str
    versions: str
    finished: str
    lengths: np.ndarray
    returns: np.ndarray
    rewards: np.ndarray
    greedy_lengths: np.ndarray
    greedy_returns: np.ndarray

    @property
    def sound(self) -> bool:
        """Whether it ended without a failure or divergence."""
        return not self.error and not self.diverged


class Entered(NamedTuple):
    """The content of a file; `refused` gives the reason for each task that the entry cannot run in."""

    entry: Entry
    set: str
    ucls: str
    tasks: tuple[Task, ...]
    scales: Mapping[str, Scale]
    seeds: int
    refused: Mapping[str, str]
    runs: tuple[Run, ...]
    scores: Mapping[str, Any]


def write(entered: Entered, path: Path) -> None:
    """Write a file, with a digest of its content."""
    content = as_data(entered)
    text = json.dumps({**content, "digest": digest_of(content)}, indent=0, allow_nan=False)
    write_atomic(path, lambda file: file.write_text(text + "\n", encoding="utf-8"))


def as_data(entered: Entered) -> dict[str, Any]:
    """The content of a file as plain data."""
    head = {"format": FORMAT, "version": VERSION, **entered._asdict(), "entry": entered.entry._asdict()}
    tasks = [{**task._asdict(), "settings": dict(task.settings)} for task in entered.tasks]
    scales = {id: scale._asdict() for id, scale in entered.scales.items()}
    runs = [run_as_data(run) for run in entered.runs]
    return {**head, "tasks": tasks, "scales": scales, "refused": dict(entered.refused), "runs": runs}


def run_as_data(run: Run) -> dict[str, Any]:
    """A run as plain data."""
    return {**run._asdict(), **{name: _packed(getattr(run, name), kind) for name, kind in ARRAYS.items()}}


def digest_of(content: Mapping[str, Any]) -> str:
    """The digest of a file's content, whatever its spacing."""
    text = json.dumps({name: part for name, part in content.items() if name != "digest"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read(path: Path) -> Entered:
    """Read a file; its form is checked here, and `check` compares its content with the benchmark."""
    content = read_json(path, MOST)
    try:
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise UserError("it is not a file of `ucls benchmark run`")
        if content.get("version") != VERSION:
            raise UserError(f"it is of version {content.get('version')!r:.20}, but this ucls reads version {VERSION}")
        if content.get("digest") != digest_of(content):
            raise UserError("its digest does not match its content")
        return _entered(content)
    except UserError as error:
        raise UserError(f"{path} cannot be used: {error}") from None
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError):
        raise UserError(f"{path} cannot be used: parts of it are missing or of the wrong type") from None


def _entered(content: Mapping[str, Any]) -> Entered:
    entry, tasks = content["entry"], tuple(_task(task) for task in _list(content["tasks"], 1000))
    kind = _text(entry["kind"])
    if kind not in (ALGORITHM, OBJECT) or content["set"] not in SETS or not re.fullmatch("[0-9a-f]*", entry["code"]):
        raise UserError("its entry or its set of tasks is unknown")
    who = Entry(_text(entry["label"], LONGEST), _text(entry["name"]), kind, _plain(entry["settings"]), entry["code"])
    scales = {
        _text(id): Scale(_number(s["random"]), _number(s["best"]), _text(s["how"]))
        for id, s in _items(content["scales"])
    }
    refused = {_text(id): _text(why, 2000) for id, why in _items(content["refused"])}
    runs = tuple(run_of(run) for run in _list(content["runs"], 100_000))
    seeds, ucls = _whole(content["seeds"], 1), _text(content["ucls"])
    return Entered(who, content["set"], ucls, tasks, scales, seeds, refused, runs, _scores(content["scores"]))


def run_of(data: Mapping[str, Any]) -> Run:
    """Return a run from plain data; invalid data raise ValueError or UserError."""
    steps = _whole(data["steps"], 0)
    if not (isinstance(data["diverged"], bool) and set(data) == set(Run._fields)):
        raise UserError("a run has missing or unexpected keys")
    texts = {name: _text(data[name], 2000) for name in ("task", "error", "machine", "versions", "finished")}
    arrays = {name: _unpacked(data[name], kind, max(steps, 10**5)) for name, kind in ARRAYS.items()}
    for prefix in ("", "greedy_"):
        lengths, returns = arrays[f"{prefix}lengths"], arrays[f"{prefix}returns"]
        if len(lengths) != len(returns) or (lengths < 1).any():
            raise UserError("a run has episodes without a length or without a return")
    if int(arrays["lengths"].sum(dtype=np.int64)) > steps:
        raise UserError("a run has episodes that are longer than the run")
    numbers = {"seed": _whole(data["seed"], 0), "cpu_seconds": _number(data["cpu_seconds"])}
    return Run(**texts, **arrays, **numbers, steps=steps, diverged=data["diverged"])


def _task(data: Mapping[str, Any]) -> Task:
    if not isinstance(data["quick"], bool) or set(data) != set(Task._fields):
        raise UserError("a task has missing or unexpected keys")
    texts: dict[str, Any] = {name: _text(data[name]) for name in ("id", "kind", "env", "per", "needs")}
    numbers: dict[str, Any] = {name: _whole(data[name], 1) for name in ("steps", "episodes")}
    return Task(**texts, **numbers, settings=_plain(data["settings"]), quick=data["quick"])


def _scores(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise UserError("it has no scores")
    return data


def _plain(data: Any) -> dict[str, Any]:
    """Settings: names with numbers, texts or truth values."""
    for name, value in _items(data):
        _text(name)
        if isinstance(value, str):
            _text(value)
        elif not isinstance(value, bool | int | float):
            raise UserError("a setting is neither a number nor a text")
    return dict(data)


def _items(data: Any) -> list[tuple[Any, Any]]:
    if not isinstance(data, dict) or len(data) > 1000:
        raise UserError("a table is missing or too long")
    return list(data.items())


def _list(data: Any, most: int) -> Sequence[Any]:
    if not isinstance(data, list) or len(data) > most:
        raise UserError("a list is missing or too long")
    return data


def _text(data: Any, most: int = WORDS) -> str:
    if not isinstance(data, str) or len(data) > most or not (data.isprintable() or not data):
        raise UserError("a text is missing, too long or not printable")
    return data


def _number(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
        raise UserError("a number is missing or not finite")
    return float(data)


def _whole(data: Any, least: int) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not least <= data < 2**63:
        raise UserError("an integer is missing or out of range")
    return data


def _packed(array: np.ndarray, kind: str) -> str:
    return base64.b64encode(zlib.compress(np.asarray(array).astype(kind).tobytes(), 9)).decode()


def _unpacked(text: Any, kind: str, most: int) -> np.ndarray:
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(_text(text, MOST), validate=True), 4 * most + 4)
        array = np.frombuffer(content, kind)
    except (binascii.Error, zlib.error, ValueError):
        raise UserError("an array cannot be read") from None
    if not reader.eof or len(array) > most or not np.isfinite(array).all():
        raise UserError("an array is truncated, too long or not finite")
    return array.astype(np.int64 if kind == "<i4" else np.float64)
