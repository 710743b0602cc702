"""The code of README and docs runs, with smaller numbers where a page says so; or the page says why it does not."""

import io
import re
import shlex
import tomllib
import webbrowser
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import typer

from docsite.blocks import blocks
from docsite.sentences import long
from support.commands import ucls
from ucls import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    ["README.md", "CONTRIBUTING.md", "SECURITY.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]
)
RUN = ("python", "sh")
CODE = {page: blocks((ROOT / page).read_text()) for page in PAGES}
SLOW = {"docs/diagnose.md", "docs/studies.md"}
LOGS = {"docs/evaluation.md"}  # pages that take a log of transitions for granted
MADE = {"docs/practice.md": {"best.card.md", "best.safetensors", "last.card.md", "last.safetensors", "log.csv"}}
COMMANDS = {  # of pages whose every command must run: what a reader tries first
    "README.md": {"train", "evaluate", "explain", "record-video"},
    "docs/extend.md": {"train", "check"},
}
HOURS = {"paper"}  # commands that make whole pages


def write_logs(folder):
    """A log of transitions, as arrays and as a table."""
    x = np.arange(60) % 3
    log = {"x": np.eye(512)[x], "reward": 1.0 * x, "discount": np.full(60, 0.9), "x_next": np.eye(512)[(x + 1) % 3]}
    np.savez(folder / "log.npz", **log)
    rows = [f"{s},{s},0.9,{(s + 1) % 3}" for s in x]
    (folder / "log.csv").write_text("\n".join(["state,reward,discount,state_next", *rows]))


def commands(block):
    """The commands of a block of shell, each as words, without comments and variables in front."""
    lines = block.quick.replace("\\\n", " ").splitlines()
    for words in filter(None, (shlex.split(line, comments=True) for line in lines)):
        while re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        yield words


def parse(words):
    """Read a command without running it: its name and its options must be there."""
    command, rest = typer.main.get_command(cli.app), [word for word in words if word != "--help"]
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    if hasattr(command, "commands"):
        known = [name for option in command.params for name in option.opts]
        assert set(rest) <= {*known, "--install-completion"}, f"there is no such command: {' '.join(words)}"
    else:
        command.make_context("ucls", rest)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_can_be_read_and_runs_or_says_why_not(page):
    for block in CODE[page]:
        where = f"{page}, line {block.line}"
        if block.language == "python":
            compile(block.quick, where, "exec")
        elif block.language == "toml":
            tomllib.loads(block.quick)
        elif block.language == "sh":
            found = list(commands(block))
            assert block.excuse or {words[0] for words in found} == {"ucls"}, f"{where}: say why it is not run"
            for words in found:
                if Path(words[0]).name == "ucls":
                    parse(words[1:])


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_of_any_page_is_over_sixty_words(page):
    assert long((ROOT / page).read_text(), 60) == []


RUNNABLE = [page for page in PAGES if any(block.language in RUN and not block.excuse for block in CODE[page])]


@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] if p in SLOW else []) for p in RUNNABLE])
@pytest.mark.filterwarnings("ignore::ucls.errors.UclsWarning")
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda address: True)
    monkeypatch.setattr(matplotlib, "use", lambda backend: None)
    monkeypatch.syspath_prepend(tmp_path)
    if page in LOGS:
        write_logs(tmp_path)
    said = {"__name__": "page"}
    for block in CODE[page]:
        if block.excuse:
            continue
        if block.file:
            (tmp_path / block.file).write_text(block.code)
        if block.language == "python":
            with redirect_stdout(io.StringIO()):
                exec(compile(block.quick, f"{page}, line {block.line}", "exec"), said)
        elif block.language == "sh":
            for words in (words for words in commands(block) if words[1] not in HOURS):
                found = ucls(*words[1:])
                assert found.exit_code == 0, f"{page}, line {block.line}: {' '.join(words)}\n{found.output}"
        elif block.language == "toml" and (name := tomllib.loads(block.code).get("name")):
            (tmp_path / f"{name}.toml").write_text(block.quick)
    assert MADE.get(page, set()) <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("page", COMMANDS)
def test_the_readme_and_the_page_on_extensions_run_in_every_test_run(page):
    assert page in RUNNABLE
    assert page not in SLOW
    run = [block for block in CODE[page] if not block.excuse]
    assert COMMANDS[page] <= {words[1] for block in run if block.language == "sh" for words in commands(block)}
    left = [block.excuse for block in CODE[page] if block.excuse]
    assert left in ([], ["it installs from the network", "the tests are one of the two commands"])


@pytest.mark.filterwarnings("ignore::ucls.errors.UclsWarning")
def test_the_tutorial_prints_what_it_says_at_full_size(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matplotlib, "use", lambda backend: None)
    printed, code = io.StringIO(), CODE["docs/tutorial.md"]
    with redirect_stdout(printed):
        exec("\n".join(block.code for block in code if block.language == "python"), {"__name__": "page"})
    shown = [block.code for block in code if block.language == "text"]
    assert len(shown) == 2
    for block in shown:
        assert block in printed.getvalue()
