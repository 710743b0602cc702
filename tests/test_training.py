"""`ucls train` keeps what it did: over legs, through signals, kills and full disks, and never over others' files."""

import dataclasses
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ucls as package
from support.commands import RIVER, ucls, ucls_process
from support.params import always
from ucls._util import files as _files
from ucls.core.saving import checkpoint
from ucls.errors import Terminated, UserError
from ucls.train import run_folder
from ucls.train import train as training
from ucls.train.train import Order

HERE = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
SHORT = Order(RIVER, "sarsa", 60, 0, {}, None, "float64", None)
TINY = ("--algo", "sarsa", "--set", "tilings=2", "--set", "tiles=4", "--set", "table_size=16")


def train(out, steps, *more):
    """A short run of Sarsa; a resumed one keeps its settings."""
    words = ("--algo", "sarsa") if "--resume" in more else TINY
    return json.loads(ucls("train", RIVER, "--steps", steps, *words, "--out", out, *more, "--json").stdout)


def content(folder):
    with np.load(folder / "history.npz") as file:
        return file["rewards"].tolist(), file["ends"].tolist(), (folder / "agent.safetensors").read_bytes()


def start(folder, *words):
    """Start a long run as a process."""
    command = [sys.executable, "-m", "ucls", "train", RIVER, "--steps", "900000000", *TINY, *map(str, words)]
    return subprocess.Popen(command, cwd=folder, env=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(file, process):
    """Wait until a run has written its first checkpoint."""
    deadline = time.monotonic() + 240
    while not file.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)


def test_legs_in_one_folder_are_one_run(tmp_path):
    whole = train(tmp_path / "whole", 700)
    train(tmp_path / "legs", 400)
    legs = train(tmp_path / "legs", 300, "--resume", tmp_path / "legs")
    assert content(tmp_path / "whole") == content(tmp_path / "legs")
    own = ("out", "new_steps", "steps_per_second")
    assert {k: v for k, v in whole.items() if k not in own} == {k: v for k, v in legs.items() if k not in own}
    assert (legs["steps"], legs["new_steps"]) == (700, 300)
    assert json.loads((tmp_path / "legs" / "result.json").read_text()) == legs


