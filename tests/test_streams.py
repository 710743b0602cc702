"""Output in whatever the shell made of it: strict JSON, closed streams, readers that leave, a width of 0."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import ucls.cli
from support.commands import ucls as command
from ucls import Agent, UserError
from ucls._util.json import as_json
from ucls.cli.output import streams

SHELL = f"{sys.executable} -m ucls"


def shell(line):
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


def test_what_is_no_number_is_null():
    data = {"a": math.nan, "b": [math.inf, -math.inf, 1.5], "c": (1, None, True, "NaN"), "d": {"e": {"f": math.nan}}}
    assert json.loads(as_json(data)) == {
        "a": None,
        "b": [None, None, 1.5],
        "c": [1, None, True, "NaN"],
        "d": {"e": {"f": None}},
    }


def test_all_json_of_the_commands_goes_through_one_strict_writer():
    files = [path for path in Path(ucls.cli.__file__).parent.glob("*.py") if "json.dump" in path.read_text()]
    assert files == []


def test_a_command_prints_strict_json_where_a_result_is_infinite(monkeypatch):
    result = {"steps": 1, "new_steps": 1, "total_reward": math.inf, "stopped": 0, "diverged": False}
    monkeypatch.setattr("ucls.train.train.train", lambda *_: result)
    printed = command("train", "ucls/RiverSwim-v0", "--algo", "sarsa", "--json").stdout

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    assert json.loads(printed, parse_constant=refuse)["total_reward"] is None


@pytest.mark.parametrize("words", ["envs", "envs --json"])
def test_a_reader_that_leaves_ends_a_command_as_it_ends_others(words):
    found = shell(f"{SHELL} {words} | true; echo ${{PIPESTATUS[0]}}")
    assert (found.stdout, found.stderr) == ("141\n", "")


def test_closed_streams_are_nowhere_and_take_no_files():
    found = shell(f"{SHELL} envs --json 2>&-")
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)[0]["id"] == "ucls/RiverSwim-v0"
    found = shell(f"{SHELL} nonsense 2>&-; echo $?")
    assert (found.stdout, found.stderr) == ("2\n", "")
    found = shell(f"{SHELL} envs >&-; echo $? >&2")
    assert (found.stdout, found.stderr) == ("", "0\n")
    code = "import os; from ucls.cli.output import streams; streams.prepare(); print(os.readlink('/proc/self/fd/2'))"
    found = shell(f'{sys.executable} -c "{code}" 2>&-')
    assert found.stdout == "/dev/null\n"


def test_a_width_of_0_is_none(monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    monkeypatch.setenv("LINES", "40")
    streams.prepare()
    assert command("algorithms").stdout.startswith("ucls-plan  UCLS-Plan: optimistic least-squares value iteration")


def test_steps_that_are_none_are_refused(tmp_path):
    agent = Agent("ucls/RiverSwim-v0", "sarsa")
    for steps in (-1, 1.5):
        with pytest.raises(UserError, match="steps cannot be"):
            agent.explain(tmp_path / "maps.html", steps=steps)
    assert agent.steps == 0
