"""The report is one file that works offline, and shows figures, tables and claims as data has them."""

import base64
import hashlib
import json
import re

import pytest

from support import plots
from support.reports import CLAIMS, report
from ucls import stats
from ucls.paper.drawing.draw import draw
from ucls.paper.drawing.geometry import NONE
from ucls.paper.drawing.plot import Line, Panel, Plot
from ucls.paper.report import Reference, Verdict, write_report
from ucls.paper.report.data import embedded
from ucls.paper.report.numbers import picture, tables_of


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return report(tmp_path_factory.mktemp("report") / "report.html", [plots.learning(), plots.sensitivity()])


def test_the_first_figure_comes_first_then_findings_figures_claims_and_details(page):
    places = [
        page.index(f'<section id="{name}">') for name in ("first", "findings", "figures", "claims", "tables", "facts")
    ]
    assert places == sorted(places)
    assert page.index('id="figure-1"') < places[1] < page.index('id="figure-2"')
    assert re.findall(r'<tr data-kind="([^"]*)"', page) == ["inconclusive", "reproduced", "not reproduced", "sensitive"]
    assert "sensitive to trace_threshold</span>" in page
    assert '<a href="#figure-1"' in page
    assert "<li>UCLS &lt;leads&gt;.</li>" in page
    assert "<li><code>ucls paper run --full</code> more</li>" in page


def test_a_reference_stands_beside_every_claim_and_figure_that_it_has(tmp_path):
    checks = [{"what": "reward", "found": "3 [2, 4]", "holds": "yes", "runs": 1}]
    mine = {**CLAIMS[0], "title": "Best at the end", "checks": checks}
    more = {"what": "other", "found": "7", "holds": "no", "runs": 30}
    theirs = {**CLAIMS[2], "number": 1, "checks": [{**checks[0], "found": "5 [4, 6]", "runs": 30}, more]}
    kept = Reference("the <30> runs", {1: theirs}, {"figure-1": b"PNG"})
    page = report(tmp_path / "report.html", [plots.learning(), plots.sensitivity()], [mine, CLAIMS[1]], kept)
    assert '<th scope="col">this run</th><th scope="col">the &lt;30&gt; runs</th>' in page
    assert re.findall(r'<tr data-kind="([^"]*)"', page) == ["not reproduced", "reproduced"]  # the reference's, if any
    assert page.count('<span class="badge') == 3
    assert "<b>Best at the end</b>" in page
    assert "<td>reward</td><td>✓ 3 [2, 4], 1 run</td><td>✓ 5 [4, 6], 30 runs</td>" in page
    assert f"<td>other</td><td>{NONE}</td><td>✗ 7, 30 runs</td>" in page
    assert page.count("The same from the &lt;30&gt; runs") == 1
    assert f'<img src="data:image/png;base64,{base64.b64encode(b"PNG").decode()}"' in page


def test_pictures_of_a_reference_are_left_out_where_a_page_would_grow_too_large(tmp_path):
    kept = Reference("others", {}, dict.fromkeys(("figure-1", "figure-2"), b"x" * 300_000))
    page = report(tmp_path / "report.html", [plots.learning(), plots.sensitivity()], reference=kept)
    assert page.count("The same from others") == 1


def test_the_kind_of_a_verdict_does_not_follow_from_its_words(tmp_path):
    said = {**CLAIMS[0], "kind": Verdict.REPRODUCED, "verdict": "not reproduced by others, but here"}
    page = report(tmp_path / "report.html", [], [said])
    assert '<tr data-kind="reproduced">' in page
    assert '<span class="badge reproduced"><span aria-hidden="true">✓</span> not reproduced by others' in page


def test_text_of_the_user_is_never_markup(tmp_path):
    evil = "</script><script>alert(1)</script>"
    figure = plots.sensitivity(evil)._replace(title=evil, caption=evil, note=evil)
    panel = figure.panels[0]._replace(title=evil, x=evil, y=evil, optimum_label=evil)
    panel = panel._replace(lines=tuple(line._replace(label=evil) for line in panel.lines))
    claims = [{**dict.fromkeys(CLAIMS[0], evil), "kind": Verdict.UNDECIDED}]
    path = tmp_path / "report.html"
    write_report(path, evil, evil, claims, [figure._replace(panels=(panel,))], [(evil, [evil], [[evil]])], {evil: evil})
    page = path.read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)" in page