def test_the_summary_of_a_run_from_a_file_without_a_history_covers_the_new_steps(tmp_path):
    train(tmp_path / "run", 40)
    file = tmp_path / "run" / "agent.safetensors"
    about, arrays = checkpoint.load(file)
    checkpoint.save(file, about, {name: array for name, array in arrays.items() if not name.startswith("history")})
    assert train(tmp_path / "run", 10, "--resume", tmp_path / "run")["steps"] == 10
    assert checkpoint.load(file)[0]["steps"] == 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_run_and_says_how_to_resume(tmp_path, number):
    process = start(tmp_path, "--out", "my run", "--checkpoint-interval", "0.12")
    file = tmp_path / "my run" / "agent.safetensors"
    wait_for(file, process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    first, line = errors.strip().splitlines()[-2:]
    assert first == "ucls: saving the run; press Ctrl-C twice more to quit without saving"
    words = shlex.split(line.partition("resume with: ")[2])
    assert words[:2] == ["ucls", "train"]
    about, arrays = checkpoint.load(file)
    assert int(words[words.index("--steps") + 1]) == 900_000_000 - about["steps"]
    assert (
        len(arrays["history.rewards"])
        == about["steps"]
        == json.loads((file.parent / "result.json").read_text())["steps"]
    )
    words[words.index("--steps") + 1] = "5"
    done = subprocess.run(
        [sys.executable, "-m", "ucls", *words[1:], "--json"], cwd=tmp_path, capture_output=True, check=True, env=HERE
    )
    assert json.loads(done.stdout)["steps"] == about["steps"] + 5


def test_a_stop_without_a_folder_says_that_nothing_was_kept(monkeypatch):
    def interrupt(*_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(training._Checkpoints, "keep_in_time", interrupt)
    result = ucls("train", RIVER, *TINY, "--steps", 500)
    assert result.exit_code == 130
    assert "stopped after 1 of 500 steps; nothing was saved: use --out DIR" in result.stderr


def test_the_save_finishes_unless_a_third_signal_comes(tmp_path, monkeypatch):
    save = checkpoint.save

    def interrupted(signals):
        def during(*words):
            monkeypatch.setattr(checkpoint, "save", save)
            for number in signals:
                signal.raise_signal(number)
            return save(*words)

        monkeypatch.setattr(checkpoint, "save", during)

    interrupted([signal.SIGINT, signal.SIGTERM])
    result = ucls("train", RIVER, *TINY, "--steps", 500, "--out", tmp_path / "two")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-3:-1] == [
        "ucls: saving the run; press Ctrl-C twice more to quit without saving",
        "ucls: still saving the run; press Ctrl-C again to quit without saving",
    ]
    assert checkpoint.load(tmp_path / "two" / "agent.safetensors")[0]["steps"] == 500
    interrupted([signal.SIGINT, signal.SIGINT, signal.SIGINT])
    said = []
    with pytest.raises(KeyboardInterrupt):
        training.train(SHORT, tmp_path / "three", say=said.append)
    assert said == ["quit without saving: all 60 steps are lost"]
    assert not (tmp_path / "three").exists()


def test_a_signal_in_the_first_step_ends_at_once_and_leaves_no_folder(tmp_path, monkeypatch):
    advance = training.Run.advance

    def interrupted(*words):
        signal.raise_signal(signal.SIGTERM)
        return advance(*words)

    monkeypatch.setattr(training.Run, "advance", interrupted)
    with pytest.raises(Terminated):
        training.train(SHORT, tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", always(("typer", "numba"), ("typer", "ucls.cli.train", "ucls.train.train", "numba")))
def test_a_signal_while_the_program_starts_is_no_traceback(tmp_path, number, module):
    """What is imported early and late raises the signal when it is looked for."""
    code = f"""
import signal, sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            signal.raise_signal({int(number)})
sys.meta_path.insert(0, Finder())
sys.argv = ["ucls", "train", {RIVER!r}, "--out", "run"]
from ucls.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=HERE, capture_output=True, check=False)
    early = number == signal.SIGTERM and module in ("typer", "ucls.cli.train")  # the system ends it
    assert done.returncode == (-number if early else 128 + number)
    assert done.stderr in (b"", b"ucls: stopped\n")
    assert not (tmp_path / "run").exists()


def test_two_runs_never_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with run_folder.lock_folder(tmp_path / "run"):
        for name in ("run", "./run", "link"):
            with pytest.raises(UserError, match="another `ucls train` is running with --out"):
                train(Path(name), 10)
    assert not (tmp_path / "run").exists()
    train(tmp_path / "run", 10)
    assert not (tmp_path / "run" / ".lock").exists()


def test_a_folder_that_vanishes_is_one_line(tmp_path, monkeypatch):
    """So it is where the working directory was removed."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UserError, match="--out 'run' cannot be used"), run_folder.lock_folder(Path("run")):
        pass


@pytest.mark.parametrize(("minutes", "saves"), [(4.0, [1, 2, 3]), (2.0, [2, 4, 6]), (1.0, [4, 8]), (9.0, [1, 2])])
def test_a_kill_costs_no_more_than_the_minutes_between_checkpoints_or_one_step(tmp_path, monkeypatch, minutes, saves):
    now, steps, saved = [0.0], [0], []
    monkeypatch.setattr(training.time, "monotonic", lambda: now[0])
    record = training._Checkpoints(training.begin(SHORT, None), tmp_path, 300.0, print, {})
    monkeypatch.setattr(record, "save", lambda _: saved.append(steps[0]))
    while steps[0] < saves[-1]:
        now[0] += 60 * minutes
        steps[0] += 1
        record.keep_in_time()
    assert saved == saves


def test_a_kill_costs_what_was_done_since_the_last_checkpoint(tmp_path):
    process = start(tmp_path, "--out", tmp_path / "killed", "--checkpoint-interval", "0.06")
    file = tmp_path / "killed" / "agent.safetensors"
    wait_for(file, process)
    time.sleep(0.5)
    process.kill()
    process.communicate()
    about, arrays = checkpoint.load(file)
    assert len(arrays["history.rewards"]) == about["steps"] > 0
    train(tmp_path / "killed", 60, "--resume", tmp_path / "killed")
    train(tmp_path / "whole", about["steps"] + 60)
    assert content(tmp_path / "whole") == content(tmp_path / "killed")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda out: out.write_text("mine"), "is a file: give a folder"),
        (lambda out: out.mkdir() or (out / "result.json").write_text("mine"), "already contains result.json"),
        (lambda out: out.mkdir() or (out / "history.npz").write_text("mine"), "already contains history.npz"),
        (lambda out: out.mkdir() or (out / "agent.safetensors").write_text("mine"), "already contains a run"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused_before_the_run(tmp_path, monkeypatch, make, message):
    out = tmp_path / "out"
    make(out)
    monkeypatch.setattr(training, "_advance", None)
    with pytest.raises(UserError, match=message):
        train(out, 10)


@pytest.mark.parametrize("out", ["", " ", "a" * 300, "/dev/null/x", "/proc/nowhere", "a\0b"])
def test_a_path_that_cannot_be_is_one_line(out, monkeypatch):
    monkeypatch.setattr(training, "_advance", None)
    with pytest.raises(UserError, match="--out") as error:
        train(out, 10)
    assert "\n" not in str(error.value)


def test_a_strange_file_in_the_folder_of_a_run_is_not_overwritten(tmp_path):
    train(tmp_path / "run", 20)
    (tmp_path / "run" / "result.json").write_text("my notes")
    with pytest.raises(UserError, match=r"result.json was not written by ucls"):
        train(tmp_path / "run", 20, "--resume", tmp_path / "run")
    assert (tmp_path / "run" / "result.json").read_text() == "my notes"


def test_a_full_disk_leaves_the_last_checkpoint_and_one_line(tmp_path, monkeypatch):
    said = []
    train(tmp_path / "run", 20)
    before = content(tmp_path / "run")
    replace = Path.replace

    def full(path, target):
        if Path(target).name == "agent.safetensors":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return replace(path, target)

    monkeypatch.setattr(_files.Path, "replace", full)
    lost = r"agent.safetensors cannot be written: No space left on device; the steps after 20 are lost; the checkpoint"
    with pytest.raises(OSError, match=lost):
        training.train(SHORT, tmp_path / "run", tmp_path / "run", checkpoint_interval=1e-9, say=said.append)
    file = tmp_path / "run" / "agent.safetensors"
    assert set(said) == {f"checkpoint failed: {file} cannot be written: No space left on device; the run continues"}
    assert content(tmp_path / "run") == before
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "agent.card.md",
        "agent.safetensors",
        "history.npz",
        "result.json",
    ]


@pytest.mark.parametrize("file", ["agent.safetensors", "history.npz", "result.json"])
def test_without_room_for_a_file_the_run_is_saved_elsewhere_or_complete(tmp_path, monkeypatch, file):
    home, out, replace = tmp_path / "home", tmp_path / "run", Path.replace
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))

    def full(path, target):
        if Path(target) == out / file:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return replace(path, target)

    monkeypatch.setattr(_files.Path, "replace", full)
    with pytest.raises(OSError, match="No space left") as error:
        training.train(SHORT, out)
    assert str(error.value).startswith(f"{out / file} cannot be written: ")
    saved = out
    if file == "agent.safetensors":
        [saved] = home.iterdir()
        assert f"the run is saved in {saved} instead; to resume, free some space and use --resume {saved}" in str(
            error.value
        )
    else:
        assert "nothing else is lost" in str(error.value)
        assert not list(home.iterdir())
    monkeypatch.undo()
    resumed = training.train(dataclasses.replace(SHORT, steps=10), tmp_path / "more", saved)
    assert resumed["steps"] == 70


