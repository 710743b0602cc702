"""The file behind a store: who may write it, and every way in which it fails as one line. The one door to sqlite3."""

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ucls.errors import UserError
from ucls.study import schema
from ucls.study.result import unpack
from ucls.study.seal import seal

APPLICATION = 0x55434C53  # "UCLS": SQLite's mark of whose file it is
LOCKED_SECONDS = 10.0  # how long another program may hold the file before it is said to be locked
LENGTH = 1 << 30  # bytes of a value: a damaged length must not fill memory

Values = Sequence[Any]


class Database:
    """An open file of SQLite, ours and with the newest schema. One that is not ours is never rewritten."""

    def __init__(self, path: Path, write: bool) -> None:
        self.path = path
        self._lock: int | None = None
        refuse_strange(path)
        try:
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = take_lock(path)
            with self._errors():
                self._db = _open(path, write)
        except BaseException as error:
            self._release()
            if isinstance(error, OSError):
                raise UserError(f"cannot write a store at {path}: {error.strerror}: give another --store") from None
            raise

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows that a query gives."""
        with self._errors():
            return self._db.execute(sql, values).fetchall()

    def write(self, sql: str, values: Values = ()) -> int:
        """Change something; returns how many rows were."""
        with self._errors():
            return self._db.execute(sql, values).rowcount

    def write_many(self, sql: str, values: Iterable[Values]) -> None:
        """Change something for each of some values."""
        with self._errors():
            self._db.executemany(sql, values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of it or nothing."""
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
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise UserError(_explained(error, self.path)) from None
        except UnicodeDecodeError:  # SQLite quotes what is damaged
            raise UserError(_explained(sqlite3.DatabaseError("names that are no text"), self.path)) from None
        except (UnicodeEncodeError, OverflowError) as error:  # a name that is no text, a number beyond 64 bits
            raise UserError(f"{self.path} cannot keep that: {error}") from None


def refuse_strange(path: Path) -> None:
    """Refuse what is there but no file: a folder, a device, a pipe on which opening would wait for ever."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UserError(f"there can be no store at {str(path)[:200]!r}: {error}"[:400]) from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe, not a file"
        raise UserError(f"{path} is {kind}: give a file as --store")


def take_lock(path: Path) -> int:
    """Become the one writer; the system gives the place back when the process ends, however it ends."""
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = _written(lock)
        os.close(lock)
        line = f"{path} is locked, another process is running a study in it{who}: wait for it, or give another --store"
        raise UserError(line) from None
    except OSError:
        os.close(lock)
        raise
    with suppress(OSError):  # who it is helps, and is not needed
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _written(lock: int) -> str:
    try:
        who = os.read(lock, 20).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return f" (process {who})" if who.isdigit() else ""


def _open(path: Path, write: bool) -> sqlite3.Connection:
    db = _connect(path)
    try:
        version = _version(db, path)
        if version == 0 and not write:
            raise UserError(f"{path} is an empty store: `ucls study run` fills it, or give another --store")
        if write:
            _refuse_damaged(db, path)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        elif version < len(schema.MIGRATIONS):  # a reader leaves the file as it is
            copy = _connect(None)
            db.backup(copy)
            db.close()
            db = copy
        _migrate(db)
        return db
    except BaseException:
        db.close()
        raise


def _connect(path: Path | None) -> sqlite3.Connection:
    try:
        return _connection(path or ":memory:")
    except sqlite3.OperationalError as error:
        # A folder that cannot be written has no room for SQLite's own files beside the store: if no writer left any,
        # the store is whole without them.
        unwritable = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
        if path is None or not unwritable or not path.exists() or _waiting_log(path):
            raise
        return _connection(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _waiting_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _connection(place: Path | str, uri: bool = False) -> sqlite3.Connection:
    db = sqlite3.connect(place, isolation_level=None, timeout=LOCKED_SECONDS, uri=uri)
    try:
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LENGTH)
        db.create_function("seal", -1, seal, deterministic=True)
        db.create_function("readable", 1, readable, deterministic=True)
        db.execute("PRAGMA trusted_schema = ON")
        db.execute("PRAGMA schema_version").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def readable(arrays: object) -> bool:
    """Whether packed arrays can be read."""
    try:
        return isinstance(arrays, bytes) and unpack(arrays) is not None
    except UserError:
        return False


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the schema of a file that is ours; 0 of one with nothing in it, as a kill at its making leaves."""
    [mark], [version] = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
    if mark == version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return 0
    if mark != APPLICATION:
        raise UserError(f"{path} is not a store of ucls: give another --store; the file is left as it is")
    if version > len(schema.MIGRATIONS):
        raise UserError(f"{path} was written by a newer ucls (schema {version}): update ucls to read it")
    if version < 1:
        raise sqlite3.DatabaseError(f"schema {version}")
    return version


def _refuse_damaged(db: sqlite3.Connection, path: Path) -> None:
    """Writing into a file whose pages do not fit together could destroy what is sound in it."""
    [verdict] = db.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(str(verdict).splitlines()[-1])


def _migrate(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(schema.MIGRATIONS)):
        script = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {number + 1}; COMMIT;"
        db.executescript(f"BEGIN IMMEDIATE; {schema.MIGRATIONS[number]} {script}")


def _explained(error: sqlite3.Error, path: Path) -> str:
    """What an error of SQLite means to the one who gave the file."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is locked by another program: close that, or give another --store"
        case sqlite3.SQLITE_FULL:
            return f"{path} cannot grow, the disk is full: make room"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"{path} cannot be opened to write, it or its folder is read-only: give another --store"
        case sqlite3.SQLITE_IOERR:
            return f"{path} cannot be read or written, the disk fails or is full: {error}"
        case _:
            reason = " ".join(str(error).split())[:200]
            return f"{path} cannot be read as a store, it is damaged or foreign: {reason} (try `ucls study rescue`)"
