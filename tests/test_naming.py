"""Environments by name: ours, Gymnasium's, a module's; and one clear line for every name that makes none."""

import json
import sys

import gymnasium
import pytest

from support import foreign
from ucls import Agent
from ucls.cli.train import how_to_resume
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.gym.registry import make_env, makers, open_env, versioned
from ucls.settings import parse
from ucls.study import make_run_specs
from ucls.train.train import Order


@pytest.mark.parametrize(
    "name",
    ["ucls/RiverSwim-v0", "FrozenLake-v1", "CartPole-v1", "lakes:LakeOfTests-v0", "lakes:make_lake", "lakes:Lake"],
)
def test_every_way_to_name_an_environment_makes_one(lakes, name):
    env = make_env(name)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)


def test_keyword_arguments_reach_the_environment(lakes):
    for name in ("FrozenLake-v1", "lakes:LakeOfTests-v0", "lakes:make_lake", "lakes:Lakes.make"):
        env = make_env(name, {"is_slippery": False})
        assert len(env.unwrapped.P[0][0]) == 1, name
    assert make_env("FrozenLake-v1", {"max_episode_steps": 7})._max_episode_steps == 7
    assert make_env("ucls/RiverSwim-v0", {"noise_std": 0}).unwrapped.world.settings["noise_std"] == 0.0
    env, rest = open_env("lakes:make_lake", {"p": 0.1, "env.is_slippery": False, "env.note": "x"})
    assert rest == {"p": 0.1}
    assert sys.modules["lakes"].MADE[-1] == "x"


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("FrozenLak-v1", {}, "unknown environment 'FrozenLak-v1': did you mean 'FrozenLake-v1'?"),
        ("Nowhere/Lake-v0", {}, "unknown environment 'Nowhere/Lake-v0'"),
        ("", {}, "'' cannot be made"),
        ("a b", {}, "a b cannot be made"),
        ("x" * 5000, {}, "xxx"),
        ("no_such_module:Lake-v0", {}, "module 'no_such_module' cannot be imported, ModuleNotFoundError"),
        ("muddy:make", {}, "module 'muddy' cannot be imported, ModuleNotFoundError: No module named 'nothing_of"),
        ("broken:make", {}, "module 'broken' cannot be imported, SyntaxError"),
        ("gone:make", {}, "module 'gone' cannot be imported, SystemExit"),
        ("../lakes:make", {}, "module '../lakes' cannot be imported: write module:id or module:factory"),
        (":make", {}, "module '' cannot be imported"),
        ("lakes:", {}, "module 'lakes' has no callable ''"),
        ("lakes:make:lake", {}, "module 'lakes' has no callable 'make:lake'"),
        ("lakes:make_lak", {}, "registers no such environment: did you mean 'lakes:make_lake'?"),
        ("lakes:LakeOfTests-v1", {}, "did you mean 'lakes:LakeOfTests-v0'?"),
        ("lakes:depth", {}, "lakes:depth is 3, not an environment: name a callable"),
        ("lakes:nothing", {}, "lakes:nothing returned 3, which is not an environment: it lacks reset"),
        ("lakes:not_yet", {}, "which is not an environment"),
        ("lakes:dry", {}, "lakes:dry cannot be made: RuntimeError: no water"),
        ("lakes:over", {}, "lakes:over cannot be made: SystemExit: that is all"),
        ("lakes:make_lake", {"slippery": 1}, "unknown setting 'env.slippery': did you mean 'env.is_slippery'?"),
        ("lakes:over", {"size": 1}, "unknown setting 'env.size': this environment takes none"),
        ("FrozenLake-v1", {"slippery": 1}, "unknown setting 'env.slippery': did you mean 'env.is_slippery'?"),
        ("FrozenLake-v1", {"map_name": "9x9"}, "FrozenLake-v1 cannot be made: KeyError"),
        ("ucls/RiverSwim-v0", {"noise": 1}, "unknown setting 'noise': did you mean 'noise_std'?"),
    ],
)
def test_a_name_that_makes_no_environment_is_one_line(lakes, name, settings, said):
    with pytest.raises(UserError) as caught:
        make_env(name, settings)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_name_without_a_version_means_the_newest_there_is(lakes):
    gymnasium.register("LakeOfTests-v10", entry_point=make_env)
    try:
        assert versioned("lakes:LakeOfTests") == "lakes:LakeOfTests-v10"
        assert make_run_specs("FrozenLake", "sarsa", steps=5, seeds=[0]) == make_run_specs(
            "FrozenLake-v1", "sarsa", steps=5, seeds=[0]
        )
    finally:
        gymnasium.registry.pop("LakeOfTests-v10")
    for name in ("lakes:make_lake", "FrozenLake-v1", "lakes:LakeOfTests-v0"):
        assert versioned(name) == name


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["lakes:make_lake", "--set", "env.is_slippery=false"], 0, "passed  reset with a seed repeats"),
        (["lakes:make_lake", "--set", "p=1"], 2, "setting 'p' is not a setting of the environment"),
        (["sarsa", "--set", "env.x=1"], 2, "--set applies to environments only"),
    ],
)
def test_an_environment_is_checked_by_its_name(tmp_path, words, code, said):
    done = foreign.command(foreign.write_lakes(tmp_path), "check", *words)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True)


