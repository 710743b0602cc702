"""Mutated files of a run folder: histories, results and tables of metrics are read, or refused in one line."""

import io
import json
import os
import random
import tempfile
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from faults.torture.logs import ARRAYS, BYTES, claim
from ucls.callbacks import csv_log
from ucls.errors import UserError
from ucls.train import run_folder

STEPS = 40
BOMB = 2**28  # bytes of zeros, a quarter of a megabyte in a file
VALUES = (None, True, -1, 0.5, 10**400, "x", "\ud800", "\x1b[31m", [], {}, [[]], {"env": []}, float("nan"))
TEXTS = (
    *(b"[" * 200_000, b'{"a":' * 200_000, b"9" * 10_000, b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b"nul"),
    *(b'"' + b"a" * 2_000_000 + b'"', b"{}" * 3, b'"\\ud800"', b"\x00" * 50, b"[]", b"0", b'{"env":1,"env":2}'),
)


def attempt(seed: int) -> str:
    """Mutate a file of a run and read it: "refused" or "fine"."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        (folder / run_folder.CHECKPOINT).write_bytes(b"")
        return (_history, _result, _table)[seed % 3](rng, folder)


def _history(rng: random.Random, folder: Path) -> str:
    """A history is looked at before a run overwrites it."""
    _write(rng, folder / run_folder.HISTORY, _npz(rng))
    return _overwrite(folder)


def _result(rng: random.Random, folder: Path) -> str:
    content = json.dumps({"env": "e", "agent": "a", "steps": 3, "settings": {"p": 0.1}, "reward": [1.5, None]}).encode()
    if rng.random() < 0.4:
        data = json.loads(content)
        data[rng.choice((*data, "new"))] = rng.choice(VALUES)
        content = json.dumps(rng.choice((data, [data], rng.choice(VALUES)))).encode()
    elif rng.random() < 0.4:
        content = rng.choice(TEXTS)
    _write(rng, folder / run_folder.RESULT, content)
    return _overwrite(folder)


def _table(rng: random.Random, folder: Path) -> str:
    cells = ("", "nan", "1e400", "-1", "x", '"', "1\n2", "\x00", "9" * 5000, "a" * 200_000, "1", "20", "3.5")
    rows = [[csv_log.STEP, "a", "b"], *([str(10 * i), "1", ""] for i in range(rng.randrange(6)))]
    for _ in range(rng.choice((0, 1, 1, 3))):
        row = rng.choice(rows)
        row[rng.randrange(3)] = rng.choice(cells)
    _write(rng, folder / "table.csv", "".join(",".join(row) + "\n" for row in rows).encode())
    try:
        names, read = csv_log.read(folder / "table.csv")
    except UserError as error:
        return _one_line(str(error))
    if any(float(row[csv_log.STEP]) < 0 or len(row) > len(names) for row in read):
        raise AssertionError(f"rows that cannot be: {read}")
    return "fine"


def _overwrite(folder: Path) -> str:
    """Whether a run that continues in this folder would overwrite its files."""
    try:
        run_folder.refuse_unusable(folder, folder / run_folder.CHECKPOINT)
    except UserError as error:
        return _one_line(str(error))
    return "fine"


def _one_line(said: str) -> str:
    if not said.isprintable() or len(said) > 1000:
        raise AssertionError(f"not one line: {said[:300]!r}")
    return "refused"


def _npz(rng: random.Random) -> bytes:
    rewards, ends = np.arange(STEPS) / 3, (np.arange(STEPS) % 5 == 0).astype(np.uint8)
    arrays = {"rewards": rewards, "ends": ends}
    for name in rng.sample(list(arrays), rng.choice((0, 0, 1, 2))):
        with np.errstate(all="ignore"), suppress(OverflowError):  # a number that is not one of this type
            arrays[name] = rng.choice(ARRAYS)(arrays[name], rng)
    if rng.random() < 0.05:
        arrays.pop(rng.choice(list(arrays)))
    file = io.BytesIO()
    save = np.savez_compressed if rng.random() < 0.5 else np.savez
    save(file, allow_pickle=True, **arrays)
    content = file.getvalue()
    if rng.random() < 0.1:
        content = claim(rng, content)
    if rng.random() < 0.1:
        content = _packed(rng, content)
    return content


def _packed(rng: random.Random, content: bytes) -> bytes:
    """Write the members in another way: compressed otherwise, twice, or with far more behind them than an array."""
    source, target = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    bomb = rng.random() < 0.1
    how = zipfile.ZIP_DEFLATED if bomb else rng.choice((zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", how) as file:
        warnings.simplefilter("ignore")
        for name in source.namelist():
            with file.open(name, "w", force_zip64=True) as member:
                member.write(source.read(name))
                for _ in range(BOMB >> 20 if bomb else 0):
                    member.write(bytes(2**20))
            if rng.random() < 0.2:
                file.writestr(name, source.read(name))
    return target.getvalue()


def _write(rng: random.Random, path: Path, content: bytes) -> None:
    """Write a file, perhaps with damaged bytes; rarely a folder, a pipe or a link instead."""
    for _ in range(rng.choice((0, 0, 1, 2))):
        content = rng.choice(BYTES)(rng, content)
    strange = rng.randrange(100)
    if strange == 0:
        os.mkfifo(path)
    elif strange == 1:
        path.mkdir()
    elif strange == 2:
        path.symlink_to(rng.choice(("/dev/zero", "nowhere", path.name, "/")))
    else:
        path.write_bytes(content)
