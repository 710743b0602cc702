"""The page of a comparison: complete, self-contained, and drawn by a real browser."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from support.browsers import in_a_browser, launched
from support.ring import GAMMA, often, seldom, walk
from ucls.cli import app
from ucls.errors import UserError
from ucls.evaluation import compare, read_log
from ucls.evaluation.comparison.grids import grid_of, shares
from ucls.evaluation.comparison.policies import on_log
from ucls.evaluation.page import write_report
from ucls.evaluation.page.plots import ticks


def wide_log(seed=0, episodes=80):
    """States of two numbers; the second action is never taken where the first number is large."""
    rng = np.random.default_rng(seed)
    n = 10 * episodes
    table = {name: rng.normal(size=n) for name in ("speed", "height", "reward")}
    action = (rng.random(n) < 0.5) & (table["speed"] < 0.8)
    return {**table, "episode": np.arange(n) // 10, "terminated": np.arange(n) % 10 == 9, "action": action}


def test_the_page_says_the_answer_first_and_needs_nothing_else(tmp_path):
    found = compare(walk(100, 0), {"often <b>": often, "seldom": seldom}, gamma=GAMMA)
    text = write_report(found, tmp_path / "page.html").read_text()
    assert text.index("often &lt;b&gt; is better than the logged policy") < text.index("<svg")
    assert "Safe choice" in text
    assert "<b>" not in text.replace("&lt;b&gt;", "")
    assert not re.search(r"https?://", text)
    assert text.count("<svg") == 2 * 3 + 1


def test_a_page_without_any_finite_interval_says_so(tmp_path):
    found = compare(walk(30, 0), {"other": lambda s: np.full(len(s), 9)}, gamma=GAMMA)
    text = write_report(found, tmp_path / "page.html").read_text()
    assert "No interval is finite" in text
    assert "never logged" in text


def test_cells_tell_where_actions_are_missing():
    log = read_log(wide_log())
    policy = on_log(lambda s: np.ones(len(s), int), log)
    grid = grid_of(log, policy)
    assert sorted(grid.names) == ["height", "speed"]
    assert grid.rows.sum() == log.n_steps
    across = len(grid.edges[1]) - 1
    place = np.repeat((grid.edges[0][:-1] + grid.edges[0][1:]) / 2, across)
    if grid.names[0] == "height":
        place = np.tile((grid.edges[1][:-1] + grid.edges[1][1:]) / 2, len(grid.edges[0]) - 1)
    assert grid.never[(grid.rows > 0) & (place > 1.2)].min() == 1.0
    assert grid.never[(grid.rows > 20) & (place < 0.5)].max() == 0.0
    (_, logged, new), (_, other, rest) = shares(log, policy)
    assert logged + other == pytest.approx(1.0)
    assert (new, rest) == (0.0, 1.0)


def test_ticks_are_round_and_inside():
    rng = np.random.default_rng(0)
    for low, size in zip(rng.normal(size=50) * 100, rng.random(50) * 1000, strict=True):
        found = ticks(low, low + size)
        assert 2 <= len(found) <= 6
        assert all(low - 1e-9 <= tick <= low + size + 1e-9 for tick in found)


def test_the_command_writes_a_page_and_does_not_replace_other_files(tmp_path, monkeypatch):
    table = walk(40, 1)
    rows = [",".join(f"{x!r}" for x in map(float, row)) for row in zip(*table.values(), strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([",".join(table), *rows]))
    (tmp_path / "page_rules.py").write_text("import numpy as np\ndef right(s):\n    return np.ones(len(s), int)\n")
    (tmp_path / "mine.html").write_text("precious")
    monkeypatch.syspath_prepend(str(tmp_path))
    command = ["compare-log", str(tmp_path / "log.csv"), "--policy", "page_rules:right", "--out"]
    result = CliRunner().invoke(app, [*command, str(tmp_path / "report.html")])
    assert result.exit_code == 0, result.output
    assert "Is right better than the logged policy?" in (tmp_path / "report.html").read_text()
    result = CliRunner().invoke(app, [*command, str(tmp_path / "mine.html")])
    assert isinstance(result.exception, UserError)
    assert (tmp_path / "mine.html").read_text() == "precious"


@in_a_browser
@pytest.mark.parametrize("width", [1200, 390])
def test_a_browser_shows_the_page(tmp_path, width):
    found = compare(wide_log(), {"second": lambda s: np.ones(len(s), int), "first": lambda s: np.zeros(len(s), int)})
    path = write_report(found, tmp_path / "page.html")
    with launched() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        asked, complaints = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.locator("svg").count() == 7
        boxes = [box.bounding_box() for box in page.locator("svg").all()]
        assert min(box["width"] for box in boxes) > 300
        outside = """all => all.filter(t => {
            const b = t.getBoundingClientRect(), s = t.closest('svg').getBoundingClientRect();
            return b.left < s.left - 2 || b.right > s.right + 2 || b.bottom > s.bottom + 2; }).length"""
        assert page.locator("svg text").evaluate_all(outside) == 0, "no label is cut off"
        assert page.locator("svg rect.missing").count() > 3
        assert page.locator(".answer").first.inner_text().startswith("Cannot say whether second is better")
        assert asked == [path.as_uri()]
        assert complaints == []
