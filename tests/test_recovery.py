"""Whatever is corrupted, full, locked or killed: one line says so, and no result is lost or different in silence."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Event

import numpy as np
import pytest

import ucls
from faults.torture import programs, stores
from support.commands import ucls as command
from support.studies import pretend, study_of
from ucls._util import files as _files
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.study import Store, make_run_specs, run_study
from ucls.study.runners.base import outcome_of
from ucls.study.runners.cores import _quota, cores
from ucls.study.runners.local import run_local
from ucls.study.runners.outcome_file import outcome_file, read_outcome, write_outcome
from ucls.study.runners.run_cell import run_cell
from ucls.study.storage.database import PAGE
from ucls.study.storage.partial import Checkpoints, partial_file
from ucls.study.storage.rescue import recover
from ucls.study.storage.result import pack

RIVER = "ucls/RiverSwim-v0"
SMALL = {"tilings": 2, "tiles": 2, "table_size": 4}


def cells_of(n, steps=10):
    return make_run_specs(RIVER, "sarsa", steps=steps, seeds=range(n), settings=SMALL)


def sqlite(path, sql, *values):
    """Change a file behind the store's back, or ask it for a row."""
    db = sqlite3.connect(path)
    row = db.execute(sql, values).fetchone()
    db.commit()
    db.close()
    return row


@pytest.fixture
def full(tmp_path):
    """A store with six results."""
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study_of(cells_of(6)), pretend(), quiet=True)
    return tmp_path / "s.sqlite"


# Damaged results


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("UPDATE result SET reward = reward + 1 WHERE cell = 3", ()),
        ("UPDATE result SET diverged = 1 WHERE cell = 3", ()),
        ("UPDATE result SET seal = NULL WHERE cell = 3", ()),
        ("UPDATE payload SET arrays = (SELECT arrays FROM payload WHERE cell = 4) WHERE cell = 3", ()),
        ("UPDATE payload SET learner = ? WHERE cell = 3", (b"learner",)),
        ("UPDATE circumstance SET machine = ? WHERE cell = 3", (b"\xff",)),
        ("DELETE FROM payload WHERE cell = 3", ()),
        ("DELETE FROM circumstance WHERE cell = 3", ()),
    ],
)
def test_a_corrupted_result_is_said_to_be_corrupted_and_made_again(full, sql, values):
    id = cells_of(6)[2].id
    with Store(full) as store:
        want = store.result(id)
    sqlite(full, sql, *values)
    with Store(full) as store:
        assert [row.status for row in store.rows("s")].count("corrupted") == 1
        assert store.result(id) is None
        assert id not in store.digests("s")
        assert store.studies()["s"].done == 5
    ran = []
    with Store(full, write=True) as store:
        run_study(store, study_of(cells_of(6)), pretend(log=ran), quiet=True)
        assert ran == [id]
        assert store.result(id).metrics == want.metrics
        assert pack(store.result(id).arrays) == pack(want.arrays)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE member SET label = 'b' WHERE place = 2",
        "UPDATE member SET cell = 1 WHERE place = 2",
        "DELETE FROM member WHERE place = 5",
        "UPDATE cell SET content = replace(content, '10', '11') WHERE number = 2",
        "UPDATE study SET definition = 'another'",
        "DELETE FROM cell WHERE number = 2",
    ],
)
def test_a_corrupted_study_is_refused_until_it_is_declared_again(full, sql):
    sqlite(full, sql)
    with Store(full) as store, pytest.raises(UserError, match="run it again from its file, which restores it"):
        store.rows("s")
    with Store(full, write=True) as store:
        run_study(store, study_of(cells_of(6)), pretend(), quiet=True)
        assert [row.metrics.reward for row in store.rows("s")] == [10.0 * seed for seed in range(6)]


