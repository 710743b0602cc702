"""A reproduction part by part: what is exported is assembled as it was, and what does not belong together refused."""

import json
import re
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from support.paper import pretend
from tools import commits, pages, reproduction, sections
from tools.__main__ import app
from ucls.errors import UserError
from ucls.paper import account
from ucls.paper import reproduce as paper
from ucls.paper.contents import PARTS, parts_of
from ucls.paper.runs.groups import scale_of
from ucls.study import Store

NAMES = ["2", "8", "choices"]
SCALE = scale_of(2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All parts at once, and the folder with each on its own."""
    folder = tmp_path_factory.mktemp("sections")
    with Store(folder / "runs.sqlite", write=True) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "write", lambda made, out: None)
        whole = paper.reproduce(folder / "out", SCALE, NAMES, store, pretend, quiet=True)
        patch.setattr(commits, "is_changed", lambda folder: False)
        sections.export(NAMES, SCALE, store, folder / "parts")
    return whole, folder / "parts"


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
    monkeypatch.setattr(sections, "PARTS", parts_of(NAMES))


def spoil(path, **facts):
    data = json.loads(path.read_text())
    data["facts"] |= facts
    path.write_text(json.dumps(data))


def test_parts_assembled_are_what_was_made_at_once(made):
    whole, folder = made
    found = sections.assemble(folder)
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


def test_one_command_writes_the_shipped_reproduction_and_its_pages(made, tmp_path, monkeypatch):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "reproduction.md").write_text("<!-- verdicts -->\nbygone\n<!-- end -->\n<!-- csv checks: checks.csv -->\n")
    (docs / "reproduction-more.md").write_text("<!-- unspecified details -->\n<!-- end -->\n")
    found = sections.assemble(made[1])
    reproduction.write(found, tmp_path / "reference", docs)
    data = json.loads((tmp_path / "reference" / "claims.json").read_text())
    assert [table["title"] for table in data["tables"]] == ["Unspecified details"]  # what the pages show
    assert (tmp_path / "reference" / "figure-2.png").is_file()
    assert (docs / "figure-2.png").is_file()
    monkeypatch.setattr(reproduction.shipped, "load", lambda: reproduction.shipped.from_data(data))
    monkeypatch.setattr(pages, "made", reproduction.made)
    assert {path.name for path in pages.fill(docs)} == {"reproduction.md", "checks.csv", "reproduction-more.md"}
    assert "| 5 | River Swim" in (docs / "reproduction.md").read_text()
    assert "bygone" not in (docs / "reproduction.md").read_text()
    assert list(pages.stale(docs)) == []


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"numerics": "0"}, "part 8 has results version 0, the code 1: rerun it"),
        ({"commit": "0000000"}, "part 8 was made at commit 0000000, which does not exist"),
        ({"commit": ""}, "which does not exist"),
        ({"scale": "30 runs"}, "part 8 is of 30 runs, part 2 of 2 runs"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(parts, facts, complaint):
    spoil(parts / "8.json", **facts)
    with pytest.raises(UserError, match=re.escape(complaint)):
        sections.assemble(parts)


def test_a_part_that_lacks_runs_or_is_missing_or_is_something_else_is_named(parts):
    data = json.loads((parts / "choices.json").read_text())
    (parts / "choices.json").write_text(json.dumps({**data, "complete": False}))
    with pytest.raises(UserError, match="part choices lacks runs"):
        sections.assemble(parts)
    (parts / "choices.json").unlink()
    with pytest.raises(UserError, match="lacks choices: `python -m tools export choices --runs N`"):
        sections.assemble(parts)
    for text in ("", "{}", "[]", '{"part": 3}', json.dumps({**data, "part": "../x"})):
        (parts / "choices.json").write_text(text)
        with pytest.raises(UserError, match=r"choices\.json (is not a|has an unknown) part"):
            sections.assemble(parts)


def test_the_whole_paper_is_needed(made, monkeypatch):
    monkeypatch.setattr(sections, "PARTS", PARTS)
    with pytest.raises(UserError, match="lacks 1, 3, 5, 6, 7, 9, mountain-car, theorem, learned, causes, one"):
        sections.assemble(made[1])


def test_a_part_is_exported_from_code_that_a_commit_has_and_with_all_its_runs(monkeypatch, tmp_path):
    words = ["export", "8", "--store", str(tmp_path / "none.sqlite")]
    assert "give either --runs or --full" in str(CliRunner().invoke(app, words).exception)
    monkeypatch.setattr(commits, "is_changed", lambda folder: True)
    assert "commit them, then export" in str(CliRunner().invoke(app, [*words, "--runs", "2"]).exception)
    monkeypatch.setattr(commits, "is_changed", lambda folder: False)
    assert "lacks runs of part 8" in str(CliRunner().invoke(app, [*words, "--runs", "2"]).exception)
    monkeypatch.setattr(commits, "commit_at", lambda folder: "")
    assert "from a checkout" in str(CliRunner().invoke(app, [*words, "--runs", "2"]).exception)


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
