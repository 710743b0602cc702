"""The card beside a saved agent, how an environment is remembered, and `ucls evaluate`."""

import getpass
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import ucls
from support.commands import ucls as command
from support.foreign import Corridor
from ucls import Agent, UserError, evaluate_policy
from ucls.errors import UclsWarning
from ucls.gym.copies import copy_of
from ucls.gym.origin import origin_of


def corridor(reward=1.0):
    return Corridor(reward=reward)


def lake(**settings):
    return Agent(gymnasium.make("FrozenLake-v1", **settings), "sarsa", seed=1)


def recipe(card):
    return re.search(r"```python\n(.*?)```", card.read_text(), re.S)[1]


def test_a_card_says_what_the_agent_is_and_how_well_it_does(tmp_path):
    agent = lake(is_slippery=False, render_mode="rgb_array").learn(400)
    path = agent.save(tmp_path / "lake.safetensors")
    card = (tmp_path / "lake.card.md").read_text()
    mean = agent.last_episodes().returns.mean()
    for words in (
        "# sarsa in FrozenLake-v1",
        "| environment | FrozenLake-v1, is_slippery=False |",
        "| seed | 1 |",
        "| steps | 400 |",
        f"| return | {mean:.6g} on average, 95% interval",
        f"ucls {ucls.__version__}, Python",
        f"numpy {np.__version__}",
    ):
        assert words in card, words
    for name, value in agent.plan.settings.items():
        assert f"{name}={value}" in card
    agent.save(tmp_path / "elsewhere" / "lake.safetensors")
    assert (tmp_path / "elsewhere" / "lake.card.md").read_text() == card
    Agent.load(path).save(tmp_path / "again.safetensors")
    assert "| environment | FrozenLake-v1, is_slippery=False |" in (tmp_path / "again.card.md").read_text()


def test_a_card_tells_nothing_of_the_machine_or_the_person(tmp_path):
    class Mapped(gymnasium.ObservationWrapper, gymnasium.utils.RecordConstructorArgs):
        def __init__(self, env, path, call):
            gymnasium.utils.RecordConstructorArgs.__init__(self, path=path, call=call)
            super().__init__(env)

        def observation(self, observation):
            return observation

    env = gymnasium.make("FrozenLake-v1", desc=["SF", "FG"])
    env.unwrapped.spec.kwargs |= {"map": str(tmp_path / "a.map"), "call": len, "home": "~/x"}
    agent = Agent(Mapped(env, tmp_path, print), "sarsa").learn(20)
    agent.save(tmp_path / "a.safetensors")
    card = (tmp_path / "a.card.md").read_text()
    for secret in (str(tmp_path), str(Path.home()), socket.gethostname(), f"/{getpass.getuser()}", "0x"):
        assert secret not in card, secret
    assert "map=a.map" in card
    assert "| in wrappers | test_model_card.Mapped(call=&lt;builtin_function_or_method print&gt;, path=&lt;" in card