def test_a_file_with_broken_pages_is_refused_and_what_is_sound_is_rescued(full, tmp_path):
    content = bytearray(full.read_bytes())
    [root] = sqlite(full, "SELECT rootpage FROM sqlite_master WHERE name = 'failure'")
    content[(root - 1) * PAGE : root * PAGE] = b"\xff" * PAGE
    full.write_bytes(content)
    with pytest.raises(UserError, match=r"is corrupted or not a store: .* \(try `ucls study recover`\)"):
        Store(full, write=True)
    with Store(full) as store, pytest.raises(UserError, match="corrupted"):
        store.rows("s")
    assert full.read_bytes() == content
    assert recover(full, tmp_path / "new.sqlite") == (6, ("s",))
    with pytest.raises(UserError, match="already exists"):
        recover(full, tmp_path / "new.sqlite")
    with Store(tmp_path / "new.sqlite") as store:
        assert [row.metrics.reward for row in store.rows("s")] == [10.0 * seed for seed in range(6)]


def test_an_index_that_names_another_cell_is_not_believed(full):
    ids, content = [cell.id for cell in cells_of(6)], bytearray(full.read_bytes())
    [root] = sqlite(full, "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_cell%'")
    page = content[(root - 1) * PAGE : root * PAGE]
    place = page.index(ids[2].encode()) + len(ids[2])  # where its number follows
    content[(root - 1) * PAGE + place] = 5
    full.write_bytes(content)
    assert sqlite(full, "SELECT number FROM cell WHERE id = ?", ids[2]) == (5,)
    with Store(full) as store:
        assert store.result(ids[2]).metrics.reward == 20.0


def test_the_command_line_says_what_is_corrupted_and_rescues(full, tmp_path):
    sqlite(full, "UPDATE result SET reward = 1 WHERE cell = 3")
    text = command("study", "status", "s", "--store", full).stdout
    assert "s: 6 runs: 5 done, 1 corrupted" in text
    assert "corrupted results are not used: `ucls study run` runs them again" in text
    assert '"corrupted": 1' in command("study", "compare", "s", "--store", full, "--json").stdout
    assert "recovered 5 results from" in command("study", "recover", tmp_path / "n.sqlite", "--store", full).stdout
    for words in (("status", "s" * 400), ("export", "s", "--out", tmp_path)):
        with pytest.raises(UserError):
            command("study", *words, "--store", full)


def test_corrupted_files_give_what_they_held_or_say_that_it_is_missing():
    found = [stores.attempt(seed) for seed in range(60)]
    assert set(found) == {"fine", "refused"}


def test_stores_with_programs_are_refused_and_rescued():
    assert Counter(programs.attempt(seed) for seed in range(40))["refused"] > 20


@pytest.mark.parametrize(("part", "ends"), [("concurrent", {"fine"}), ("impatience", {"fine", "failed"})])
def test_processes_at_once_and_signals_at_any_moment_lose_nothing(part, ends):
    code = (
        "import json\nfrom faults.torture import workers\n"
        f"from faults.torture.{part} import attempt\n"
        "print(json.dumps(workers.run(attempt, range(24), 60.0)))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert {end for _, end, _ in found} == ends, [each for each in found if each[1] not in ends]


# Unfinished cells


def keep_unfinished(cell, folder):
    asked = iter([False, False, True])
    assert run_cell(cell, Checkpoints(folder), lambda: next(asked)) is None
    return partial_file(folder, cell.id)


def change_steps(about, arrays):
    about["steps"] = 10**9


def cut_history(about, arrays):
    arrays["history.rewards"] = arrays["history.rewards"][:-1]


def cut_both(about, arrays):
    arrays["history.rewards"], arrays["history.ends"] = arrays["history.rewards"][:-1], arrays["history.ends"][:-1]
    about["steps"] -= 1


def lose_world(about, arrays):
    del arrays["world.s"]


def lose_seal(about, arrays):
    del about["seal"]


def change_numerics(about, arrays):
    about["numerics"] += 1


def change_reward(about, arrays):
    arrays["history.rewards"] = arrays["history.rewards"] + 1.0


@pytest.mark.parametrize(
    "change", [change_steps, cut_history, cut_both, lose_world, lose_seal, change_numerics, change_reward]
)
def test_a_partial_cell_that_does_not_verify_starts_again(tmp_path, change):
    [cell] = cells_of(1, 70)
    path = keep_unfinished(cell, tmp_path)
    about, arrays = checkpoint.load(path)
    change(about, arrays)
    path.write_bytes(checkpoint.to_bytes(arrays, about))
    done, whole = run_cell(cell, Checkpoints(tmp_path)), run_cell(cell)
    assert "restarted from the beginning, its checkpoint is invalid" in done.note
    assert done.result.metrics == whole.result.metrics
    assert pack(done.result.arrays) == pack(whole.result.arrays)
    assert not path.exists()


def test_every_flipped_byte_of_a_partial_cell_is_noticed_or_means_nothing(tmp_path):
    [cell] = cells_of(1, 70)
    path = keep_unfinished(cell, tmp_path)
    kept, want = path.read_bytes(), run_cell(cell).result
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(kept), 60):
        content = bytearray(kept)
        content[place] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        found = run_cell(cell, Checkpoints(tmp_path)).result
        assert (found.metrics, pack(found.arrays)) == (want.metrics, pack(want.arrays))


