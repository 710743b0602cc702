"""Mutated logs of transitions: values and intervals, or a one-line error."""

import io
import os
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from faults.torture.damage import cut, flip
from ucls.errors import UserError
from ucls.evaluation.logs import logfile

CELLS = (
    *("", "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "x", "1,2", '"', '"1\n2"', "\x00", "0x10", "1_0"),
    *("9" * 400, "1099511627776", "-1", "2", "0.5", "1e18", "true", "\uff11", "a" * 200_000, " 1 ", "+1", "--1", "1;2"),
)
CODINGS = ("columns", "affine", "one_hot")


def attempt(seed: int) -> str:
    """Mutate a log and evaluate it: "refused" or "fine"."""
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        return _attempt(random.Random(seed), Path(folder))


def _attempt(rng: random.Random, folder: Path) -> str:
    path = folder / rng.choice(("log.csv", "log.csv", "log.npz", "log.npz", "log.txt", "log"))
    content = _npz(rng) if (path.suffix == ".npz") != (rng.random() < 0.05) else _csv(rng).encode()
    for _ in range(rng.choice((0, 0, 1, 2)) if path.suffix == ".npz" else rng.choice((0, 0, 0, 1))):
        content = rng.choice(BYTES)(rng, content)
    path.write_bytes(content)
    if rng.random() < 0.03:
        path = _strange(rng, folder)
    estimator = rng.choice(("leave_one_out", "robust", "sandwich"))
    try:
        found = logfile.evaluate(path, 0.1, rng.choice((0.0, 0.9, 1.0)), estimator, "normal", rng.choice(CODINGS), 5)
    except UserError as error:
        said = str(error)
        if not said.isprintable() or len(said) > 1000:
            raise AssertionError(f"not one line: {said[:300]!r}") from None
        return "refused"
    if any(row["value"] is None for row in logfile.as_data(found)["rows"]):
        raise AssertionError("a value that is none")
    return "fine"


def _strange(rng: random.Random, folder: Path) -> Path:
    pipe = folder / "pipe.csv"
    os.mkfifo(pipe)
    return rng.choice((folder, pipe, Path("/dev/null"), Path("/dev/zero"), folder / "no.csv", Path("x" * 300)))


def _csv(rng: random.Random) -> str:
    """A table of a few lines, of which some cells, lines or names are wrong."""
    head = ["a", "reward", "discount", "b", "a_next", "b_next"]
    head += [name for name in ("start", "rho") if rng.random() < 0.2]
    n = rng.choice((0, 1, 2, 8, 8, 8, 8, 8, 20, 20))
    lines = [[str(rng.choice((0, 1, 2, 0.5))) for _ in head] for _ in range(n)]
    for line in lines:
        line[2] = rng.choice(("0.9", "0.9", "0.9", "0"))
        line[6:] = ["1" for _ in line[6:]]
    for _ in range(rng.choice((0, 1, 1, 2))):
        change = rng.randrange(6)
        if change <= 2 and lines:
            line = rng.choice(lines)
            line[rng.randrange(len(line))] = rng.choice(CELLS)
        elif change == 3 and lines:
            rng.choice(lines)[-1:] = rng.choice(([], ["1", "2"]))
        elif change == 4:
            head[rng.randrange(len(head))] = rng.choice(("reward", "", "_next", "[/red]", "a\nb", "x" * 5000, "start"))
        else:
            head.pop(rng.randrange(len(head)))
    end, comma = rng.choice(("\n",) * 6 + ("\r\n", "\r", ";\n")), rng.choice((",",) * 20 + (";", "\t"))
    return end.join(comma.join(line) for line in [head, *lines])


def _npz(rng: random.Random) -> bytes:
    """Arrays of a few rows, of which some are of another type, shape or value than they should be."""
    draw = np.random.default_rng(rng.randrange(2**32))
    n, whole = rng.choice((0, 1, 8, 8, 8, 8, 8, 8, 30)), rng.random() < 0.5
    x = draw.integers(0, 4, (n, 2)) if whole else draw.random((n, 2)).round(1)
    arrays: dict[str, Any] = {"x": x, "reward": draw.random(n), "discount": np.full(n, 0.9), "x_next": x[::-1]}
    for name in rng.sample([*arrays, "rho", "start"], rng.choice((0, 1, 1, 2))):
        with np.errstate(all="ignore"):
            arrays[name] = rng.choice(ARRAYS)(arrays.get(name, np.zeros(n)), rng)
    if rng.random() < 0.1:
        arrays.pop(rng.choice(sorted(arrays)))
    file = io.BytesIO()
    if rng.random() < 0.5:
        np.savez_compressed(file, allow_pickle=True, **arrays)
    else:
        np.savez(file, allow_pickle=True, **arrays)
    return claim(rng, file.getvalue()) if rng.random() < 0.1 else file.getvalue()


class _Bomb:
    def __reduce__(self) -> Any:
        return os._exit, (66,)


ARRAYS = (
    lambda a, rng: a[: len(a) // 2],
    lambda a, rng: a.T,
    lambda a, rng: a.reshape(-1),
    lambda a, rng: np.zeros((len(a), 0)),
    lambda a, rng: np.array(rng.choice((0.5, 1, -1, np.nan))),
    lambda a, rng: np.array([_Bomb()] * max(1, len(a)), object),
    lambda a, rng: a.astype(str),
    lambda a, rng: a.astype(complex),
    lambda a, rng: np.zeros(a.shape, "M8[s]"),
    lambda a, rng: np.zeros(a.shape, [("a", "i4"), ("b", "f8")]),
    lambda a, rng: a.astype(rng.choice(("f2", "f4", ">f8", "i1", "u8", "?", "g"))),
    lambda a, rng: a * rng.choice((np.nan, np.inf, 1e308, -1, 1e-320, 1e200)),
    lambda a, rng: a.astype(np.int64) + rng.choice((2**40, 2**62, -5, 50_000)),
    lambda a, rng: a.astype(np.uint64) + np.uint64(2**63),
    lambda a, rng: np.asfortranarray(a),
)


def claim(rng: random.Random, content: bytes) -> bytes:
    """Claim terabytes in the head of an array, or for a member of the zip file."""
    source, target = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name in source.namelist():
            head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rng.choice((10**12, 2**62, -1))}, 2), }}"
            head = head.ljust(117) + "\n"
            bomb = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(100_000)
            file.writestr(name, bomb if rng.random() < 0.5 else source.read(name))
    return target.getvalue()


def _other(rng: random.Random, content: bytes) -> bytes:
    """Something else under this name."""
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return rng.choice((file.getvalue(), b"", rng.randbytes(300), "täxt".encode("utf-16"), b"\x00" * 100, b"PK\x03\x04"))


BYTES = (flip, flip, cut, _other)
