"""What SECURITY.md says of files: which of them are data, and which is a program."""

from contextlib import suppress

import pytest

from support.commands import ucls as command
from ucls.errors import UserError
from ucls.study import Store

PROGRAM = """name = "s"
steps = 10
seeds = 1
[[run]]
algorithm = "ucls"
env = "os:mkdir"
set = { env.path = "made" }
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study that makes a folder if anything that it names is called, as a file and in a store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(PROGRAM)
    with Store(tmp_path / "runs.sqlite", write=True) as opened:
        opened.declare("s", [], PROGRAM, None, None)
    return tmp_path


@pytest.mark.parametrize("name", ["s", "s.toml"])
@pytest.mark.parametrize("words", ["status", "compare", "export", "retry"])
def test_looking_at_a_study_runs_nothing_that_it_names(study, words, name):
    with suppress(UserError):  # there is nothing to compare
        command("study", words, name, "--store", "runs.sqlite")
    assert not (study / "made").exists()


def test_listing_and_rescuing_a_store_runs_nothing_that_its_studies_name(study):
    command("study", "list", "--store", "runs.sqlite")
    with suppress(UserError):  # there is nothing to recover
        command("study", "recover", "new.sqlite", "--store", "runs.sqlite")
    assert not (study / "made").exists()


@pytest.mark.parametrize("name", ["s", "s.toml"])
def test_running_a_study_runs_what_it_names_as_the_page_says(study, name):
    with pytest.raises(UserError, match="which is not an environment"):
        command("study", "run", name, "--store", "runs.sqlite", "--dry-run")
    assert (study / "made").exists()
