"""The store: nothing is lost, run twice or half there, and a file of another kind stays as it is."""

import re
import signal
import sqlite3
import threading
import time

import numpy as np
import pytest

from support.commands import ucls as command
from support.studies import ABOUT, pretend, study_of
from ucls import cli
from ucls.core.history import History
from ucls.errors import UclsWarning, UserError
from ucls.study import Store, make_run_specs, run_study
from ucls.study.runners.local import local_runner
from ucls.study.storage.database import APPLICATION
from ucls.study.storage.export import export_csv, export_parquet
from ucls.study.storage.rescue import recover
from ucls.study.storage.result import summarize
from ucls.study.storage.schema import VERSION

RIVER = "ucls/RiverSwim-v0"


def test_nothing_runs_twice(tmp_path):
    cells = make_run_specs(RIVER, "sarsa", steps=10, seeds=range(6))
    ran = []
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study_of(cells[:4]), pretend(log=ran), quiet=True)
        tally = run_study(store, study_of(cells, name="larger"), pretend(log=ran), quiet=True)
        assert tally.done == 2
        assert sorted(ran) == sorted(cell.id for cell in cells)
        assert run_study(store, study_of(cells), pretend(log=ran), quiet=True).cells == 0
        assert [row.metrics.reward for row in store.rows("larger")] == [10.0 * s for s in range(6)]


def test_a_result_once_written_stays(tmp_path):
    [cell] = make_run_specs(RIVER, "sarsa", steps=10, seeds=[1])
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study_of([cell]), pretend(), quiet=True)
        other = summarize(History(np.full(10, 9.0), np.zeros(10, np.uint8)), 1)
        assert not store.finish(cell.id, other, ABOUT)
        assert store.result(cell.id).metrics.reward == 10.0


def test_failures_are_kept_with_their_traceback_and_can_be_retried(tmp_path):
    cells = make_run_specs(RIVER, "sarsa", steps=10, seeds=range(3))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        tally = run_study(store, study_of(cells), pretend(fail=lambda cell: cell.seed == 1), quiet=True)
        assert (tally.done, tally.failed) == (2, 1)
        assert [row.status for row in store.rows("s")] == ["done", "failed", "done"]
        assert store.failures("s")[0].traceback == "Traceback ..."
        assert run_study(store, study_of(cells), pretend(), quiet=True).cells == 0, "a failure is not tried by itself"
        assert store.retry("s") == 1
        assert run_study(store, study_of(cells), pretend(), quiet=True).done == 1
        assert store.failures("s") == []


def test_one_writer_at_a_time_and_readers_beside_it(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path, write=True) as store:
        run_study(store, study_of(make_run_specs(RIVER, "sarsa", steps=10, seeds=[0])), pretend(), quiet=True)
        with pytest.raises(UserError, match="is in use by another study"):
            Store(path, write=True)
        with Store(path) as reader:
            assert reader.studies()["s"].done == 1
    Store(path, write=True).close()


@pytest.mark.parametrize("write", [False, True])
def test_foreign_newer_and_corrupted_files_are_left_as_they_are(tmp_path, write):
    newer, older, foreign, text = (tmp_path / f"{name}.sqlite" for name in ("newer", "older", "foreign", "text"))
    for path, script in (
        (newer, f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION + 1};"),
        (older, f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION - 1};"),
        (foreign, "PRAGMA user_version = 3;"),
    ):
        db = sqlite3.connect(path)
        db.executescript(f"CREATE TABLE t (x); {script}")
        db.close()
    text.write_text("this is no database, but it is long enough to look at " * 40)
    with Store(tmp_path / "whole.sqlite", write=True):
        pass
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes((tmp_path / "whole.sqlite").read_bytes()[:1500])
    for path, words in (
        (newer, "newer ucls"),
        (older, "earlier ucls"),
        (foreign, "not a ucls store"),
        (text, "corrupted or not a store"),
        (cut, "corrupted or not a store"),
    ):
        before = path.read_bytes()
        with pytest.raises(UserError, match=words):
            Store(path, write=write)
        assert path.read_bytes() == before


