"""The store: nothing is lost, run twice or half there, and a file that is not ours stays as it is."""

import sqlite3

import numpy as np
import pytest

from studies import ABOUT, pretend, study_of
from ucls.errors import UserError
from ucls.runs.history import History
from ucls.study import Store, conduct, make_cells
from ucls.study.database import APPLICATION
from ucls.study.export import export_csv, export_parquet
from ucls.study.result import summarise
from ucls.study.runners.local import local_runner
from ucls.study.schema import MIGRATIONS

RIVER = "ucls/RiverSwim-v0"


def test_nothing_runs_twice(tmp_path):
    cells = make_cells(RIVER, "sarsa", steps=10, seeds=range(6))
    ran = []
    with Store(tmp_path / "s.sqlite", write=True) as store:
        conduct(store, study_of(cells[:4]), pretend(log=ran), quiet=True)
        tally = conduct(store, study_of(cells, name="larger"), pretend(log=ran), quiet=True)
        assert tally.done == 2
        assert sorted(ran) == sorted(cell.id for cell in cells)
        assert conduct(store, study_of(cells), pretend(log=ran), quiet=True).cells == 0
        assert [row.measures.reward for row in store.rows("larger")] == [10.0 * s for s in range(6)]


def test_a_result_once_written_stays(tmp_path):
    [cell] = make_cells(RIVER, "sarsa", steps=10, seeds=[1])
    with Store(tmp_path / "s.sqlite", write=True) as store:
        conduct(store, study_of([cell]), pretend(), quiet=True)
        other = summarise(History(np.full(10, 9.0), np.zeros(10, np.uint8)), 1)
        assert not store.finish(cell.id, other, ABOUT)
        assert store.result(cell.id).measures.reward == 10.0


def test_failures_are_kept_with_their_traceback_and_can_be_retried(tmp_path):
    cells = make_cells(RIVER, "sarsa", steps=10, seeds=range(3))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        tally = conduct(store, study_of(cells), pretend(fail=lambda cell: cell.seed == 1), quiet=True)
        assert (tally.done, tally.failed) == (2, 1)
        assert [row.status for row in store.rows("s")] == ["done", "failed", "done"]
        assert store.failures("s")[0].traceback == "Traceback ..."
        assert conduct(store, study_of(cells), pretend(), quiet=True).cells == 0, "a failure is not tried by itself"
        assert store.retry("s") == 1
        assert conduct(store, study_of(cells), pretend(), quiet=True).done == 1
        assert store.failures("s") == []


def test_one_writer_at_a_time_and_readers_beside_it(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path, write=True) as store:
        conduct(store, study_of(make_cells(RIVER, "sarsa", steps=10, seeds=[0])), pretend(), quiet=True)
        with pytest.raises(UserError, match="another process is running a study"):
            Store(path, write=True)
        with Store(path) as reader:
            assert reader.studies()["s"].done == 1
    Store(path, write=True).close()


@pytest.mark.parametrize("write", [False, True])
def test_foreign_newer_and_damaged_files_are_left_as_they_are(tmp_path, write):
    newer, foreign, text = tmp_path / "newer.sqlite", tmp_path / "foreign.sqlite", tmp_path / "text.sqlite"
    for path, script in (
        (newer, f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {len(MIGRATIONS) + 1};"),
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
        (foreign, "not a store of ucls"),
        (text, "damaged or foreign"),
        (cut, "damaged or foreign"),
    ):
        before = path.read_bytes()
        with pytest.raises(UserError, match=words):
            Store(path, write=write)
        assert path.read_bytes() == before


def test_an_older_schema_is_brought_to_the_newest_with_its_results(tmp_path, monkeypatch):
    path, cells = tmp_path / "s.sqlite", make_cells(RIVER, "sarsa", steps=10, seeds=[0])
    with Store(path, write=True) as store:
        conduct(store, study_of(cells), pretend(), quiet=True)
    monkeypatch.setattr("ucls.study.schema.MIGRATIONS", (*MIGRATIONS, "ALTER TABLE study ADD COLUMN note TEXT;"))
    with Store(path, write=True) as store:
        assert store.rows("s")[0].status == "done"
        assert store._db.rows("PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]
        assert store._db.rows("SELECT note FROM study") == [(None,)]


def test_there_is_no_store_to_look_at(tmp_path):
    with pytest.raises(UserError, match="no store at"):
        Store(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_equal_results_export_equal_bytes(tmp_path):
    cells = make_cells(RIVER, "sarsa", steps=200, seeds=range(3))
    texts = []
    for name, order in (("a", cells), ("b", cells[::-1])):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            conduct(store, study_of(order), local_runner(1), quiet=True)
            texts.append(export_csv(store, "s", results_only=True))
            assert "seconds" in export_csv(store, "s").splitlines()[0]
    assert texts[0] == texts[1]
    assert texts[0].count("\n") == 4
    pytest.importorskip("duckdb")
    for name, text in zip("ab", texts, strict=True):
        export_parquet(text, tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