def test_a_run_that_nobody_would_take_back_is_not_saved_but_recorded(tmp_path, monkeypatch):
    def unsound(_):
        raise UserError("'state.w' must be finite")

    monkeypatch.setattr("ucls.core.learner.Learner.refuse_unsound", unsound)
    with pytest.raises(UserError, match=r"'state\.w' must be finite"):
        training.train(SHORT, tmp_path / "run", checkpoint_interval=1e-9)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["history.npz"]


@pytest.mark.parametrize(
    "words",
    [
        ("--steps", "0"),
        ("--steps", "-1"),
        ("--steps", "1e30"),
        ("--steps", "9" * 40),
        ("--seed", "-1"),
        ("--seed", "9" * 40),
        ("--checkpoint-interval", "-1"),
        ("--algo", ""),
        ("--algo", "."),
        ("--algo", "../x"),
        ("--algo", "a" * 300),
        ("--algo", "os"),
        ("--set", "p"),
        ("--set", "=1"),
        ("--low", "1,,2"),
        ("--high", ""),
        ("--discount", "nan"),
        ("--bogus", "1"),
    ],
)
def test_nonsense_is_one_line_and_exit_code_2(words, monkeypatch, capsys):
    from ucls import cli

    monkeypatch.setattr(sys, "argv", ["ucls", "train", RIVER, *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_resumed_run_keeps_its_seed_and_bounds(tmp_path):
    train(tmp_path / "run", 20)
    for words in (("--seed", 3), ("--dtype", "float32"), ("--low", "0")):
        with pytest.raises(UserError, match=r"a resumed run keeps|for other environments"):
            train(tmp_path / "run", 20, "--resume", tmp_path / "run", *words)


def test_a_closed_pipe_is_no_error():
    process = subprocess.run(
        f"{sys.executable} -m ucls algorithms | head -1", shell=True, capture_output=True, check=False
    )
    assert process.stderr == b""
    assert ucls_process("envs", "--bogus").returncode == 2