@pytest.mark.parametrize(
    "make",
    [
        lambda: lake(),
        lambda: lake(is_slippery=False),
        lambda: Agent("ucls/RiverSwim-v0", "sarsa", seed=1),
        lambda: Agent("test_model_card:corridor", "sarsa", seed=1, settings={"env.reward": 0.5}),
    ],
)
def test_the_lines_of_a_card_load_the_agent(tmp_path, make):
    agent = make().learn(100)
    path = agent.save(tmp_path / "a.safetensors")
    observation = [0.5] if agent.world is not None else 12
    code = f"observation = {observation}\n{recipe(tmp_path / 'a.card.md')}print(action)"
    places = [str(Path(ucls.__file__).parents[1]), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    run = [sys.executable, "-W", "error::UserWarning", "-c", code]
    told = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert told.stdout == f"{agent.predict(observation, deterministic=True)[0]}\n", told.stderr
    assert path.exists()


def test_returns_that_have_no_mean_keep_no_agent_from_being_saved(tmp_path):
    agent = Agent(Corridor(), "sarsa", seed=1)
    agent._diary.note(1.7e308, 0)
    agent._diary.note(1.7e308, 1)
    agent.save(tmp_path / "a.safetensors")
    assert "| length | 2 steps on average |" in (tmp_path / "a.card.md").read_text()


def test_a_file_that_is_no_card_stays_as_it_is(tmp_path):
    mine = tmp_path / "a.card.md"
    mine.write_text("my own words\n")
    with pytest.warns(UclsWarning, match="was not written by ucls: the agent is saved without a card"):
        lake().learn(5).save(tmp_path / "a.safetensors")
    assert mine.read_text() == "my own words\n"
    assert Agent.load(tmp_path / "a.safetensors").steps == 5


def test_a_file_cannot_put_code_into_a_card(tmp_path):
    agent = Agent.load(lake().learn(5).save(tmp_path / "a.safetensors"))
    agent._named = {"env": 'x")\nimport evil', "settings": {}}
    agent.save(tmp_path / "b.safetensors")
    assert "evil" not in (tmp_path / "b.card.md").read_text()
    agent._named = {"env": "Lake-v1", "settings": {"x=1)\nimport evil #": 1}}
    agent.save(tmp_path / "b.safetensors")
    assert "evil" not in (tmp_path / "b.card.md").read_text()


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"env": "evil_package:make", "settings": {}, "returns": None}, True),
        ({"env": "evil_package:Lake-v1", "settings": {}}, True),
        ({"env": "EvilLake-v1", "settings": {}}, True),
        ({"env": "FrozenLake-v1", "settings": {"desc": "evil"}}, True),
        ({"env": "FrozenLake-v1", "settings": {"max_episode_steps": "evil"}}, True),
        ({"env": "FrozenLake-v1", "settings": {}, "wrappers": [{"name": "evil", "settings": None}]}, True),
        ({"env": "FrozenLake-v1", "settings": {}, "wrappers": ["evil"]}, True),
        ({"env": "FrozenLake-v1", "settings": {}, "entry_point": "evil:make"}, False),
        ({"env": "FrozenLake-v1\n# evil", "settings": {}}, False),
    ],
)
def test_a_card_has_no_code_that_a_file_chose(tmp_path, named, shown):
    agent = Agent.load(lake().learn(5).save(tmp_path / "a.safetensors"))
    agent._named = named
    card = agent.save(tmp_path / "b.safetensors").with_suffix(".card.md")
    assert "evil" not in recipe(card).lower()
    assert "env = ...  # the environment that it learned in" in recipe(card)
    assert ("evil" in card.read_text().lower()) == shown
    agent._named = {"env": "FrozenLake-v1", "settings": {"max_episode_steps": 7}}
    agent.save(tmp_path / "b.safetensors")
    assert 'gymnasium.make("FrozenLake-v1", max_episode_steps=7)' in recipe(card)


NASTY = [
    "[a](https://evil.example)",
    "![a](https://evil.example/x.png)",
    "https://evil.example",
    "WWW.evil.example",
    "<img src=x onerror=alert(1)>",
    "<!-- x",
    "&lt;b&gt;",
    "me@evil.example",
    "a | b",
    "`x`",
    "\n# heading",
    "\n\n- list",
    "**a** _b_ __c__ ~~d~~",
    "$x$",
    "\\[a](b)",
    "\x1b[31m\u202e",
]


@pytest.mark.parametrize("text", NASTY)
def test_text_in_a_card_is_shown_as_it_is_and_does_nothing(tmp_path, text):
    markdown = pytest.importorskip("markdown", reason="Python-Markdown is not installed")
    agent = Agent.load(lake().learn(5).save(tmp_path / "a.safetensors"))
    agent._named = {"env": "FrozenLake-v1", "settings": {"desc": text}, "wrappers": [text, {"name": text}]}
    card = agent.save(tmp_path / "b.safetensors").with_suffix(".card.md").read_text()
    plain = re.sub(r"```.*?```", "", card, flags=re.S)
    page = markdown.markdown(plain, extensions=["tables"])
    assert len(re.findall(r"<(?!/|!--|table|thead|tbody|tr|th|td|h1|p|br)", page)) == 0, page
    assert page.count("<h1>") == 1
    assert not re.search(r"https?://|www\.|\w@\w", plain, re.I)
    assert plain.isprintable() or all(line.isprintable() for line in plain.splitlines())