def test_there_is_no_store_to_look_at(tmp_path):
    with pytest.raises(UserError, match="no store at"):
        Store(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_equal_results_export_equal_bytes(tmp_path):
    cells = make_run_specs(RIVER, "sarsa", steps=200, seeds=range(3))
    texts = []
    for name, order in (("a", cells), ("b", cells[::-1])):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            run_study(store, study_of(order), local_runner(1), quiet=True)
            texts.append(export_csv(store, "s", results_only=True))
            assert "seconds" in export_csv(store, "s").splitlines()[0]
    assert texts[0] == texts[1]
    assert texts[0].count("\n") == 4
    pytest.importorskip("duckdb")
    for name, text in zip("ab", texts, strict=True):
        export_parquet(text, tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
PROGRAMS = {
    "an endless view": f"ALTER TABLE study RENAME TO s; CREATE VIEW study AS {ENDLESS} SELECT 'a' name FROM n;",
    "a view beside": f"CREATE VIEW more AS {ENDLESS} SELECT i FROM n;",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON cell BEGIN DELETE FROM result; END;",
    "a generated column": "ALTER TABLE result ADD COLUMN more AS (reward + 1);",
    "an index": "CREATE INDEX i ON result (reward);",
    "a table": "CREATE TABLE more (x);",
}


def programmed(tmp_path, script):
    """A store with two results, and a script run in it."""
    path, cells = tmp_path / "s.sqlite", make_run_specs(RIVER, "sarsa", steps=10, seeds=range(2))
    with Store(path, write=True) as store:
        run_study(store, study_of(cells), pretend(), quiet=True)
    db = sqlite3.connect(path)
    db.executescript(script)
    db.close()
    return path, cells


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("script", PROGRAMS.values(), ids=PROGRAMS)
def test_a_store_with_anything_but_its_tables_is_refused(tmp_path, script, write):
    path, _ = programmed(tmp_path, script)
    with pytest.raises(
        UserError, match=r"is refused because it contains a (foreign|changed) .*: `ucls study recover NEW"
    ):
        Store(path, write=write)


def test_commands_end_at_once_on_a_store_with_an_endless_view(tmp_path):
    path, _ = programmed(tmp_path, PROGRAMS["an endless view"])
    for words in (("list",), ("status", "s"), ("run", "s"), ("compare", "s"), ("export", "s"), ("retry", "s")):
        began = time.monotonic()
        with pytest.raises(UserError, match="it contains a"):
            command("study", *words, "--store", path)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("write", [False, True])
def test_nothing_in_the_schema_of_a_store_is_trusted(tmp_path, write):
    path, _ = programmed(tmp_path, "")
    with Store(path, write=write) as store:
        assert store._db.rows("PRAGMA trusted_schema") == [(0,)]


def test_results_are_rescued_from_a_store_with_triggers(tmp_path):
    path, cells = programmed(tmp_path, PROGRAMS["a trigger"])
    assert recover(path, tmp_path / "new.sqlite") == (2, ("s",))
    with Store(tmp_path / "new.sqlite") as store:
        assert [store.result(cell.id).metrics.reward for cell in cells] == [0.0, 10.0]


def test_an_endless_view_is_not_read_to_rescue_anything(tmp_path):
    path, _ = programmed(tmp_path, PROGRAMS["an endless view"])
    with pytest.raises(UserError, match="its 'study' is not a plain table"):
        recover(path, tmp_path / "new.sqlite")


def test_a_store_that_was_analyzed_is_used(tmp_path):
    path, _ = programmed(tmp_path, "ANALYZE;")
    with Store(path, write=True) as store:
        assert store.studies()["s"].done == 2


def test_a_statement_ends_with_its_time(tmp_path, monkeypatch):
    path, _ = programmed(tmp_path, "")
    with Store(path) as store:
        monkeypatch.setattr("ucls.study.storage.database.BUDGET", 0.05)
        with pytest.raises(UserError, match="could not be read within"):
            store._db.rows(f"{ENDLESS} SELECT count(*) FROM n")


@pytest.mark.parametrize("where", ["the statement", "a function of ours"])
def test_a_statement_ends_with_ctrl_c(tmp_path, where):
    path, _ = programmed(tmp_path, "")
    sql = f"{ENDLESS} SELECT count({'i' if where == 'the statement' else 'seal(i)'}) FROM n"
    with Store(path) as store:
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            store._db.rows(sql)
        timer.join()
        assert store.studies()["s"].done == 2


def test_the_lock_belongs_to_the_file_whatever_its_name(tmp_path):
    path, cells = tmp_path / "s.sqlite", make_run_specs(RIVER, "sarsa", steps=10, seeds=[0])
    (tmp_path / "elsewhere").mkdir()
    (link := tmp_path / "elsewhere" / "link.sqlite").symlink_to(path)
    with Store(path, write=True) as store:
        run_study(store, study_of(cells), pretend(), quiet=True)
        with pytest.raises(UserError, match="is in use by another study"):
            Store(link, write=True)
        path.rename(moved := tmp_path / "moved.sqlite")
        with pytest.raises(UserError, match="is in use by another study"):
            Store(moved, write=True)
        moved.rename(path)
    with Store(link, write=True) as store:
        assert (store.path, store.partial) == (path, tmp_path / "s.sqlite.partial")
    (second := tmp_path / "second.sqlite").hardlink_to(path)
    for name in (path, second):
        with pytest.raises(UserError, match=r"has 2 names .hard links.: run the study in a copy"):
            Store(name, write=True)
    with Store(second) as store:
        assert store.studies()["s"].done == 1


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_export_overwrites_nothing_but_an_earlier_export(tmp_path, format):
    path, _ = programmed(tmp_path, "")
    out = tmp_path / f"table.{format}"
    words = ("study", "export", "s", "--store", path, "--format", format, "--out", out)
    command(*words)
    first = out.read_bytes()
    command(*words)
    assert out.read_bytes() == first
    out.write_text("id,label\n1,mine\n")
    with pytest.raises(UserError, match="is not an exported study: give another --out"):
        command(*words)
    assert out.read_text() == "id,label\n1,mine\n"
    store = path.read_bytes()
    with pytest.raises(UserError, match="not an export"):
        command(*words[:-1], path)
    assert path.read_bytes() == store
    with pytest.raises(UserError, match="/dev/null is not a file"):
        command(*words[:-1], "/dev/null")


HOSTILE = "\x1b[2Jred\r\nline [bold]\u202e"


@pytest.mark.parametrize("words", ["list", "status --tracebacks", "show", "compare", "export"])
def test_escapes_and_line_breaks_out_of_a_store_are_shown_escaped(tmp_path, words, monkeypatch):
    path, cells = tmp_path / "s.sqlite", make_run_specs(RIVER, "sarsa", steps=10, seeds=range(2))
    name, study = HOSTILE, study_of(cells, HOSTILE, HOSTILE)
    with Store(path, write=True) as store:
        run_study(store, study, pretend(fail=lambda cell: cell.seed == 1), quiet=True)
        store.fail(cells[1].id, f"ValueError: {HOSTILE}", f"Traceback\n{HOSTILE}")
    monkeypatch.setattr("ucls.cli.study._is_terminal", lambda: True)
    first, *rest = words.split()
    said = command("study", first, *([] if first == "list" else [name]), *rest, "--store", path).output
    plain = re.sub(r"\x1b\[\d*(;\d+)*m", "", said)  # what rich itself writes
    assert "\\x1b[2Jred" in plain
    assert [letter for letter in plain if not letter.isprintable() and letter != "\n"] == []


def test_escapes_in_errors_and_notices_are_shown_escaped(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ucls", "study", "list", "--store", f"no{HOSTILE}.sqlite"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "no\\x1b[2Jred line [bold]\\u202e.sqlite" in capsys.readouterr().err
    assert cli._in_one_line(UclsWarning(HOSTILE), UclsWarning, "", 0).count("\n") == 1
