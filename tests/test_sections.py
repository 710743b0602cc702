"""A reproduction part by part: what is exported is assembled as it was, and what does not belong together refused."""

import json
import re
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from support.paper import pretend
from ucls import cli
from ucls.errors import UserError
from ucls.paper import account, commits, sections
from ucls.paper import reproduce as paper
from ucls.paper.contents import PARTS, parts_of
from ucls.paper.groups import scale_of
from ucls.study import Store

NAMES = ["2", "8", "choices"]
SCALE = scale_of(2)
PAGE = "<!-- verdicts -->\n<!-- end -->\n<!-- unspecified details -->\n<!-- end -->\n"
PAGE += "![p](figure-2.png) ![b](figure-8.png)\n<!-- what was run -->\n<!-- end -->\n<!-- facts -->\n<!-- end -->\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All parts at once, and the folder with each on its own."""
    folder = tmp_path_factory.mktemp("sections")
    with Store(folder / "runs.sqlite", write=True) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "write", lambda made, out: None)
        whole = paper.reproduce(folder / "out", SCALE, NAMES, store, pretend, quiet=True)
        paper.export(folder / "parts", SCALE, NAMES, store)
    return whole, folder / "parts"


@pytest.fixture
def page(tmp_path):
    """A page in a checkout whose history has the commit that the parts were made with."""
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(PAGE)
    return page


@pytest.fixture
def parts(made, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for path in made[1].glob("*.json"):
        (folder / path.name).write_text(path.read_text())
    return folder


@pytest.fixture(autouse=True)
def history(monkeypatch):
    here = commits.commit_at(sections.code())
    monkeypatch.setattr(commits, "exists", lambda commit, folder: commit == here)


def spoil(path, **facts):
    data = json.loads(path.read_text())
    data["facts"] |= facts
    path.write_text(json.dumps(data))


def test_parts_assembled_are_what_was_made_at_once(made, page):
    whole, folder = made
    found = sections.assemble(folder, page)
    assert found.claims == whole.claims
    assert {t[0]: t[2] for t in found.tables}["Unspecified details"] == whole.tables[0][2]
    ran = [{tuple(row) for row in {t[0]: t[2] for t in made.tables}[account.RAN]} for made in (found, whole)]
    assert ran[0] == ran[1]
    assert found.facts["runs"] == whole.facts["runs"]
    assert found.facts["commit"] == commits.commit_at(sections.code())
    assert found.complete
    for mine, theirs in zip(found.plots, whole.plots, strict=True):
        assert (mine.name, mine.title, mine.note) == (theirs.name, theirs.title, theirs.note)
        for a, b in zip(mine.panels, theirs.panels, strict=True):
            assert a._replace(lines=()) == b._replace(lines=())
            for line, other in zip(a.lines, b.lines, strict=True):
                np.testing.assert_allclose(line.center, other.center, rtol=1e-5)
                assert (line.low is None) == (other.low is None)


def test_one_command_fills_the_page(made, page, tmp_path):
    words = ["paper", "--assemble", str(made[1]), "--page", str(page), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert "| 5 | River Swim" in text
    assert f"| commit | {commits.commit_at(sections.code())} |" in text
    assert (page.parent / "figure-2.png").is_file()


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"numerics": "0"}, "part 8 has results version 0, the code 1: rerun it"),
        ({"commit": "0000000"}, "part 8 was made at commit 0000000, which does not exist"),
        ({"commit": ""}, "which does not exist"),
        ({"scale": "30 runs"}, "part 8 is of 30 runs, part 2 of 2 runs"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(parts, page, facts, complaint):
    spoil(parts / "8.json", **facts)
    with pytest.raises(UserError, match=re.escape(complaint)):
        sections.assemble(parts, page)
    assert page.read_text() == PAGE


def test_a_part_that_lacks_runs_or_is_missing_or_is_something_else_is_named(parts, page, tmp_path):
    data = json.loads((parts / "choices.json").read_text())
    (parts / "choices.json").write_text(json.dumps({**data, "complete": False}))
    with pytest.raises(UserError, match="part choices lacks runs"):
        sections.assemble(parts, page)
    (parts / "choices.json").unlink()
    with pytest.raises(UserError, match="lacks choices: `ucls paper --only choices --runs N --export"):
        sections.assemble(parts, page)
    for text in ("", "{}", "[]", '{"part": 3}', json.dumps({**data, "part": "../x"})):
        (parts / "choices.json").write_text(text)
        with pytest.raises(UserError, match=r"choices\.json (is not a|has an unknown) part"):
            sections.assemble(parts, page)


def test_the_pages_of_the_shipped_reproduction_need_all_of_the_paper(made, page):
    page.write_text("<!-- data claims.json -->\n" + PAGE)
    with pytest.raises(UserError, match=r"no page beside .* shows 'Learned covariance': add <!-- learned"):
        sections.assemble(made[1], page)
    more, marks = page.parent / "page-more.md", "<!-- csv learned covariance: learned.csv -->\n"
    more.write_text(marks)
    with pytest.raises(UserError, match=r"lacks 1, 3, 5, 6, 7, 9, mountain-car, theorem, learned: "):
        sections.assemble(made[1], page)
    more.write_text(marks + "<!-- ablations -->\n<!-- end -->\n")
    with pytest.raises(UserError, match=r"mountain-car, theorem, learned, causes: "):
        sections.assemble(made[1], page)
    page.write_text(page.read_text().replace("<!-- unspecified details -->", "<!-- facts -->"))
    with pytest.raises(UserError, match=r"no page beside .* shows 'Unspecified details': add <!-- unspecified"):
        sections.assemble(made[1], page)  # which is among the parts


def test_a_part_is_exported_from_code_that_a_commit_has(monkeypatch, tmp_path):
    words = ["paper", "--only", "8", "--export", str(tmp_path)]
    assert "--runs or --full" in str(CliRunner().invoke(cli.app, words).exception)
    monkeypatch.setattr(commits, "is_changed", lambda folder: True)
    assert "commit them, then export" in str(CliRunner().invoke(cli.app, [*words, "--runs", "2"]).exception)
    monkeypatch.setattr(commits, "commit_at", lambda folder: "")
    assert "from a checkout" in str(CliRunner().invoke(cli.app, [*words, "--runs", "2"]).exception)


def test_only_and_figure_are_the_same_word():
    for word in ("--only", "--figure"):
        with pytest.raises(UserError, match="unknown figure '4'"):
            raise CliRunner().invoke(cli.app, ["paper", word, "4", "--dry-run"]).exception


def test_a_commit_exists_or_does_not(tmp_path, monkeypatch):
    monkeypatch.undo()
    run = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    assert commits.commit_at(tmp_path / "nowhere") == ""
    subprocess.run([*run, "init", "-q"], check=True)
    (tmp_path / "file").write_text("1")
    subprocess.run([*run, "add", "file"], check=True)
    subprocess.run([*run, "commit", "-qm", "one"], check=True)
    head = commits.commit_at(tmp_path)
    assert commits.exists(head, tmp_path)
    assert not commits.exists("1234567", tmp_path)
    assert not commits.exists("", tmp_path)
    assert not commits.is_changed(tmp_path)
    (tmp_path / "file").write_text("2")
    assert commits.is_changed(tmp_path)


def test_every_part_of_the_paper_can_be_made_on_its_own():
    for part in PARTS:
        assert parts_of([part.name]) == [part]
        assert part.groups()