def test_policy_allows_the_own_script_and_style_and_nothing_else(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("img-src") == "data:"
    for rule, pattern in (("script-src", r"<script>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
        digest = hashlib.sha256(re.search(pattern, page, re.DOTALL)[1].encode()).digest()
        assert rules.pop(rule) == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules == {"base-uri": "'none'", "form-action": "'none'"}
    assert " style=" not in page
    assert "http" not in re.sub(r"http://www.w3.org/\d+/\w+|http-equiv", "", page)


def test_page_of_twelve_figures_stays_under_two_megabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "ucls.paper.report.charts.picture", lambda plot, most: "A" * 120_000 if most >= 120_000 else None
    )
    figures = [plots.learning(f"figure-{k}", places=2000) for k in range(12)]
    page = report(tmp_path / "report.html", figures)
    assert len(page.encode()) < 2_000_000
    assert page.count("<noscript><img") == 5
    assert page.count("<noscript><p>The chart needs scripts") == 7


def test_embedded_curves_are_thinned_to_their_ends_and_rounded():
    figure = plots.learning(places=2000)
    colors = [line.color for line in figure.panels[0].lines]
    panel = embedded([figure], colors)[0]["panels"][1]
    line = figure.panels[1].lines[0]
    assert len(panel["grids"]) == 1
    assert len(panel["grids"][0]) == 300
    assert panel["grids"][0][-1] == 50
    assert panel["lines"][0]["mid"][-1] == float(f"{line.center[-1]:.5g}")
    assert panel["lines"][0]["low"][0] == float(f"{line.low[0]:.5g}")
    assert panel["lines"][0]["runs"] == 30
    assert embedded([figure], colors)[0]["panels"][0]["lines"][7]["runs"][0] == 0


def test_places_without_a_run_are_null_in_the_data(page):
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    line = data[0]["panels"][0]["lines"][7]
    assert line["mid"][0] is None
    assert line["mid"][-1] is not None


def test_numbers_are_in_tables_for_readers_without_scripts(page):
    assert page.count('<noscript><img src="data:image/png;base64,') == 2
    assert len(picture(plots.sensitivity(), 100_000)) < 100_000
    assert picture(plots.sensitivity(), 1000) is None
    figure = plots.sensitivity()
    line = figure.panels[0].lines[0]
    assert f"<td>{line.center[0]:,.0f} ({line.low[0]:,.0f} to {line.high[0]:,.0f})</td>" in page


def test_a_line_of_single_runs_has_no_interval_in_data_tables_or_pictures(tmp_path):
    band = stats.band(stats.over_episodes([[5.0, 3.0], [4.0]]))
    line = Line("a", "#000000", band.at, band.center, band.low, band.high, band.runs)
    panel = Panel("t", "x", "y", (line, line._replace(points=True)))
    for values in embedded([Plot("p", "t", "c", (panel,))], ["#000000"])[0]["panels"][0]["lines"]:
        assert (values["mid"][1], values["low"][1], values["high"][1]) == (3.0, None, None)
    [(_, rows)] = tables_of(panel)
    assert rows[0] == ["a", "4.5 (\N{MINUS SIGN}1.853 to 10.85)", "3", "2"]
    assert draw(Plot("p", "t", "c", (panel,)), tmp_path / "figure", (".png",))


def test_report_with_nothing_in_it_still_opens(tmp_path):
    path = tmp_path / "report.html"
    write_report(path, "Empty", "", [], [plots.nothing()], [], {})
    assert "no finished run" in path.read_text(encoding="utf-8")


def test_report_is_the_same_file_twice(page, tmp_path):
    assert report(tmp_path / "again.html", [plots.learning(), plots.sensitivity()]) == page
