"""Stores that contain programs (views, triggers, computed columns): refused at once, and their results recovered."""

import random
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from faults.torture import stores
from ucls.errors import UserError
from ucls.study import Store

TABLES = ("study", "cell", "member", "result", "circumstance", "payload", "choice", "failure")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"
NAMES = ("t", "cell2", "sqlite", "a b", "x\x1b[2J", "two\nlines", 'a"b', "ä" * 300)
EXPRESSIONS = ("1", "seal(1)", "hex(zeroblob(1000000))", "random()", "(SELECT 1)")


def attempt(seed: int) -> str:
    """Put programs into a store, then read it, run it and recover it: "refused", or "fine" if SQLite took none."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        path, whole = Path(folder) / "s.sqlite", stores.whole_store()
        path.write_bytes(whole.content)
        if not sum([_put(path, rng.choice(SCRIPTS)(rng)) for _ in range(rng.choice((1, 1, 2, 5)))]):
            return "fine"
        for write in (False, True):
            try:
                Store(path, write=write).close()
            except UserError as error:
                stores.one_line(error)
            else:
                raise AssertionError(f"a store with programs was opened, write={write}")
        stores.rescuing(path, whole)
        return "refused"


def _put(path: Path, script: str) -> bool:
    """Run a script in a file; whether its schema is another now."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        try:
            before = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            db.create_function("seal", -1, lambda *_: "0", deterministic=True)
            with suppress(sqlite3.OperationalError):  # a statement that SQLite does not take
                db.executescript(script)
            return db.execute("SELECT type, name, sql FROM sqlite_master").fetchall() != before
        except sqlite3.DatabaseError:  # a schema that SQLite itself refuses from now on
            return True


def _name(rng: random.Random) -> str:
    return '"' + rng.choice(NAMES).replace('"', '""') + str(rng.randrange(1000)) + '"'


def _view(rng: random.Random) -> str:
    query = rng.choice((ENDLESS, "SELECT 1", f"SELECT * FROM {rng.choice(TABLES)}", "SELECT load_extension('x')"))
    return f"CREATE VIEW {_name(rng)} AS {query};"


def _view_in_place(rng: random.Random) -> str:
    """A view in the place of a table, endless or with the table's rows."""
    table = rng.choice(TABLES)
    query = rng.choice((ENDLESS, f"SELECT * FROM {table}_", f"SELECT a.* FROM {table}_ a, ({ENDLESS})"))
    return f"ALTER TABLE {table} RENAME TO {table}_; CREATE VIEW {table} AS {query};"


def _trigger(rng: random.Random) -> str:
    table, event = rng.choice(TABLES), rng.choice(("INSERT", "UPDATE", "DELETE"))
    action = rng.choice(
        (
            f"DELETE FROM {rng.choice(TABLES)}",
            f"INSERT INTO failure SELECT 1, 1, count(*), '' FROM ({ENDLESS})",
            "UPDATE result SET reward = 1e9",
            "SELECT RAISE(IGNORE)",
        )
    )
    return f"CREATE TRIGGER {_name(rng)} {rng.choice(('BEFORE', 'AFTER'))} {event} ON {table} BEGIN {action}; END;"


def _computed(rng: random.Random) -> str:
    kind = rng.choice(("VIRTUAL", "STORED"))
    return f"ALTER TABLE {rng.choice(TABLES)} ADD COLUMN {_name(rng)} AS ({rng.choice(EXPRESSIONS)}) {kind};"


def _column(rng: random.Random) -> str:
    more = rng.choice(("", "DEFAULT 7", f"CHECK ({rng.choice(EXPRESSIONS)})", "COLLATE NOCASE"))
    return f"ALTER TABLE {rng.choice(TABLES)} ADD COLUMN {_name(rng)} {more};"


def _index(rng: random.Random) -> str:
    column = {"study": "name", "choice": "label", "cell": "id"}.get(table := rng.choice(TABLES), "cell")
    return f"CREATE INDEX {_name(rng)} ON {table} ({rng.choice((column, f'lower({column})', f'seal({column})'))});"


def _table(rng: random.Random) -> str:
    kind = rng.choice(("TABLE {} (x)", "VIRTUAL TABLE {} USING fts5(x)", "VIRTUAL TABLE {} USING rtree(a, b, c)"))
    return f"CREATE {kind.format(_name(rng))};"


def _schema(rng: random.Random) -> str:
    """A schema edited by hand, as no statement would write it."""
    table = rng.choice(TABLES)
    change = rng.choice(
        (
            f"UPDATE sqlite_master SET sql = 'CREATE VIEW {table} AS {ENDLESS}', type = 'view', rootpage = 0",
            f"UPDATE sqlite_master SET sql = 'CREATE VIEW {table} AS {ENDLESS}'",
            "UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'BLOB CHECK (seal(1) = 2)')",
            "UPDATE sqlite_master SET sql = replace(sql, 'REAL', 'AS (1)')",
            "UPDATE sqlite_master SET name = name || 'x'",
            "UPDATE sqlite_master SET sql = NULL",
        )
    )
    return f"PRAGMA writable_schema = ON; {change} WHERE name = '{table}'; PRAGMA writable_schema = RESET;"


SCRIPTS = (_view, _view_in_place, _trigger, _trigger, _computed, _column, _index, _table, _schema)
