"""The store: one SQLite file with studies, runs and their results. `database` opens it.

The status of a cell follows from what the store has for it: a result, a failure, or nothing yet. A result is written in
one transaction, so it is complete or absent. Only the driver of a study writes; any process may read.

Every row has a checksum, called its seal. A result whose seal does not match is corrupted: it is not used, and its cell
runs again. A study whose seals do not match is refused until it is declared again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ucls.core.metrics import Metrics
from ucls.errors import UserError, unknown
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.declaration.sweep import Winner
from ucls.study.storage.database import Database
from ucls.study.storage.records import Declaration, Failure, Progress, Row
from ucls.study.storage.result import Circumstance, Result, digest_of, pack, unpack
from ucls.study.storage.schema import (
    CHOICE_SEAL,
    MEMBER_SEAL,
    METRIC_COLUMNS,
    RESULT_PARTS,
    RESULT_SEAL,
    SEAL_MEMBERS,
    SEAL_RESULTS,
    SEAL_STUDIES,
    SEALED,
    STUDY_SEAL,
)
from ucls.study.storage.seal import digest_of_parts, part, parts_of

# A result with the cell it is of, and everything that its seal covers.
SOUND = f"r.seal IS {RESULT_SEAL}"
RESULTS = f"FROM result r JOIN cell c ON c.number = r.cell {RESULT_PARTS}"


class Store:
    """An open store; `write=True` creates the file if there is none, and locks out other writers until it is closed.

    A symbolic link is followed: what is saved beside a store is beside the file itself. `recover` reads files that are
    refused otherwise.
    """

    def __init__(self, path: str | Path, write: bool = False, recover: bool = False) -> None:
        self.path = _followed(Path(path))
        if not write and not is_there(self.path):
            raise UserError(
                f"there is no store at {self.path}: create one with `ucls study run`, or give another --store"
            )
        self._db = Database(self.path, write, recover)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let other writers in."""
        self._db.close()

    @property
    def partial(self) -> Path:
        """The folder of unfinished runs beside the store."""
        return self.path.with_name(self.path.name + ".partial")

    def declare(
        self,
        name: str,
        members: Iterable[tuple[str, RunSpec]],
        definition: str,
        baseline: str | None,
        metric: str | None,
    ) -> None:
        """Store a study and its runs; a study that is declared again keeps the results of runs that it still has."""
        members = list(members)
        rows = [(cell.id, cell.agent, cell.env, cell.steps, cell.seed, cell.json()) for _, cell in members]
        db = self._db
        with db.transaction():
            # A cell that is there already is written again all the same: it may be corrupted.
            sql = """INSERT INTO cell (id, agent, env, steps, seed, content) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, env = excluded.env, steps = excluded.steps,
                seed = excluded.seed, content = excluded.content WHERE (agent, env, steps, seed, content)
                IS NOT (excluded.agent, excluded.env, excluded.steps, excluded.seed, excluded.content)"""
            db.write_many(sql, rows)
            sql = "INSERT OR REPLACE INTO study (name, definition, baseline, measure) VALUES (?, ?, ?, ?)"
            db.write(sql, (name, definition, baseline, metric))
            db.write("DELETE FROM member WHERE study = ?", (name,))
            sql = "INSERT INTO member (study, place, cell, label) SELECT ?, ?, number, ? FROM cell WHERE id = ?"
            places = enumerate(zip(members, rows, strict=True))
            db.write_many(sql, [(name, place, label, row[0]) for place, ((label, _), row) in places])
            db.write(f"{SEAL_MEMBERS} WHERE study = ?", (name,))
            db.write(f"{SEAL_STUDIES} WHERE name = ?", (name,))

    def studies(self) -> dict[str, Progress]:
        """Return the studies by name, with their progress."""
        sound = dict(self._db.rows(f"SELECT s.name, s.seal IS {STUDY_SEAL} FROM study s ORDER BY s.name"))
        finished = self.finished()
        cells, done = Counter[str](), Counter[str]()
        for name, id in self._db.rows("SELECT m.study, c.id FROM member m JOIN cell c ON c.number = m.cell"):
            cells[name] += 1
            done[name] += id in finished
        return {str(name): Progress(cells[name], done[name], bool(sound[name])) for name in sound}

    def study(self, name: str) -> Declaration:
        """The declaration of a study; the error for an unknown name suggests the nearest one."""
        sql = f"SELECT s.definition, s.baseline, s.measure, s.seal IS {STUDY_SEAL} FROM study s WHERE s.name = ?"
        for *declared, sound in self._db.rows(sql, (name,)):
            if not sound:
                raise self._corrupted(name)
            return Declaration(*declared)
        known = [str(known) for (known,) in self._db.rows("SELECT name FROM study ORDER BY name")]
        raise unknown(f"study in {self.path}", name, known)

    def rows(self, name: str) -> list[Row]:
        """Return the runs of a study in order, with their outcomes."""
        return list(self.each_row(name))

    def each_row(self, name: str) -> Iterator[Row]:
        """Yield the runs of a study in order, with their outcomes: a million would fill memory.

        The columns of a cell must agree with its content, whose digest is its id.
        """
        if self._db.rows("SELECT 1 FROM study WHERE name = ?", (name,)):
            self.study(name)
        sql = f"""SELECT CAST(m.label AS BLOB), CAST(c.content AS BLOB), CAST(c.agent AS BLOB), CAST(c.env AS BLOB),
            c.steps, c.seed, m.place, CAST(m.seal AS BLOB), f.error, r.cell IS NOT NULL, CAST(r.seal AS BLOB), {SEALED}
            FROM member m LEFT JOIN cell c ON c.number = m.cell LEFT JOIN result r ON r.cell = m.cell {RESULT_PARTS}
            LEFT JOIN failure f ON f.cell = m.cell WHERE m.study = ? ORDER BY m.place"""
        texts: dict[bytes | None, str] = {}  # labels and names, which are few
        sealed: dict[bytes | None, bytes] = {}
        fields: dict[tuple[bytes, bytes, int], tuple[bytes, bytes, bytes]] = {}
        study = part(name.encode("utf-8", "surrogatepass"))
        for row in self._db.each(sql, (name,)):  # a million times: what can be known before the loop is
            label, content, agent, env, steps, seed, place, seal, error, there, result_seal, *sealed_values = row
            id = sealed_values[0]
            if label not in sealed:
                texts[label], sealed[label] = _text(label), part(label)
            key = agent, env, steps
            if key not in fields:
                texts |= {text: _text(text) for text in (agent, env)}
                fields[key] = _field("agent", texts[agent]), _field("env", texts[env]), _field("steps", steps)
            of_agent, of_env, of_steps = fields[key]
            whole = (
                digest_of_parts((study, part(place), sealed[label], part(id))).encode() == seal
                and hashlib.sha256(content).hexdigest()[:24].encode() == id
                and b'"seed":%d,' % seed in content
                and of_agent in content
                and of_env in content
                and content.rfind(of_steps) >= 0  # near the end
            )
            if not whole:
                raise self._corrupted(name)
            metrics, status = None, "failed" if error else "waiting"
            if there and digest_of_parts(parts_of(sealed_values)).encode() == result_seal:
                metrics = Metrics(*sealed_values[3 : 3 + len(METRIC_COLUMNS)])
                status = "diverged" if sealed_values[2] else "done"
            elif there:
                status = "corrupted"
            yield Row(texts[label], id.decode(), texts[agent], texts[env], steps, seed, status, metrics, error)

    def waiting(self, name: str) -> list[RunSpec]:
        """Return the runs of a study that have neither an intact result nor a failure, each once."""
        joins = f"LEFT JOIN result r ON r.cell = m.cell {RESULT_PARTS} LEFT JOIN failure f ON f.cell = m.cell"
        members = self._members(name, f"{SOUND}, r.cell, f.cell", joins)
        cells = {cell.id: cell for _, cell, (sound, there, failed) in members if _waits(sound, there, failed)}
        return list(cells.values())

    def finish(self, id: str, result: Result, about: Circumstance) -> bool:
        """Store a result; keep an existing intact one and return False."""
        row = (result.steps, int(result.diverged), *result.metrics)
        holes = ", ".join("?" * (1 + len(row)))
        db = self._db
        with db.transaction():
            number = self._number(id)
            if db.rows(f"SELECT 1 {RESULTS} WHERE r.cell = ? AND {SOUND}", (number,)):
                return False
            names = ", ".join(("cell", "steps", "diverged", *METRIC_COLUMNS))
            db.write(f"INSERT OR REPLACE INTO result ({names}) VALUES ({holes})", (number, *row))
            db.write("INSERT OR REPLACE INTO circumstance VALUES (?, ?, ?, ?, ?, ?)", (number, *about))
            payload = (number, pack(result.arrays), result.learner)
            db.write("INSERT OR REPLACE INTO payload VALUES (?, ?, ?)", payload)
            db.write(f"{SEAL_RESULTS} WHERE cell = ?", (number,))
            db.write("DELETE FROM failure WHERE cell = ?", (number,))
        return True

    def fail(self, id: str, error: str, traceback: str, attempts: int = 1) -> None:
        """Store the failure of a run."""
        with self._db.transaction():
            sql = "INSERT OR REPLACE INTO failure VALUES (?, ?, ?, ?)"
            self._db.write(sql, (self._number(id), attempts, error, traceback))

    def retry(self, name: str) -> int:
        """Delete the failures of a study, so that its runs are made again; return how many."""
        sql = "DELETE FROM failure WHERE cell IN (SELECT cell FROM member WHERE study = ?)"
        with self._db.transaction():
            return self._db.write(sql, (name,))

    def failures(self, name: str) -> list[Failure]:
        """Return the failures of a study, sorted by the ids of the runs."""
        members = self._members(name, "f.attempts, f.error, f.traceback", "JOIN failure f ON f.cell = m.cell")
        failures = {cell.id: Failure(cell.id, cell.agent, cell.env, cell.seed, *why) for _, cell, why in members}
        return [failures[id] for id in sorted(failures)]

    def result(self, id: str) -> Result | None:
        """Return the result of a run; None if there is none, or only a corrupted one."""
        account = self.account(id)
        return None if account is None else account[0]

    def account(self, id: str) -> tuple[Result, Circumstance] | None:
        """Return the result of a run with its provenance; None if there is none, or only a corrupted one."""
        measured = ", ".join(
            (*(f"k.{each}" for each in Circumstance._fields), *(f"r.{each}" for each in METRIC_COLUMNS))
        )
        sql = f"""SELECT r.steps, r.diverged, p.arrays, p.learner, {measured} {RESULTS}
            WHERE c.number = ? AND +c.id = ? AND {SOUND}"""
        # An index may be corrupted where the table is not: it is not believed, and asked first.
        for how in ("", "NOT INDEXED"):
            for (number,) in self._db.rows(f"SELECT number FROM cell {how} WHERE id = ?", (id,)):
                for steps, diverged, arrays, learner, *rest in self._db.rows(sql, (number, id)):
                    about, metrics = rest[: len(Circumstance._fields)], rest[len(Circumstance._fields) :]
                    result = Result(steps, bool(diverged), Metrics(*metrics), unpack(arrays), learner)
                    return result, Circumstance(*about)
        return None

    def cell_at(self, number: int) -> RunSpec | None:
        """Return the run with this number, if it can be read and matches its id."""
        try:
            rows = self._db.rows("SELECT id, content FROM cell WHERE number = ?", (number,))
        except UserError:
            return None
        sound = [content for id, content in rows if id == _id_of(content)]
        return RunSpec.from_json(sound[0]) if sound else None

    def members(self, name: str) -> list[tuple[str, RunSpec]]:
        """Return the labels and runs of a study in order."""
        return [(label, cell) for label, cell, _ in self._members(name)]

    def finished(self) -> set[str]:
        """Return the ids of all runs that have an intact result."""
        return {id for (id,) in self._db.rows(f"SELECT c.id {RESULTS} WHERE {SOUND}")}

    def digests(self, name: str) -> dict[str, str]:
        """Return a digest of the arrays of every intact result of a study, by the id of the run."""
        return {id: digest_of(unpack(arrays)) for id, arrays in self._sound(name, "p.arrays")}

    def contents(self, name: str) -> dict[str, str]:
        """Return the content of every run of a study, by id."""
        return {cell.id: cell.json() for _, cell, _ in self._members(name)}

    def circumstances(self, name: str) -> dict[str, Circumstance]:
        """Return the provenance of each intact result of a study, by the id of the run."""
        columns = ", ".join(f"k.{field}" for field in Circumstance._fields)
        return {row[0]: Circumstance(*row[1:]) for row in self._sound(name, columns)}

    def speeds(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Return the steps per second of each algorithm in each environment as measured here, and over how many
        runs."""
        sql = f"""SELECT c.agent, c.env, sum(c.steps) / sum(k.seconds), count(*) {RESULTS}
            WHERE k.seconds > 0 AND {SOUND} GROUP BY c.agent, c.env"""
        return {(agent, env): (speed, runs) for agent, env, speed, runs in self._db.rows(sql)}

    def slowest(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the most seconds that a run of each algorithm in each environment needed: to start, and per step."""
        sql = f"""SELECT c.agent, c.env, max(0, max(k.seconds - coalesce(c.steps / nullif(k.speed, 0), 0))),
            coalesce(max(1 / nullif(k.speed, 0)), 0) {RESULTS} WHERE {SOUND} GROUP BY c.agent, c.env"""
        return {(agent, env): (start, step) for agent, env, start, step in self._db.rows(sql)}

    def choose(self, study: str, winner: Winner) -> None:
        """Store the settings found by tuning, with the scores of all candidates."""
        row = (study, winner.label, winner.env, json.dumps(winner.as_data(), sort_keys=True))
        with self._db.transaction():
            sql = "INSERT OR REPLACE INTO choice (study, label, env, content) VALUES (?, ?, ?, ?)"
            self._db.write(sql, row)
            sql = f"UPDATE choice SET seal = {CHOICE_SEAL} WHERE study = ? AND label = ? AND env = ?"
            self._db.write(sql, row[:3])

    def choices(self, study: str) -> list[Winner]:
        """The settings found by tuning a study."""
        sql = f"SELECT content, seal IS {CHOICE_SEAL} FROM choice WHERE study = ? ORDER BY label, env"
        rows = self._db.rows(sql, (study,))
        if not all(sound for _, sound in rows):
            raise UserError(
                f"the tuned settings of {study!r} are corrupted in {self.path}: run `ucls study tune` again"
            )
        return [Winner.from_data(json.loads(content)) for content, _ in rows]

    def _sound(self, name: str, columns: str) -> list[tuple[Any, ...]]:
        sql = f"""SELECT c.id, {columns} {RESULTS} JOIN member m ON m.cell = r.cell
            WHERE m.study = ? AND {SOUND}"""
        return self._db.rows(sql, (name,))

    def _members(self, name: str, columns: str = "1", joins: str = "") -> list[tuple[str, RunSpec, tuple[Any, ...]]]:
        """Return the labels and runs of a study in order, with some columns; none if there is no such study."""
        sql = f"""SELECT m.label, c.id, c.content, m.seal IS {MEMBER_SEAL}, {columns}
            FROM member m LEFT JOIN cell c ON c.number = m.cell {joins} WHERE m.study = ? ORDER BY m.place"""
        members: list[tuple[str, RunSpec, tuple[Any, ...]]] = []
        for label, id, content, sound, *more in self._db.rows(sql, (name,)):
            if not sound or _id_of(content) != id:
                raise self._corrupted(name)
            members.append((label, RunSpec.from_json(content), tuple(more)))
        if members or self._db.rows("SELECT 1 FROM study WHERE name = ?", (name,)):
            self.study(name)
        return members

    def _corrupted(self, name: str) -> UserError:
        return UserError(
            f"the study {name!r} is corrupted in {self.path}: run it again from its file, which restores it"
        )

    def _number(self, id: str) -> int:
        for (number,) in self._db.rows("SELECT number FROM cell WHERE id = ?", (id,)):
            return number
        raise UserError(f"{self.path} has no run {id}: declare the study again")


def _field(name: str, value: object) -> bytes:
    """A field of a cell as its content has it."""
    return f'"{name}":{json.dumps(value)}'.encode()


def _text(given: bytes | None) -> str:
    """Text from a store, in which a corrupted byte is replaced."""
    return bytes(given or b"").decode("utf-8", "replace")


def _id_of(content: object) -> str:
    return hashlib.sha256(str(content).encode()).hexdigest()[:24]


def _waits(sound: object, there: object, failed: object) -> bool:
    """Return whether a run is to be made: also if its result is corrupted, but not if it failed."""
    return failed is None if there is None else not sound


def _followed(path: Path) -> Path:
    """Return the file that a symbolic link leads to; any other path unchanged."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError, ValueError):  # links in a circle, or no path at all: reported on opening
        return path


def is_there(path: Path) -> bool:
    """Return whether there is anything at a path that can be accessed."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return True  # what is wrong with it is said on opening
