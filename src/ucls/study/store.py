"""The store: one SQLite file that holds studies, cells and what came of them. `schema` opens it.

A cell's status is not written down but follows from what is there: a result, a failure, or nothing yet. A result
arrives in one transaction, so no cell is ever half there. Only the driver of a study writes; anyone may read.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ucls.errors import UserError, unknown
from ucls.study.cell import Cell
from ucls.study.result import Measures, Result, digest_of, pack, unpack
from ucls.study.schema import open_database, take_lock

MEASURES = Measures._fields


class Circumstance(NamedTuple):
    """How a result came about: nothing that its numbers depend on."""

    seconds: float
    speed: float
    machine: str
    versions: str
    finished: str


class Row(NamedTuple):
    """A cell of a study with what came of it: `status` is done, diverged, failed or waiting."""

    label: str
    id: str
    agent: str
    env: str
    steps: int
    seed: int
    status: str
    measures: Measures | None
    error: str | None


class Store:
    """An open store; `write=True` makes the file if there is none, and keeps other writers out until it is closed."""

    def __init__(self, path: str | Path, write: bool = False) -> None:
        self.path = Path(path)
        self._lock: int | None = None
        if not self.path.exists() and not write:
            raise UserError(f"there is no store at {self.path}: `ucls study run` makes one, or give another --store")
        if write:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(self.path)
        try:
            self._db = open_database(self.path, write)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let other writers in."""
        self._db.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def partial(self) -> Path:
        """The folder beside the store where unfinished cells are kept."""
        return self.path.with_name(self.path.name + ".partial")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of it or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def declare(
        self, name: str, members: Iterable[tuple[str, Cell]], definition: str, baseline: str | None, measure: str | None
    ) -> None:
        """Write down a study and its cells; a study declared again keeps every result it shares with the old one."""
        members = list(members)
        rows = [(cell.id, cell.agent, cell.env, cell.steps, cell.seed, cell.json()) for _, cell in members]
        with self.transaction():
            sql = "INSERT OR IGNORE INTO cell (id, agent, env, steps, seed, content) VALUES (?, ?, ?, ?, ?, ?)"
            self._db.executemany(sql, rows)
            self._db.execute("INSERT OR REPLACE INTO study VALUES (?, ?, ?, ?)", (name, definition, baseline, measure))
            self._db.execute("DELETE FROM member WHERE study = ?", (name,))
            sql = "INSERT INTO member SELECT ?, ?, number, ? FROM cell WHERE id = ?"
            places = enumerate(zip(members, rows, strict=True))
            self._db.executemany(sql, [(name, place, label, row[0]) for place, ((label, _), row) in places])

    def studies(self) -> dict[str, dict[str, Any]]:
        """The studies by name, with how many cells they have and how many are done."""
        sql = """SELECT s.name, s.definition, s.baseline, s.measure, count(m.cell), count(r.cell)
            FROM study s LEFT JOIN member m ON m.study = s.name LEFT JOIN result r ON r.cell = m.cell
            GROUP BY s.name ORDER BY s.name"""
        names = ("definition", "baseline", "measure", "cells", "done")
        return {row[0]: dict(zip(names, row[1:], strict=True)) for row in self._db.execute(sql)}

    def study(self, name: str) -> dict[str, Any]:
        """One study, or the nearest name to it in the error."""
        studies = self.studies()
        if name not in studies:
            raise unknown(f"study in {self.path}", name, studies)
        return studies[name]

    def rows(self, name: str) -> list[Row]:
        """The cells of a study in order, with what came of them."""
        measured = ", ".join(f"r.{field}" for field in MEASURES)
        sql = f"""SELECT m.label, c.id, c.agent, c.env, c.steps, c.seed, r.cell IS NOT NULL, r.diverged, f.error,
            {measured} FROM member m JOIN cell c ON c.number = m.cell LEFT JOIN result r ON r.cell = m.cell
            LEFT JOIN failure f ON f.cell = m.cell WHERE m.study = ? ORDER BY m.place"""
        found = []
        for row in self._db.execute(sql, (name,)):
            done, diverged, error = row[6:9]
            status = ("diverged" if diverged else "done") if done else ("failed" if error else "waiting")
            label, id, agent, env, steps, seed = row[:6]
            measures = Measures(*row[9:]) if done else None
            found.append(Row(label, id, agent, env, steps, seed, status, measures, error))
        return found

    def waiting(self, name: str) -> list[Cell]:
        """The cells of a study that have neither a result nor a failure, each once."""
        sql = """SELECT DISTINCT c.number, c.content FROM member m JOIN cell c ON c.number = m.cell
            LEFT JOIN result r ON r.cell = m.cell LEFT JOIN failure f ON f.cell = m.cell
            WHERE m.study = ? AND r.cell IS NULL AND f.cell IS NULL ORDER BY c.number"""
        return [Cell.from_json(content) for _, content in self._db.execute(sql, (name,))]

    def finish(self, id: str, result: Result, about: Circumstance) -> bool:
        """Write down a result; false if there was one already, which then stays."""
        number = self._number(id)
        holes = ", ".join("?" * (3 + len(MEASURES)))
        row = (number, result.steps, int(result.diverged), *result.measures)
        with self.transaction():
            if self._db.execute("SELECT 1 FROM result WHERE cell = ?", (number,)).fetchone():
                return False
            self._db.execute(f"INSERT INTO result VALUES ({holes})", row)
            self._db.execute("INSERT INTO circumstance VALUES (?, ?, ?, ?, ?, ?)", (number, *about))
            payload = (number, pack(result.arrays), result.learner)
            self._db.execute("INSERT INTO payload VALUES (?, ?, ?)", payload)
            self._db.execute("DELETE FROM failure WHERE cell = ?", (number,))
        return True

    def fail(self, id: str, error: str, traceback: str, attempts: int = 1) -> None:
        """Write down that a cell cannot be run, and why."""
        with self.transaction():
            sql = "INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?)"
            self._db.execute(sql, (self._number(id), attempts, error, traceback))

    def retry(self, name: str) -> int:
        """Forget the failures of a study, so that its cells wait again; returns how many."""
        sql = "DELETE FROM failure WHERE cell IN (SELECT cell FROM member WHERE study = ?)"
        with self.transaction():
            return self._db.execute(sql, (name,)).rowcount

    def failures(self, name: str) -> list[dict[str, Any]]:
        """The failures of a study with their tracebacks."""
        sql = """SELECT DISTINCT c.id, c.agent, c.env, c.seed, f.attempts, f.error, f.traceback FROM member m
            JOIN cell c ON c.number = m.cell JOIN failure f ON f.cell = m.cell WHERE m.study = ? ORDER BY c.id"""
        names = ("id", "agent", "env", "seed", "attempts", "error", "traceback")
        return [dict(zip(names, row, strict=True)) for row in self._db.execute(sql, (name,))]

    def result(self, id: str) -> Result | None:
        """The result of a cell, or None."""
        sql = f"""SELECT r.steps, r.diverged, p.arrays, p.learner, {", ".join(MEASURES)}
            FROM cell c JOIN result r ON r.cell = c.number JOIN payload p ON p.cell = c.number WHERE c.id = ?"""
        row = self._db.execute(sql, (id,)).fetchone()
        if row is None:
            return None
        return Result(row[0], bool(row[1]), Measures(*row[4:]), unpack(row[2]), row[3])

    def finished(self) -> set[str]:
        """The ids of all cells that have a result."""
        return {id for (id,) in self._db.execute("SELECT c.id FROM cell c JOIN result r ON r.cell = c.number")}

    def digests(self, name: str) -> dict[str, str]:
        """A digest of the arrays of every result of a study, by the cell's id."""
        sql = """SELECT DISTINCT c.id, p.arrays FROM member m JOIN cell c ON c.number = m.cell
            JOIN payload p ON p.cell = m.cell WHERE m.study = ?"""
        return {id: digest_of(unpack(blob)) for id, blob in self._db.execute(sql, (name,))}

    def contents(self, name: str) -> dict[str, str]:
        """The content of every cell of a study, by id."""
        sql = "SELECT DISTINCT c.id, c.content FROM member m JOIN cell c ON c.number = m.cell WHERE m.study = ?"
        return dict(self._db.execute(sql, (name,)))

    def circumstances(self, name: str) -> dict[str, Circumstance]:
        """How each result of a study came about, by the cell's id."""
        sql = """SELECT c.id, k.seconds, k.speed, k.machine, k.versions, k.finished FROM member m
            JOIN cell c ON c.number = m.cell JOIN circumstance k ON k.cell = m.cell WHERE m.study = ?"""
        return {row[0]: Circumstance(*row[1:]) for row in self._db.execute(sql, (name,))}

    def speeds(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Steps a second of each agent in each environment as measured here, and by how many runs."""
        sql = """SELECT c.agent, c.env, sum(c.steps) / sum(k.seconds), count(*) FROM circumstance k
            JOIN cell c ON c.number = k.cell WHERE k.seconds > 0 GROUP BY c.agent, c.env"""
        return {(agent, env): (speed, runs) for agent, env, speed, runs in self._db.execute(sql)}

    def choose(self, study: str, label: str, env: str, content: Mapping[str, Any]) -> None:
        """Write down what a sweep chose for an algorithm in an environment, with the whole table."""
        row = (study, label, env, json.dumps(content, sort_keys=True))
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO choice VALUES (?, ?, ?, ?)", row)

    def choices(self, study: str) -> list[dict[str, Any]]:
        """What the sweep of a study chose."""
        sql = "SELECT content FROM choice WHERE study = ? ORDER BY label, env"
        return [json.loads(content) for (content,) in self._db.execute(sql, (study,))]

    def _number(self, id: str) -> int:
        return self._db.execute("SELECT number FROM cell WHERE id = ?", (id,)).fetchone()[0]
