"""The files of a run folder may be corrupted, or come from anybody: each is read, or refused in one line."""

import os
import tracemalloc
import zipfile

import pytest

from faults.torture import folders, workers
from ucls.callbacks import csv_log
from ucls.errors import UserError
from ucls.train import run_folder


def test_mutated_files_of_a_run_folder_are_read_or_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(workers, "ADDRESS_SPACE", 2**28)
    found = workers.run(folders.attempt, range(300))
    assert [outcome for outcome in found if not outcome.sound] == []
    assert workers.tally(found).keys() == {"fine", "refused"}


def bomb(path, size, steps):
    """A history of so many steps with this many zeros behind each array."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, dtype in (("rewards.npy", "<f8"), ("ends.npy", "|u1")):
            head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({steps},), }}".ljust(117) + "\n"
            magic = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
            file.writestr(name, magic + head.encode() + bytes(size))


def test_a_small_history_that_unpacks_to_much_takes_no_memory_when_a_run_is_resumed(tmp_path):
    bomb(tmp_path / "history.npz", 2**24, 60)
    assert (tmp_path / "history.npz").stat().st_size < 50_000
    (tmp_path / "agent.safetensors").write_bytes(b"")
    tracemalloc.start()
    run_folder.refuse_unusable(tmp_path, tmp_path / "agent.safetensors")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe\x00", b"9" * 10_000, b" " * 3_000_000 + b"{}", b"[]"])
def test_a_result_that_is_no_json_of_ours_is_one_line_and_stays(tmp_path, content):
    (tmp_path / "agent.safetensors").write_bytes(b"")
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(UserError, match=r"result.json was not written by ucls: move it, or give another --out"):
        run_folder.refuse_unusable(tmp_path, tmp_path / "agent.safetensors")
    assert (tmp_path / "result.json").read_bytes() == content


@pytest.mark.parametrize("name", ["history.npz", "result.json", "agent.card.md"])
def test_a_pipe_in_the_folder_of_a_run_is_refused_and_not_waited_for(tmp_path, name):
    (tmp_path / "agent.safetensors").write_bytes(b"")
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="was not written by ucls"):
        run_folder.refuse_unusable(tmp_path, tmp_path / "agent.safetensors")


def test_a_pipe_is_no_table_of_metrics(tmp_path):
    os.mkfifo(tmp_path / "log.csv")
    with pytest.raises(UserError, match="not a log written by CsvLog"):
        csv_log.read(tmp_path / "log.csv")