def test_a_full_disk_costs_the_checkpoint_and_not_the_run(tmp_path, monkeypatch):
    [cell] = cells_of(1, 70)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ucls.core.saving.checkpoint.save", full)
    done = run_cell(cell, Checkpoints(tmp_path, -1.0))
    assert done.note == "its checkpoint could not be saved: No space left on device"


def test_a_learner_that_nobody_would_take_back_is_not_kept_and_the_run_goes_on(tmp_path, monkeypatch):
    [cell] = make_run_specs(RIVER, "sarsa", steps=70, seeds=[0], settings=SMALL, keep=True)
    want = run_cell(cell).result
    monkeypatch.setattr("ucls.core.learner.Learner.refuse_unsound", unsound)
    done = run_cell(cell, Checkpoints(tmp_path, -1.0))
    assert done.note == "its learner was not saved: 'state.w' must be finite"
    assert (done.result.metrics, done.result.learner) == (want.metrics, None)
    assert want.learner is not None
    assert list(tmp_path.iterdir()) == []


def unsound(_):
    raise UserError("'state.w' must be finite")


def test_an_outcome_file_with_a_changed_number_is_refused(tmp_path):
    [cell] = cells_of(1)
    write_outcome(tmp_path, outcome_of(cell, Checkpoints()))
    path = outcome_file(tmp_path, cell.id)
    assert read_outcome(path).result is not None
    about, arrays = checkpoint.load(path)
    about["metrics"][0] += 1
    path.write_bytes(checkpoint.to_bytes(arrays, about))
    with pytest.raises(UserError, match="checksum does not match"):
        read_outcome(path)


# Files that are no stores


@pytest.mark.parametrize("length", [0, 4096])
def test_a_store_cut_short_at_its_making_is_made_again(tmp_path, length):
    path = tmp_path / "s.sqlite"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(UserError, match="is an empty store"):
        Store(path)
    with Store(path, write=True) as store:
        assert run_study(store, study_of(cells_of(2)), pretend(), quiet=True).done == 2


@pytest.mark.parametrize("write", [False, True])
def test_what_is_no_file_is_refused_at_once(tmp_path, write):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/null"), Path("/dev/full"), tmp_path / ("a" * 300)):
        with pytest.raises(UserError) as caught:
            Store(path, write=write)
        assert "\n" not in str(caught.value)
    (tmp_path / "file").write_text("text")
    with pytest.raises(UserError, match=r"cannot open a store|there is no store|cannot write a store"):
        Store(tmp_path / "file" / "s.sqlite", write=write)
    assert not Path("/dev/null.lock").exists()


def test_a_locked_store_is_said_to_be_locked_and_by_whom(full, monkeypatch):
    monkeypatch.setattr("ucls.study.storage.database.LOCKED_SECONDS", 0.1)
    with (
        Store(full, write=True),
        pytest.raises(UserError, match=rf"is in use by another study \(process {os.getpid()}\): wait until it ends"),
    ):
        Store(full, write=True)
    db = sqlite3.connect(full, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UserError, match="is locked by another program"):
        Store(full)
    db.close()


