"""The SQLite file of a store: locking, schema checks, and one-line errors. The only module that imports sqlite3.

A store may be untrusted, and a database can contain code: views, triggers, generated columns. So a file is used only if
it has exactly the tables of a store, and every statement ends on Ctrl-C or after `BUDGET` seconds.
"""

import functools
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ucls._util.files import cache_dir, lock
from ucls.errors import UserError, printable
from ucls.study.storage import schema
from ucls.study.storage.seal import seal

APPLICATION = 0x55434C53  # "UCLS": SQLite's mark of whose file it is
LOCKED_SECONDS = 10.0  # how long another program may hold the file before it is said to be locked
LENGTH = 1 << 30  # bytes of a value: a corrupted length must not fill memory
BUDGET = 600.0  # seconds that one statement may take
PAGE = 16_384  # bytes of a page of a new file: a run's arrays fit in one, so that a million are read in half the time
INSTRUCTIONS = 100_000  # of SQLite between two looks at the clock: a few milliseconds
STATISTICS = {  # the tables that ANALYZE creates
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}

Values = Sequence[Any]


class Database:
    """An open SQLite file with the tables of a store. Other files are never written to.

    With `recover` a file that contains more than these tables is read too, and only the tables are.
    """

    def __init__(self, path: Path, write: bool, recover: bool = False) -> None:
        self.path = path
        self._locks: list[int] = []
        self._deadline = time.monotonic() + BUDGET
        refuse_strange(path)
        try:
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._locks = take_locks(path)
            with self._errors():
                self._db = _open(path, write, recover, self._over)
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise UserError(f"cannot write a store at {path}: {error.strerror}: give another --store") from None
            raise

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def each(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one: they need not fit in memory."""
        with self._errors():
            yield from self._db.execute(sql, values)

    def write(self, sql: str, values: Values = ()) -> int:
        """Execute a statement that writes; return the number of changed rows."""
        with self._errors():
            return self._db.execute(sql, values).rowcount

    def write_many(self, sql: str, values: Iterable[Values]) -> None:
        """Execute a statement that writes for each of some values."""
        with self._errors():
            self._db.executemany(sql, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block, or nothing."""
        self.write("BEGIN IMMEDIATE")
        try:
            yield
            self.write("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite has rolled back by itself if the disk is full
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the file and let other writers in."""
        with suppress(sqlite3.Error):
            self._db.close()
        self._release()

    def _release(self) -> None:
        while self._locks:
            os.close(self._locks.pop())

    def _over(self) -> bool:
        """Return whether a statement has exceeded its time. SQLite calls this, and Python then handles Ctrl-C."""
        return time.monotonic() > self._deadline

    def _end_interrupted(self, error: sqlite3.Error) -> None:
        """Raise the reason why a statement ended early: Ctrl-C in a function called by SQLite, which reports only a
        failure, or the end of its time."""
        interrupted = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
        if interrupted and self._over():
            raise UserError(
                f"{self.path} could not be read within {BUDGET:.0f} seconds: check that it is a store"
            ) from None
        if interrupted or "user-defined function raised" in str(error):
            raise KeyboardInterrupt from None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        self._deadline = time.monotonic() + BUDGET
        try:
            yield
        except sqlite3.Error as error:
            self._end_interrupted(error)
            raise UserError(_explained(error, self.path)) from None
        except UnicodeDecodeError:  # SQLite quotes what is corrupted
            raise UserError(_explained(sqlite3.DatabaseError("names that are no text"), self.path)) from None
        except (UnicodeEncodeError, OverflowError) as error:  # a name that is no text, a number beyond 64 bits
            raise UserError(f"{self.path} cannot store this: {error}") from None


def refuse_strange(path: Path) -> None:
    """Refuse a path that is not a regular file: a folder, a device, or a pipe on which opening would wait forever."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UserError(f"cannot open a store at {str(path)[:200]!r}: {error}"[:400]) from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe, not a file"
        raise UserError(f"{path} is {kind}: give a file as --store")


def take_locks(path: Path) -> list[int]:
    """Become the only writer of a file, whatever its name; the system releases the locks when the process ends.

    One lock is a file beside the store, for everybody who can see that folder. The other is named after the identity of
    the store's file, for this user on this machine: it still holds when the store is moved. A store with hard links is
    refused, because the log that SQLite writes beside it belongs to one name only.
    """
    locks = [_lock(path.with_name(path.name + ".lock"), path)]
    try:
        if not path.exists():  # opening one that a reader here has open would end that reader's locks
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
        about, folder = path.stat(), cache_dir("locks")
        if folder is not None:
            locks.append(_lock(folder / f"{about.st_dev:x}-{about.st_ino:x}.lock", path))
        if about.st_nlink > 1:
            raise UserError(f"{path} has {about.st_nlink} names (hard links): run the study in a copy of the file")
    except BaseException:
        for handle in locks:
            os.close(handle)
        raise
    return locks


def _lock(file: Path, path: Path) -> int:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    try:
        lock(handle)
    except BlockingIOError:
        who = _written(handle)
        os.close(handle)
        line = f"{path} is in use by another study{who}: wait until it ends, or give another --store"
        raise UserError(line) from None
    except OSError:
        os.close(handle)
        raise
    with suppress(OSError):  # who it is helps, and is not needed
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def _written(handle: int) -> str:
    try:
        who = os.read(handle, 20).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {who})" if who.isdigit() else ""


def _open(path: Path, write: bool, recover: bool, over: Callable[[], bool]) -> sqlite3.Connection:
    db = _connect(path, over)
    try:
        version = _version(db, path)
        if version == 0 and not write:
            raise UserError(f"{path} is an empty store: use `ucls study run` first, or give another --store")
        if version == 0:
            db.execute(f"PRAGMA page_size = {PAGE}")
            _create(db)
        else:
            (_refuse_programs if recover else _refuse_other_schemas)(db, path)
        if write:
            _refuse_corrupted(db)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        return db
    except BaseException:
        db.close()
        raise


def _refuse_other_schemas(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with anything besides the tables of a store: a view or a trigger could run code."""
    ours = _schema()
    for kind, name, table, sql in _objects(db):
        if ours.get((kind, name)) != (table, sql) and (sql is None or STATISTICS.get(name) != sql):
            what = "a changed" if (kind, name) in ours else "a foreign"
            copy = f"`ucls study recover NEW --store {path}` copies its results"
            raise UserError(f"{path} is refused because it contains {what} {kind[:20]} {name[:100]!r}: {copy}")
    if missing := ours.keys() - {(kind, name) for kind, name, *_ in _objects(db)}:
        raise sqlite3.DatabaseError(f"no {' '.join(min(missing))}")


def _refuse_programs(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file if reading the tables of a store could run code: they must be plain tables."""
    tables = {name for kind, name in _schema() if kind == "table"}
    there = {(kind, name): sql for kind, name, _, sql in _objects(db)}
    for name in sorted(tables):
        plain = str(there.get(("table", name))).upper().startswith("CREATE TABLE")
        columns = db.execute(f"PRAGMA table_xinfo({name})").fetchall() if plain else []
        if not plain or any(hidden for *_, hidden in columns):
            raise UserError(f"nothing can be recovered from {path}: its {name!r} is not a plain table")


def _objects(db: sqlite3.Connection) -> list[tuple[str, str, str, str | None]]:
    found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    return [(str(kind), str(name), str(table), sql) for kind, name, table, sql in found]


@functools.cache
def _schema() -> dict[tuple[str, str], tuple[str, str | None]]:
    """Return the table and the SQL of every table and index in a store, by kind and name."""
    db = _connection(":memory:", lambda: False)
    try:
        _create(db)
        return {(kind, name): (table, sql) for kind, name, table, sql in _objects(db)}
    finally:
        db.close()


def _connect(path: Path, over: Callable[[], bool]) -> sqlite3.Connection:
    try:
        return _connection(path, over)
    except sqlite3.OperationalError as error:
        # A folder that cannot be written has no room for SQLite's own files beside the store: if no writer left any,
        # the store is whole without them.
        unwritable = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
        if not unwritable or not path.exists() or _waiting_log(path):
            raise
        return _connection(f"{path.absolute().as_uri()}?mode=ro&immutable=1", over, uri=True)


def _waiting_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _connection(place: Path | str, over: Callable[[], bool], uri: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(place, isolation_level=None, timeout=LOCKED_SECONDS, uri=uri)
    try:
        db.set_progress_handler(over, INSTRUCTIONS)
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LENGTH)
        db.create_function("seal", -1, seal, deterministic=True)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA schema_version").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a store; 0 for an empty file, as a process leaves it that is killed while creating
    one."""
    [mark], [version] = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
    if mark == version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    if mark != APPLICATION:
        raise UserError(f"{path} is not a ucls store: give another --store (the file was not changed)")
    if version > schema.VERSION:
        raise UserError(f"{path} was written by a newer ucls (schema {version}): update ucls to read it")
    if version < 1:
        raise sqlite3.DatabaseError(f"schema {version}")
    if version < schema.VERSION:
        raise UserError(
            f"{path} was written by an earlier ucls (schema {version}): use that version, or another --store"
        )
    return version


def _refuse_corrupted(db: sqlite3.Connection) -> None:
    """Refuse to write to a file with inconsistent pages, which could destroy intact data."""
    [verdict] = db.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).splitlines()[-1])


def _create(db: sqlite3.Connection) -> None:
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {schema.VERSION};"
    db.executescript(f"BEGIN IMMEDIATE; {schema.TABLES} {marks} COMMIT;")


def _explained(error: sqlite3.Error, path: Path) -> str:
    """Translate an SQLite error for the user who named the file."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is locked by another program: close it, or give another --store"
        case sqlite3.SQLITE_FULL:
            return f"{path} cannot grow because the disk is full: free some space"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"{path} cannot be written because it or its folder is read-only: give another --store"
        case sqlite3.SQLITE_IOERR:
            return f"{path} cannot be read or written: disk error or disk full ({error})"
        case _:
            reason = printable(" ".join(str(error).split()))[:200]
            return f"{path} is corrupted or not a store: {reason} (try `ucls study recover`)"