def test_an_environment_that_is_made_takes_no_keyword_arguments(lakes):
    with pytest.raises(UserError, match=r"'env.is_slippery' applies only to an environment that is given by name"):
        open_env(gymnasium.make("FrozenLake-v1"), {"env.is_slippery": False})


def test_the_modules_that_make_an_environment_are_known(lakes):
    assert makers("lakes:make_lake") == (["lakes"], "")
    assert makers("FrozenLake-v1")[0] == ["gymnasium.envs.toy_text.frozen_lake"]
    modules, registered = makers("lakes:LakeOfTests-v0")
    assert modules == ["lakes", "gymnasium.envs.toy_text.frozen_lake"]
    assert registered != ""


def test_words_of_an_environment_are_numbers_flags_or_text():
    words = ["env.a=1", "env.b=false", "env.c=0.5", "env.d=8x8", "env.e='1'", "env.f=1_0", "p=1"]
    assert parse(words) == {"env.a": 1, "env.b": False, "env.c": 0.5, "env.d": "8x8", "env.e": "1", "env.f": "1_0"} | {
        "p": "1"
    }
    assert type(parse(["env.a=1"])["env.a"]) is int


def test_a_stopped_run_says_how_its_environment_is_named_again():
    order = Order("lakes:make_lake", "sarsa", 10, 0, {"env.is_slippery": False, "env.note": "4"}, None, "float64", None)
    said = how_to_resume(order, {"new_steps": 4, "out": "run", "diverged": False})
    assert (
        "ucls train lakes:make_lake --algo sarsa --set env.is_slippery=false --set 'env.note=\"4\"' --steps 6" in said
    )


def test_a_setting_that_nobody_has_is_told_how_an_environment_gets_one(lakes):
    with pytest.raises(UserError, match=r"unknown setting 'is_slippery'.*env\.NAME"):
        Agent("lakes:make_lake", "sarsa", is_slippery=False)


def test_training_takes_a_factory_and_goes_on_only_in_the_same_world(tmp_path):
    foreign.write_lakes(tmp_path)
    words = ["train", "lakes:make_lake", "--algo", "sarsa", "--steps", 40, "--out", "run", "--json"]
    made = foreign.command(tmp_path, *words, "--set", "env.is_slippery=false")
    assert json.loads(made.stdout)["steps"] == 40
    other = foreign.command(tmp_path, *words, "--resume", "run")
    assert other.returncode == 2
    assert "was trained in lakes:make_lake with env.is_slippery=false: give the same with --set" in other.stderr
    same = foreign.command(tmp_path, *words, "--resume", "run", "--set", "env.is_slippery=false")
    assert json.loads(same.stdout)["steps"] == 80


def test_loading_never_makes_what_a_file_names(tmp_path, lakes):
    words = ["train", "lakes:make_lake", "--algo", "sarsa", "--steps", 5, "--out", "run"]
    assert foreign.command(tmp_path, *words).returncode == 0
    path = tmp_path / "run" / "agent.safetensors"
    assert checkpoint.load(path)[0]["named"]["env"] == "lakes:make_lake"
    assert Agent.load(path).env is None
    assert "lakes" not in sys.modules


@pytest.mark.parametrize("words", [["train"], ["explain"]])
def test_a_wrong_name_is_exit_code_2(tmp_path, words):
    foreign.write_lakes(tmp_path)
    done = foreign.command(tmp_path, *words, "lakes:nothing")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "lakes:nothing returned 3, which is not an environment" in done.stderr
