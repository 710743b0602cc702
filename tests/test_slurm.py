"""Studies in a real Slurm of one node, which `make test-slurm` starts: the page's commands, kills and cancellations."""

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from docsite.blocks import blocks
from faults import kills, slurm
from faults.processes import wait_until
from support.foreign import HANGING
from ucls.study import Store

ROOT = Path(__file__).parents[1]
SMALLER = {"--jobs 64": "--jobs 2", '"0-19"': '"0-3"', " --algo ucls-exact": ""}
CELLS = 24

pytestmark = pytest.mark.skipif(os.environ.get("UCLS_SLURM") != "1", reason="`make test-slurm` runs it")


@pytest.fixture(scope="module")
def here():
    """The environment that leads to a Slurm on this machine."""
    if why := slurm.missing():
        pytest.fail(why)
    with slurm.one_node() as environment:
        yield environment


@pytest.fixture
def environ(here, monkeypatch):
    """That environment as this process's own."""
    for name, value in {**here, "UCLS_SLURM_PARTITION": "short", "NUMBA_DISABLE_JIT": "1"}.items():
        monkeypatch.setenv(name, value)
    return here


def smaller(code):
    for word, other in SMALLER.items():
        code = code.replace(word, other)
    return code


def steps_of_the_page():
    """The shell code of the page's Slurm section, by the number of its step."""
    text = (ROOT / "docs/cluster.md").read_text().partition("## Slurm, step by step")[2].partition("\n## ")[0]
    return [smaller(block.code) for block in blocks(text) if block.language == "sh"]


def results(path, name="tiny"):
    with Store(path) as store:
        return {row.id: (row.status, row.metrics, store.digests(name)[row.id]) for row in store.rows(name)}


def test_the_commands_of_the_page_give_the_results_of_a_local_run(here, tmp_path):
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    study = next(b.code for b in blocks((ROOT / "docs/studies.md").read_text()) if b.language == "toml")
    assert tomllib.loads(study)["name"] == "tiny"
    (tmp_path / "tiny.toml").write_text(smaller(study))
    environment = {**here, "SCRATCH": str(tmp_path)}

    def shell(code):
        done = subprocess.run(["bash", "-ec", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"
        return done.stdout

    _install, compile_once, dry_run, driver, submit, look = steps_of_the_page()
    shell(compile_once)
    environment["UCLS_CACHE_DIR"] = f"{tmp_path}/ucls-cache"
    assert "8 runs" in shell(dry_run)
    (tmp_path / "driver.sbatch").write_text(driver)
    assert "tiny-dri" in shell(submit)
    deadline = time.monotonic() + 400
    while slurm.ask(here, "squeue", "--noheader") and time.monotonic() < deadline:
        time.sleep(1)
    printed = "".join(log.read_text() for log in tmp_path.glob("slurm-*.out"))
    assert "tiny: 8 runs: 8 done" in printed
    assert "tiny: 8 runs: 8 done" in shell(look)
    shell(".venv/bin/ucls study run tiny.toml --store local.sqlite")
    assert results(tmp_path / "tiny.sqlite") == results(tmp_path / "local.sqlite")
    assert not (tmp_path / "tiny.sqlite.slurm").exists()


def test_a_killed_driver_and_a_canceled_job_cost_nothing(environ, tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CAMPAIGN_LONGER", "4")
    want = kills.undisturbed(tmp_path, CELLS)
    study = kills.StudyProcess(tmp_path / "slurm.sqlite", CELLS, "slurm")
    with study.running() as process:
        study.await_outcomes(process, 2)
        running = jobs(environ)
        assert len(running) == 2
        slurm.ask(environ, "scancel", running[0])
        wait_until(lambda: running[0] not in jobs(environ) or process.poll() is not None)
        study.await_outcomes(process, 2)
        assert process.poll() is None
    assert jobs(environ)  # they outlive the driver
    outcomes = study.outcomes
    assert outcomes < CELLS
    with study.running() as process:
        study.await_end(process)
    trial = study.judge("a job canceled and the driver killed", 2, want)
    assert trial.sound, trial
    assert len(want) == CELLS


def jobs(environment):
    """The ids of the jobs that run."""
    return slurm.ask(environment, "squeue", "--me", "--array", "--noheader", "--states=R", "--format=%i").split()


def test_a_hung_cell_ends_its_job_at_the_time_limit_and_the_others_are_done(environ, tmp_path):
    (tmp_path / "hanging.py").write_text(HANGING)
    text = 'name = "h"\nsteps = 20\nseeds = "0"\n[[run]]\nalgorithm = "sarsa"\nenv = "hanging:make"\n'
    (tmp_path / "h.toml").write_text(text + "set = { env.hang = [true, false] }\n")
    words = ["study", "run", "h.toml", "--store", "h.sqlite", "--slurm", "short", "--jobs", "1", "--json"]
    command = [sys.executable, "-m", "ucls", *words, "--time-limit", "5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert (json.loads(done.stdout)["done"], json.loads(done.stdout)["failed"]) == (1, 1)
    with Store(tmp_path / "h.sqlite") as store:
        [failure] = store.failures("h")
    assert "it did not stop at the time limit of 5 s" in failure.error
    assert "hanging.py" in failure.traceback


def test_a_stop_saves_what_jobs_have_and_leaves_none_behind(environ, tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CAMPAIGN_LONGER", "4")
    study = kills.StudyProcess(tmp_path / "stop.sqlite", 8, "slurm", "--troubled")
    with study.running() as process:
        study.await_outcomes(process, 1)
        process.terminate()
        study.await_end(process)
    deadline = time.monotonic() + 60
    while jobs(environ) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not jobs(environ)
    assert list((tmp_path / "stop.sqlite.partial").glob("[!.]*.safetensors"))
