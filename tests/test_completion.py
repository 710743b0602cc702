"""What a shell completes: the names that there are, found without anything that is slow to import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ucls
from support.commands import HEAVY
from ucls.algorithms import ALGORITHMS
from ucls.envs import ENVIRONMENTS
from ucls.features import FEATURES
from ucls.study import Store

ASKED = f"""
import sys
from ucls.cli import main
sys.argv = ["ucls"]
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


def completed(folder, *words, shell="bash"):
    """What a shell is told when somebody presses the key after these words; and what was imported for it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(ucls.__file__).parents[1]),
        "_UCLS_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": " ".join(["ucls", *words]),
        "COMP_CWORD": str(len(words)),
        "_TYPER_COMPLETE_ARGS": " ".join(["ucls", *words]),
    }
    command = [sys.executable, "-c", ASKED]
    told = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return told.stdout.split(), told.stderr.strip()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("train", "ucls/"), list(ENVIRONMENTS)),
        (("explain", "ucls/M"), ["ucls/MountainCar-v0"]),
        (("evaluate", "run", "--env", "ucls/D"), ["ucls/DeepSea-v0"]),
        (("train", "FrozenLake-v1", "--algo", ""), list(ALGORITHMS)),
        (("compile", "--algo", "sar"), ["sarsa"]),
        (("train", "FrozenLake-v1", "--features", "f"), ["fourier"]),
        (("check", "dgp"), ["dgpq"]),
        (("dia",), ["diagnose"]),
    ],
)
def test_names_are_completed_without_heavy_imports(tmp_path, words, names):
    assert completed(tmp_path, *words) == (names, "[]")


def test_every_kind_of_features_is_completed(tmp_path):
    assert completed(tmp_path, "compile", "--features", "")[0] == list(FEATURES)


def test_studies_are_completed_from_the_store_that_is_named_and_from_files(tmp_path):
    for store, name in (("out/studies.sqlite", "usual"), ("other.sqlite", "unusual")):
        with Store(tmp_path / store, write=True) as opened:
            opened.declare(name, [], "", None, None)
    (tmp_path / "us.toml").touch()
    (tmp_path / "used").mkdir()
    (tmp_path / "us.txt").touch()
    (tmp_path / "used" / "deep.toml").touch()
    assert completed(tmp_path, "study", "run", "us") == (["usual", "us.toml", "used/"], "['sqlite3']")
    assert completed(tmp_path, "study", "status", "--store", "other.sqlite", "u")[0][0] == "unusual"
    assert completed(tmp_path, "study", "show", "used/d")[0] == ["used/deep.toml"]


@pytest.mark.parametrize("content", [b"no store", b""])
def test_what_is_no_store_completes_nothing_and_says_nothing(tmp_path, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "studies.sqlite").write_bytes(content)
    assert completed(tmp_path, "study", "run", "x") == ([], "['sqlite3']")
    assert (tmp_path / "out" / "studies.sqlite").read_bytes() == content


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_the_same_names(tmp_path, shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert "ucls/DeepSea-v0" in "\n".join(completed(tmp_path, "train", "ucls/D", shell=shell)[0])


def test_the_script_for_a_shell_is_shown(tmp_path):
    command = [sys.executable, "-m", "ucls", "--show-completion", "bash"]
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    told = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "complete_bash" in told.stdout