def test_a_lock_file_that_cannot_be_locked_is_one_line(full, monkeypatch):
    monkeypatch.setattr(_files, "fcntl", None)  # as on a system without it
    with pytest.raises(UserError, match=r"cannot write a store at .*: No locks available"):
        Store(full, write=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_read_and_not_written(full):
    full.parent.chmod(0o500)
    try:
        with Store(full) as store:
            assert len(store.rows("s")) == 6
        with pytest.raises(UserError, match="cannot write a store"):
            Store(full.with_name("new.sqlite"), write=True)
    finally:
        full.parent.chmod(0o700)


def test_a_full_disk_in_mid_study_keeps_what_was_finished(full):
    with Store(full, write=True) as store:
        pages = store._db.rows("PRAGMA page_count")[0][0]
        stopped = []

        def runner(cells, checkpoints, stop):
            store._db.rows(f"PRAGMA max_page_count = {pages + 1}")
            for outcome in pretend()(cells, checkpoints, stop):
                big = {"noise": np.random.default_rng(0).random(2000)}
                yield outcome._replace(result=outcome.result._replace(arrays=big))
                stopped.append(stop.is_set())
                if stop.is_set():
                    return

        with pytest.raises(UserError, match=r"disk is full: free some space; 1 of 4 runs are finished and saved; the"):
            run_study(store, study_of(cells_of(10)), runner, quiet=True)
        assert stopped == [False, True]
    with Store(full, write=True) as store:
        assert [row.status for row in store.rows("s")] == ["done"] * 7 + ["waiting"] * 3
        assert run_study(store, study_of(cells_of(10)), pretend(), quiet=True).done == 3


# Workers that die


def test_a_cell_without_memory_is_tried_again_then_reported_and_the_others_go_on(tmp_path, monkeypatch):
    text = f"""from pathlib import Path
from ucls.algorithms.sarsa import *
from ucls.algorithms import sarsa

def init(hyper, *rest):
    if hyper.alpha == 0.5:
        with Path({str(tmp_path / "log")!r}).open("a") as log:
            log.write("x")
        raise MemoryError("Unable to allocate 8 TiB")
    return sarsa.init(hyper, *rest)
"""
    (tmp_path / "hungry.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(ucls.__file__).parents[1]))
    cells = [
        make_run_specs(RIVER, "hungry", steps=20, seeds=[0], settings={**SMALL, "alpha": alpha})[0]
        for alpha in (0.5, 0.1)
    ]
    found = {outcome.id: outcome for outcome in run_local(cells, Checkpoints(), Event(), jobs=1)}
    bad, good = (found[cell.id] for cell in cells)
    assert (bad.error, bad.attempts) == ("MemoryError: Unable to allocate 8 TiB (4 times)", 4)
    assert (tmp_path / "log").read_text() == "xxxx"
    assert good.result is not None


STUDY = """name = "long"
steps = 3000000
seeds = "0-1"
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
set = { tilings = 2, tiles = 2, table_size = 4 }
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_keeps_every_unfinished_cell(tmp_path, number):
    (tmp_path / "long.toml").write_text(STUDY)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(ucls.__file__).parents[1])}
    words = [
        "study",
        "run",
        "long.toml",
        "--store",
        "s.sqlite",
        "--checkpoint-interval",
        "0.2",
        "--jobs",
        "2",
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "ucls", *words],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    folder, deadline = tmp_path / "s.sqlite.partial", time.monotonic() + 120
    while len(list(folder.glob("[!.]*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["stopped"]
    assert len(list(folder.glob("[!.]*.safetensors"))) == 2
    with Store(tmp_path / "s.sqlite") as store:
        assert [row.status for row in store.rows("long")] == ["waiting"] * 2
        for cell in (cell for _, cell in store.members("long")):
            about, _ = checkpoint.load(partial_file(folder, cell.id))
            assert 0 < about["steps"] < cell.steps


# Cores


def test_cores_are_those_that_this_process_may_use(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 5, 6})
    monkeypatch.setattr("ucls.study.runners.cores.CGROUPS", tmp_path)
    assert cores() == 3
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert (cores(), _quota(tmp_path)) == (2, 2)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cores() == 3