def test_a_run_folder_has_a_card_too_and_goes_on_with_it(tmp_path):
    command("train", "FrozenLake-v1", "--algo", "sarsa", "--steps", 50, "--out", tmp_path / "run")
    words = ["train", "FrozenLake-v1", "--algo", "sarsa", "--steps", 30]
    command(*words, "--resume", tmp_path / "run", "--out", tmp_path / "run")
    card = tmp_path / "run" / "agent.card.md"
    assert "| steps | 80 |" in card.read_text()
    assert 'Agent.load("agent.safetensors", "FrozenLake-v1")' in card.read_text()
    card.write_text("my own words\n")
    with pytest.raises(UserError, match="was not written by ucls"):
        command(*words, "--resume", tmp_path / "run", "--out", tmp_path / "run")


def test_an_environment_is_remembered_beyond_what_its_id_says():
    assert origin_of(gymnasium.make("FrozenLake-v1")) == {"env": "FrozenLake-v1", "settings": {}}
    eight = gymnasium.make("FrozenLake-v1", map_name="8x8", render_mode="rgb_array")
    assert origin_of(eight) == {"env": "FrozenLake-v1", "settings": {"map_name": "8x8"}}
    assert origin_of(Corridor()) is None
    made = Agent("test_model_card:corridor", "sarsa").env
    assert origin_of(made)["env"] == "test_model_card:corridor"
    assert copy_of(made) is not made


def test_evaluate_says_what_evaluate_policy_says(tmp_path):
    agent = lake().learn(300)
    path = agent.save(tmp_path / "a.safetensors")
    found = evaluate_policy(agent, n_eval_episodes=7, seed=3)
    told = json.loads(command("evaluate", path, "--episodes", 7, "--seed", 3, "--json").stdout)
    assert (told["env"], told["episodes"], told["n_truncated"]) == ("FrozenLake-v1", 7, 0)
    assert (told["mean"], told["std"], told["lengths"]) == (found.mean, found.std, found.lengths.tolist())
    assert told["low"] <= told["mean"] <= told["high"]
    assert "95% interval" in command("evaluate", path).stdout


def test_one_episode_has_no_interval(tmp_path):
    agent = Agent(Corridor(), "sarsa", seed=1)
    agent._diary.note(1.0, 1)
    path = agent.save(tmp_path / "a.safetensors")
    words = "| return | 1 on average, no interval from one return, in the only episode |"
    assert words in path.with_suffix(".card.md").read_text()
    path = lake().save(tmp_path / "lake.safetensors")
    told = json.loads(command("evaluate", path, "--episodes", 1, "--json").stdout)
    assert (told["low"], told["high"]) == (None, None)
    text = command("evaluate", path, "--episodes", 1).stdout
    assert "mean 0, no interval from one return" in text
    assert "nan" not in text


def test_runs_of_your_own_algorithm_are_evaluated_explained_and_watched(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    command("train", "ucls/RiverSwim-v0", "--algo", "my_agent", "--set", "kappa=2", "--steps", 50, "--out", "run")
    told = json.loads(
        command("evaluate", "run", "--algo", "my_agent", "--episodes", 1, "--max-steps", 20, "--json").stdout
    )
    assert (told["agent"], told["steps"]) == ("my_agent", 50)
    assert command("explain", "run", "--algo", "my_agent").stdout.strip() == "maps.html"
    assert command("record-video", "run", "--algo", "my_agent", "--max-steps", 2).stdout.strip() == "video.gif"
    for name in ("evaluate", "explain", "record-video"):
        with pytest.raises(UserError, match="uses the algorithm 'my_agent': name its module with --algo"):
            command(name, "run")
        with pytest.raises(UserError, match="uses the algorithm 'my_agent', not 'sarsa'"):
            command(name, "run", "--algo", "sarsa")


def test_evaluate_of_an_environment_that_a_file_may_not_name_needs_its_name(tmp_path):
    path = lake(is_slippery=False).learn(30).save(tmp_path / "a.safetensors")
    with pytest.raises(UserError, match="name it with --env"):
        command("evaluate", path)
    words = ("--env", "FrozenLake-v1", "--set", "env.is_slippery=False", "--json")
    told = json.loads(command("evaluate", path, "--episodes", 2, *words).stdout)
    assert len(set(told["returns"])) == 1
    with pytest.raises(UserError, match="there is no run at"):
        command("evaluate", tmp_path / "nothing")
