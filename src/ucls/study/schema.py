"""The file behind a store: its schema, its migrations, and who may write it. The one door to sqlite3."""

import fcntl
import os
import sqlite3
from pathlib import Path

from ucls.errors import UserError

APPLICATION = 0x55434C53  # "UCLS": SQLite's mark of whose file it is

# The schema, step by step: a store of version n is brought to the newest by the steps after n. A step never changes:
# a new measure is a new step.
MIGRATIONS = (
    """
    CREATE TABLE study (name TEXT PRIMARY KEY, definition TEXT NOT NULL, baseline TEXT, measure TEXT) WITHOUT ROWID;
    CREATE TABLE cell (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, env TEXT NOT NULL,
        steps INTEGER NOT NULL, seed INTEGER NOT NULL, content TEXT NOT NULL);
    CREATE TABLE member (
        study TEXT NOT NULL, place INTEGER NOT NULL, cell INTEGER NOT NULL REFERENCES cell, label TEXT NOT NULL,
        PRIMARY KEY (study, place)) WITHOUT ROWID;
    CREATE TABLE result (
        cell INTEGER PRIMARY KEY REFERENCES cell, steps INTEGER NOT NULL, diverged INTEGER NOT NULL,
        reward REAL, last_reward REAL, episodes REAL, mean_return REAL, last_return REAL, last_steps REAL,
        best_steps REAL);
    CREATE TABLE circumstance (
        cell INTEGER PRIMARY KEY REFERENCES cell, seconds REAL, speed REAL, machine TEXT, versions TEXT, finished TEXT);
    CREATE TABLE payload (cell INTEGER PRIMARY KEY REFERENCES cell, arrays BLOB NOT NULL, learner BLOB);
    CREATE TABLE failure (
        cell INTEGER PRIMARY KEY REFERENCES cell, attempts INTEGER NOT NULL, error TEXT NOT NULL, traceback TEXT);
    CREATE TABLE choice (
        study TEXT NOT NULL, label TEXT NOT NULL, env TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (study, label, env)) WITHOUT ROWID;
    """,
)


def take_lock(path: Path) -> int:
    """Become the one writer; the system gives the place back when the process ends, however it ends."""
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise UserError(f"another process is running a study in {path}: wait for it, or give another --store") from None
    return lock


def open_database(path: Path, write: bool) -> sqlite3.Connection:
    """Open the file if it is ours, with the newest schema; never rewrite one that is not."""
    fresh = not path.exists() or path.stat().st_size == 0
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        if not fresh:
            _check(db, path)
        if write:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            _migrate(db)
        return db
    except sqlite3.DatabaseError as error:
        db.close()
        raise UserError(f"{path} cannot be read as a store, it is damaged or foreign: {error}") from None
    except BaseException:
        db.close()
        raise


def _check(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise UserError(f"{path} is not a store of ucls: give another --store; the file is left as it is")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise UserError(f"{path} was written by a newer ucls (schema {version}): update ucls to read it")


def _migrate(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(MIGRATIONS)):
        script = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {number + 1}; COMMIT;"
        db.executescript(f"BEGIN; {MIGRATIONS[number]} {script}")
