"""What continuous integration runs gets a browser where it may, goes on where it may not, and says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faults import slurm

ROOT = Path(__file__).parents[1]
HERE = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
TOOLS = ("bash", "env", "dirname", "timeout", "true")
SKIPPED = "chromium cannot be installed here: tests in a browser are skipped\n"


def run_ci(folder, user, **programs):
    """Run `.ci/run` with nothing on the path but a few tools and these programs, each a line of the shell."""
    (folder / ".ci").mkdir()
    (folder / "bin").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    for tool in TOOLS:
        (folder / "bin" / tool).symlink_to(shutil.which(tool))
    for name, line in {"id": f"echo {user}", "make": 'echo "made $1"', **programs}.items():
        program = folder / "bin" / name
        program.write_text(f"#!{shutil.which('bash')}\n{line}\n")
        program.chmod(0o755)
    command = [shutil.which("bash"), folder / ".ci" / "run"]
    done = subprocess.run(command, env={"PATH": str(folder / "bin")}, capture_output=True, text=True, check=True)
    asked = folder / "asked"
    return done.stdout + done.stderr, asked.read_text() if asked.exists() else ""


def apt(folder, code=0):
    return f'echo "$@" >>{folder}/asked; echo loud; exit {code}'


def test_a_browser_is_installed_without_a_word_by_root_and_by_whoever_needs_no_password(tmp_path):
    for user in (0, 1000):
        folder = tmp_path / str(user)
        folder.mkdir()
        said, asked = run_ci(folder, user, **{"apt-get": apt(folder), "sudo": '[ "$1" = -n ] && shift && exec "$@"'})
        assert said == "made test\n"
        assert "install --yes --no-install-recommends chromium" in asked


@pytest.mark.parametrize("why", ["no apt-get", "no sudo", "a password is asked for", "no network"])
def test_without_a_browser_the_run_says_so_in_one_line_and_goes_on(tmp_path, why):
    programs = {} if why == "no apt-get" else {"apt-get": apt(tmp_path, 100 if why == "no network" else 0)}
    if why == "a password is asked for":
        programs["sudo"] = "echo a password is required >&2; exit 1"
    said, _ = run_ci(tmp_path, 0 if why in ("no apt-get", "no network") else 1000, **programs)
    assert said == f"{SKIPPED}made test\n"


def test_a_browser_that_is_there_is_left_as_it_is(tmp_path):
    said, asked = run_ci(tmp_path, 0, **{"apt-get": apt(tmp_path), "google-chrome": "exit 0"})
    assert (said, asked) == ("made test\n", "")


def last_line(*words, **environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    told = subprocess.run(command, cwd=ROOT, env={**HERE, **environment}, capture_output=True, text=True, check=True)
    return told.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("processes", [pytest.param((), marks=pytest.mark.slow), ("-n", "1")])
def test_the_tests_end_by_saying_how_many_found_no_browser_and_why(processes):
    words = ("tests/test_report_browser.py", "-k", "walk or filtered", *processes)
    said = last_line(*words, UCLS_CHROMIUM="/nowhere/chromium")
    assert said.startswith("2 browser tests were skipped: there is no browser at /nowhere/chromium (apt-get install")


def test_nothing_is_said_of_browsers_where_no_test_was_skipped_for_want_of_one():
    said = last_line("tests/test_ci.py", "-k", "left_as_it_is", UCLS_CHROMIUM="/nowhere/chromium")
    assert said.startswith("1 passed")


def test_without_slurm_its_tests_say_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "PATH", str(tmp_path))
    assert slurm.missing().endswith("apt-get install --no-install-recommends slurmctld slurmd slurm-client munge")
    assert "slurmctld, slurmd, sbatch" in slurm.missing()
    packages = slurm.INSTALL.split("--no-install-recommends ")[1]
    assert packages in (ROOT / ".ci" / "slurm").read_text()
