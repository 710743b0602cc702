"""The command line as a user meets it: output, exit codes, and one clear line for bad input."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from support.commands import RIVER, ucls, ucls_process
from support.paper import pretend
from ucls.cli.output.show import show_run
from ucls.errors import UserError
from ucls.study import runners


def test_train_json_has_what_it_promises(tmp_path):
    result = ucls(
        "train", RIVER, "--steps", 500, "--seed", 3, "--out", tmp_path / "run", "--set", "prior_visits=0.5", "--json"
    )
    found = json.loads(result.stdout)
    assert (found["env"], found["agent"], found["steps"], found["seed"]) == (RIVER, "ucls-plan", 500, 3)
    assert (found["episodes"], found["diverged"]) == (0, False)
    assert found["steps_per_second"] > 0
    assert found["settings"]["prior_visits"] == 0.5
    with np.load(tmp_path / "run" / "history.npz") as history:
        assert found["total_reward"] == pytest.approx(history["rewards"].sum())
        assert found["final_reward_per_step"] == pytest.approx(history["rewards"][400:].mean())
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == found


def test_a_resumed_run_is_the_same_run(tmp_path):
    ucls("train", RIVER, "--steps", 700, "--out", tmp_path / "whole")
    ucls("train", RIVER, "--steps", 400, "--out", tmp_path / "part")
    ucls("train", RIVER, "--steps", 300, "--resume", tmp_path / "part", "--out", tmp_path / "rest")
    whole, rest = (np.load(tmp_path / name / "history.npz")["rewards"] for name in ("whole", "rest"))
    assert np.array_equal(whole, rest)
    files = [(tmp_path / name / "agent.safetensors").read_bytes() for name in ("whole", "rest")]
    assert files[0] == files[1]


def test_summary_is_readable():
    text = ucls("train", RIVER, "--steps", 300).stdout
    assert "ucls-plan on ucls/RiverSwim-v0, seed 0" in text
    assert "0.2226 per step is optimal" in text


def test_a_run_that_diverges_says_so_and_saves_no_agent(tmp_path):
    words = ("--algo", "ucls", "--steps", 5000, "--set", "w_step=50000", "--out", tmp_path / "run")
    result = ucls("train", "ucls/RiverSwim-v0", *words, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert found["diverged"]
    assert found["steps"] < 5000
    assert np.isfinite(found["total_reward"])
    assert not (tmp_path / "run" / "agent.safetensors").exists()


def test_agents_and_envs_list_settings_with_defaults():
    agents = {row["name"]: row for row in json.loads(ucls("algorithms", "--json").stdout)}
    defaults = {s["name"]: s["default"] for s in agents["ucls"]["settings"]}
    assert (defaults["p"], defaults["lambda"], defaults["beta"], defaults["eta"]) == (0.1, 0.9, 0.001, 1e-4)
    assert (defaults["trace_threshold"], defaults["trace_discount"]) == ("beta", "previous")
    envs = {row["id"]: row for row in json.loads(ucls("envs", "--json").stdout)}
    sparse = {s["name"]: s["default"] for s in envs["ucls/SparseMountainCar-v0"]["settings"]}
    assert (sparse["reward"], sparse["discount"], sparse["time_limit"]) == ("sparse", 0.998, 10000)
    assert "failure probability" in ucls("algorithms").stdout
    assert RIVER in ucls("envs").stdout


def test_foreign_environments_are_trained_too(tmp_path):
    words = (
        "--features",
        "tiles",
        "--low",
        "-2.4,-3,-0.3,-3",
        "--high",
        "2.4,3,0.3,3",
        "--set",
        "tiles=3",
        "--set",
        "table_size=64",
    )
    result = ucls("train", "CartPole-v1", "--steps", 300, *words, "--out", tmp_path / "run", "--json")
    assert json.loads(result.stdout)["episodes"] > 1
    more = json.loads(ucls("train", "CartPole-v1", "--steps", 50, "--resume", tmp_path / "run", "--json").stdout)
    assert (more["steps"], more["new_steps"], more["total_reward"]) == (350, 50, 350.0)
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == more  # saved where it was resumed from


@pytest.mark.parametrize(
    "words",
    [
        ("watch", RIVER),
        ("record-video", RIVER, "--most-steps", 2),
        ("explain", RIVER, "--through", "0.5"),
        ("train", RIVER, "--checkpoint-every", 1),
        ("evaluate-log", "log.csv", "--p", 0.1),
        ("diagnose", RIVER, "--points", 2),
        ("diagnose", RIVER, "--density", "start"),
        ("study", "run", "tiny.toml", "--checkpoint", 1),
        ("study", "status", "tiny", "--errors"),
        ("study", "rescue", "new.sqlite"),
        ("paper", "run", "--heavy-runs", 1),
        ("sweeps",),
        ("departures",),
    ],
)
def test_former_names_are_refused_by_the_parser(words):
    result = ucls(*words)
    assert result.exit_code == 2
    assert "No such" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("RiverSwim",), "unknown environment 'RiverSwim'"),
        (("ucls/RiverSwin-v0",), "did you mean 'ucls/RiverSwim-v0'?"),
        (("Pendulum-v1",), "only Discrete is supported"),
        ((RIVER, "--algo", "ulcs"), "did you mean 'ucls'?"),
        ((RIVER, "--set", "noise_scal=1"), "did you mean 'noise_scale'?"),
        ((RIVER, "--set", "p"), "write it as name=value"),
        ((RIVER, "--set", "prior_visits=0"), "'prior_visits' cannot be '0'"),
        ((RIVER, "--set", "prior_visits=much"), "'prior_visits' cannot be 'much'"),
        ((RIVER, "--algo", "ucls", "--set", "beta=1"), "'beta' cannot be '1'"),
        ((RIVER, "--set", "lambda=-0.1"), "'lambda' cannot be '-0.1'"),
        ((RIVER, "--algo", "ucls", "--set", "trace_discount=never"), "one of previous, current"),
        ((RIVER, "--resume", "nowhere"), "no checkpoint at nowhere"),
        ((RIVER, "--low", "0,x"), "give numbers separated by commas"),
    ],
)
def test_bad_input_is_one_line(words, message, tmp_path):
    with pytest.raises(UserError) as error:
        ucls("train", *words, "--steps", 10, "--out", tmp_path / "run")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_main_turns_bad_input_into_exit_code_2():
    result = ucls_process("train", "ucls/RiverSwin-v0")
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_checkpoint_of_another_agent_or_world_is_refused(tmp_path):
    ucls("train", RIVER, "--steps", 20, "--out", tmp_path / "run")
    before = (tmp_path / "run" / "agent.safetensors").read_bytes()
    with pytest.raises(UserError, match="was trained in ucls/RiverSwim-v0"):
        ucls("train", "ucls/PuddleWorld-v0", "--resume", tmp_path / "run", "--out", tmp_path / "run")
    with pytest.raises(UserError, match="already contains a run"):
        ucls("train", RIVER, "--out", tmp_path / "run")
    with pytest.raises(UserError, match="keeps its settings"):
        ucls("train", RIVER, "--resume", tmp_path / "run", "--set", "p=1")
    assert (tmp_path / "run" / "agent.safetensors").read_bytes() == before
    (tmp_path / "run" / "agent.safetensors").write_bytes(before[:1000])
    with pytest.raises(UserError, match="corrupted"):
        ucls("train", RIVER, "--resume", tmp_path / "run")


def test_doctor_finds_the_kernels_in_order():
    found = json.loads(ucls("doctor", "--json").stdout)
    assert found["kernels_agree"] is True
    assert {"numba", "numpy", "kernel_cache", "cores"} <= found.keys()


@pytest.mark.parametrize("made", ["pretended", pytest.param("run", marks=pytest.mark.slow)])
def test_paper_runs_draws_and_judges(made, tmp_path, monkeypatch):
    if made == "pretended":
        monkeypatch.setattr(runners, "runner_of", lambda *_: pretend)
    words = ("--only", "5", "--runs", 1, "--out", tmp_path, "--json")
    found = json.loads(ucls("paper", "run", *words, "--jobs", 2).stdout)
    assert [claim["number"] for claim in found] == [8, 16]
    assert (tmp_path / "figure-5.png").stat().st_size > 20_000
    assert (tmp_path / "report.html").exists()
    assert json.loads(ucls("paper", "run", *words, "--dry-run").stdout)["missing"] == 0
    (tmp_path / "report.html").unlink()
    assert json.loads(ucls("paper", "report", *words).stdout) == found
    assert (tmp_path / "report.html").exists()


def test_a_study_is_declared_run_looked_at_and_exported(tmp_path):
    file, store = tmp_path / "tiny.toml", tmp_path / "s.sqlite"
    file.write_text(
        'name = "tiny"\nsteps = 300\nseeds = "0-2"\nbaseline = "sarsa alpha=0.1"\n'
        '[[run]]\nalgorithm = "sarsa"\nenv = "ucls/RiverSwim-v0"\nset = { alpha = [0.1, 0.2] }\n'
    )
    where = ("--store", store)
    forecast = json.loads(ucls("study", "run", file, *where, "--dry-run", "--json").stdout)
    assert (forecast["missing"], store.exists()) == (6, False)
    found = json.loads(ucls("study", "run", file, *where, "--jobs", 1, "--json").stdout)
    assert (found["done"], found["ran"], found["failed"]) == (6, 6, 0)
    assert json.loads(ucls("study", "run", "tiny", *where, "--json").stdout)["ran"] == 0, "by its name in the store"
    assert json.loads(ucls("study", "status", "tiny", *where, "--json").stdout)["waiting"] == 0
    groups = json.loads(ucls("study", "compare", file, *where, "--json").stdout)["groups"]
    assert {group["label"] for group in groups} == {"sarsa alpha=0.1", "sarsa alpha=0.2"}
    assert "tiny" in ucls("study", "list", *where).stdout
    assert "agent.alpha=0.2" in ucls("study", "show", file, *where).stdout
    assert ucls("study", "compare", "tiny", *where).stdout.count("sarsa alpha") >= 2
    assert ucls("study", "export", "tiny", *where, "--results-only").stdout.count("\n") == 7
    with pytest.raises(UserError, match="did you mean 'tiny'"):
        ucls("study", "status", "tinny", *where)
    with pytest.raises(UserError, match="mutually exclusive"):
        ucls("paper", "run", "--quick", "--full")


def test_ctrl_c_stops_a_study_within_seconds_and_loses_nothing(tmp_path):
    file, store = tmp_path / "long.toml", tmp_path / "s.sqlite"
    run = f'[[run]]\nalgorithm = "sarsa"\nenv = "{RIVER}"\n'
    file.write_text(f'name = "long"\nsteps = 500_000_000\nseeds = 0\n{run}')
    command = [
        sys.executable,
        "-m",
        "ucls",
        "study",
        "run",
        str(file),
        "--store",
        str(store),
        "--checkpoint-interval",
        "1",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    partial, deadline = tmp_path / "s.sqlite.partial", time.monotonic() + 240
    while not list(partial.glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert time.monotonic() - began < 30, "a wide margin: what is promised is seconds on an idle machine"
    assert "stopped: the same command resumes" in out
    assert "1 waiting" in out
    assert len(list(partial.glob("*.safetensors"))) == 1


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nsys.argv = ['ucls', '--help']\n"
        "try:\n    from ucls.cli import main\n    main()\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'scipy', 'matplotlib', 'ray'} & set(sys.modules)\nassert not heavy, heavy\n"
        "ours = {'ucls.paper.drawing', 'ucls.paper.report'} & set(sys.modules)\nassert not ours, ours"
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert time.perf_counter() - began < 20, "a wide margin: what is promised is under a second on an idle machine"


@pytest.mark.parametrize(
    ("episodes", "said"), [(8, "8, mean length 2.0 steps in all 8"), (30, "30, mean length 2.0 steps in the last 20")]
)
def test_few_episodes_are_not_called_the_last_twenty(capsys, episodes, said):
    numbers = {"steps_per_second": 1.0, "final_episode_length": 2.0, "final_return": 1.0, "final_reward_per_step": 1.0}
    told = {"agent": "sarsa", "env": "FrozenLake-v1", "seed": 0, "steps": 60, "new_steps": 60, "total_reward": 3.0}
    show_run({**told, **numbers, "episodes": episodes, "optimal_reward_rate": None, "out": None, "diverged": False})
    assert said in capsys.readouterr().out
