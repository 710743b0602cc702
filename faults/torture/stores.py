"""Corrupted stores and unfinished runs: results are read unchanged, or reported as missing."""

import functools
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from faults.torture import damage
from faults.torture.damage import PAGE
from ucls.core.history import History
from ucls.errors import UserError
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.compare import compare_study
from ucls.study.declaration.sweep import Winner
from ucls.study.outcome import Outcome
from ucls.study.runners.run_cell import run_cell
from ucls.study.storage.export import export_csv
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.rescue import recover
from ucls.study.storage.result import Circumstance, pack, summarize

RIVER, NAME = "ucls/RiverSwim-v0", "s"
SMALL = {"tilings": 2, "tiles": 2, "table_size": 4}
ABOUT = Circumstance(2.0, 500.0, "here", "ucls 0", "now")


class Different(AssertionError):
    """A damaged file gave another result, and did not say so."""


class _Whole(NamedTuple):
    """A store with nothing wrong, the study in it, what it holds by id, and a cell kept in its middle."""

    content: bytes
    study: Study
    found: dict[str, Any]
    cell: Any
    kept: bytes
    result: Any


def attempt(seed: int) -> str:
    """Damage a store (or, one time in four, a partial cell) and use it: "refused" or "fine"."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        trial = _partial if rng.random() < 0.25 else _store
        try:
            return trial(rng, Path(folder), whole_store())
        except UserError as error:
            one_line(error)
            return "refused"


def _store(rng: random.Random, folder: Path, whole: _Whole) -> str:
    path = folder / "s.sqlite"
    path.write_bytes(whole.content)
    rng.choice(DAMAGES)(rng, path)
    said = [_reading(path, whole), _running(path, whole)]
    if said[1] == "refused":
        rescuing(path, whole)
    return "refused" if "refused" in said else "fine"


def _reading(path: Path, whole: _Whole) -> str:
    """Look at everything that commands look at; every result is the right one, or missing."""
    before = path.read_bytes() if path.is_file() else None
    try:
        with Store(path) as store:
            store.studies(), store.speeds(), store.study(NAME)
            rows = store.rows(NAME)
            if [row.id for row in rows] != [cell.id for _, cell in whole.study.members]:
                raise Different("other cells")
            export_csv(store, NAME), compare_study(rows), store.failures(NAME)
            _same(store, whole, all_there=False)
        return "fine"
    except UserError as error:
        one_line(error)
        return "refused"
    finally:
        if before is not None and path.read_bytes() != before and not path.with_name("s.sqlite-wal").exists():
            raise Different("reading has changed the file")


def _running(path: Path, whole: _Whole) -> str:
    """Run the study again: afterwards everything is there, and as it was."""
    try:
        with Store(path, write=True) as store:
            run_study(store, whole.study, _runner, quiet=True)
            failed = [row for row in store.rows(NAME) if row.status == "failed"]
            _same(store, whole, all_there=not failed)
        return "fine"
    except UserError as error:
        one_line(error)
        return "refused"


def rescuing(path: Path, whole: _Whole) -> None:
    """Rescue what is sound: what comes out of it is what went in."""
    try:
        recover(path, new := path.with_name("new.sqlite"))
        with Store(new) as store:
            ids = {row.id for row in store.rows("recovered")}
            if any(_content(store.result(id) or whole.found[id][1]) != _content(whole.found[id][1]) for id in ids):
                raise Different("something else was recovered")
    except UserError as error:
        one_line(error)


def _same(store: Store, whole: _Whole, all_there: bool) -> None:
    for row in store.rows(NAME):
        found, want = store.result(row.id), whole.found[row.id]
        if found is None and (all_there or row.status in ("done", "diverged")):
            raise Different(f"{row.id} is {row.status}, and has no result")
        said = row.label, row.env, row.agent, row.steps, row.seed
        if said != want[0] or (row.metrics is not None and row.metrics != want[1].metrics):
            raise Different(f"{row.id} has other numbers")
        if found is not None and _content(found) != _content(want[1]):
            raise Different(f"{row.id} has another result")


def _partial(rng: random.Random, folder: Path, whole: _Whole) -> str:
    """Damage a cell that was kept unfinished: it goes on, or starts again, to the same end."""
    path = folder / f"{whole.cell.id}.safetensors"
    path.write_bytes(whole.kept)
    rng.choice((*[_damage] * 8, _claim, _claim))(rng, path)
    done = run_cell(whole.cell, Checkpoints(folder))
    if done is None or _content(done.result) != whole.result:
        raise Different("a damaged partial cell ended with another result")
    return "fine"


def _content(result: Any) -> Any:
    return result.steps, bool(result.diverged), result.metrics, pack(result.arrays), result.learner


def one_line(error: UserError) -> None:
    """Complain of an error that is not one short, printable line."""
    if not str(error).isprintable() or len(str(error)) > 1000:
        raise AssertionError(f"not one line: {error!s:.300}")


def _runner(cells: Any, checkpoints: Checkpoints, stop: Event) -> Any:
    for cell in cells:
        yield Outcome(cell.id, _result(cell), ABOUT)


def _result(cell: Any) -> Any:
    rng = np.random.default_rng(cell.seed)
    history = History(rng.normal(size=cell.steps), (rng.random(cell.steps) < 0.1).astype(np.uint8))
    return summarize(history, cell.resolution)._replace(learner=rng.bytes(3000) if cell.seed % 3 == 0 else None)


@functools.cache
def whole_store() -> _Whole:
    """A store with nothing wrong."""
    cells = make_run_specs(RIVER, "sarsa", steps=200, seeds=range(12), settings=SMALL)
    study = Study(NAME, tuple(Member("ab"[cell.seed % 2], cell) for cell in cells), definition="by hand")
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        path = Path(folder) / "s.sqlite"
        with Store(path, write=True) as store:
            run_study(store, study, _runner, quiet=True)
            store.choose(NAME, Winner("a", "sarsa", RIVER, "reward", 200, 1, {"alpha": 0.1}, []))
        found = {
            cell.id: ((label, cell.env, cell.agent, cell.steps, cell.seed), _result(cell))
            for label, cell in study.members
        }
        asked = iter([False, False, True])
        cell = make_run_specs(RIVER, "sarsa", steps=70, seeds=[5], settings=SMALL)[0]
        run_cell(cell, Checkpoints(Path(folder)), lambda: next(asked))
        kept = (Path(folder) / f"{cell.id}.safetensors").read_bytes()
        done = run_cell(cell)
        assert done is not None
        return _Whole(path.read_bytes(), study, found, cell, kept, _content(done.result))


# Damages


def _damage(rng: random.Random, path: Path) -> None:
    """Change the bytes of the file."""
    path.write_bytes(rng.choice(damage.ALL)(rng, path.read_bytes()))


def _claim(rng: random.Random, path: Path) -> None:
    """Claim other steps, another cell or other numerics, or lose or change arrays, in an otherwise whole file."""
    from ucls.core.saving import checkpoint

    about, arrays = checkpoint.load(path)
    change = rng.randrange(5)
    if change == 0:
        about["steps"] = rng.choice((0, -1, 10**9, 1, 2**63, 10.5, "many", None, True))
    elif change == 1:
        about[rng.choice(("cell", "numerics", "seal"))] = rng.choice(("", None, 7, "0" * 24))
    elif change == 2:
        arrays.pop(rng.choice(sorted(arrays)))
    elif change == 3:
        name = rng.choice(sorted(arrays))
        arrays[name] = arrays[name][: len(arrays[name]) // 2]
    else:
        name = rng.choice(sorted(arrays))
        arrays[name] = (arrays[name] + 1).astype(arrays[name].dtype)
    path.write_bytes(checkpoint.to_bytes(arrays, about))


def _pages(rng: random.Random, path: Path) -> None:
    """Swap two pages."""
    content = path.read_bytes()
    pages = [content[i : i + PAGE] for i in range(0, len(content), PAGE)]
    i, j = rng.randrange(len(pages)), rng.randrange(len(pages))
    pages[i], pages[j] = pages[j], pages[i]
    path.write_bytes(b"".join(pages))


def _edit(rng: random.Random, path: Path) -> None:
    """Change values by way of SQL, so that the file is whole and its content is not."""
    table = rng.choice(("study", "cell", "member", "result", "circumstance", "payload", "choice"))
    db = sqlite3.connect(path)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    value = rng.choice((None, 0, -1, 7, 0.5, float("inf"), 2**62, "text", "", b"\xff\xfe", b""))
    try:
        keys = {"study": "name", "member": "place", "choice": "label"}
        key = keys.get(table, "number" if table == "cell" else "cell")
        chosen = f"(SELECT {key} FROM {table} ORDER BY random_of({key}) LIMIT 1)"
        db.create_function("random_of", 1, lambda _: rng.random())
        db.execute(f"UPDATE OR IGNORE {table} SET {rng.choice(columns)} = ? WHERE {key} = {chosen}", (value,))
        db.commit()
    except sqlite3.Error:
        pass
    db.close()


def _forget(rng: random.Random, path: Path) -> None:
    """Delete rows."""
    db = sqlite3.connect(path)
    table = rng.choice(("study", "cell", "member", "result", "circumstance", "payload", "choice"))
    db.create_function("drawn", 0, lambda: rng.random() < 0.3)
    db.execute(f"DELETE FROM {table} WHERE drawn()")
    db.commit()
    db.close()


def _drop(rng: random.Random, path: Path) -> None:
    db = sqlite3.connect(path)
    table = rng.choice(("study", "cell", "member", "result", "circumstance", "payload", "choice", "failure"))
    db.execute(f"DROP TABLE {table}" if rng.random() < 0.7 else f"ALTER TABLE {table} RENAME TO other")
    db.commit()
    db.close()


def _marks(rng: random.Random, path: Path) -> None:
    db = sqlite3.connect(path)
    number = rng.choice((0, 1, 2, 3, 99, -1, -(2**31), 2**31 - 1))
    db.execute(f"PRAGMA {rng.choice(('application_id', 'user_version'))} = {number}")
    db.close()


def _other(rng: random.Random, path: Path) -> None:
    """Somebody else's database, perhaps with our mark, perhaps empty."""
    path.unlink()
    db = sqlite3.connect(path)
    if rng.random() < 0.7:
        db.execute(f"CREATE TABLE {rng.choice(('t', 'study', 'cell', 'result'))} (x)")
    if rng.random() < 0.5:
        db.execute(f"PRAGMA application_id = {0x55434C53}")
        db.execute(f"PRAGMA user_version = {rng.choice((0, 1, 2))}")
    db.commit()
    db.close()


def _strange(rng: random.Random, path: Path) -> None:
    """No file at all."""
    path.unlink()
    kind = rng.randrange(3)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        path.symlink_to(rng.choice(("/dev/null", "/dev/full", "/dev/zero", "/", "s.sqlite")))
    else:
        os.mkfifo(path)


Damage = Callable[[random.Random, Path], None]
DAMAGES: tuple[Damage, ...] = (*[_damage] * 16, _pages, _edit, _edit, _edit, _forget, _drop, _marks, _other, _strange)
