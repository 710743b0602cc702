"""The report in a real browser."""

import re

import pytest

from support import plots
from support.browsers import MARKS, launched
from support.reports import CLAIMS, report
from ucls.paper import shipped
from ucls.paper.report import Reference

pytestmark = MARKS


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "report.html"
    report(path, [plots.learning(), plots.sensitivity(), plots.nothing()])
    return path.as_uri()


@pytest.fixture
def look(browser, address):
    """Open the report at a width; afterwards nothing may have been asked of a network, or complained of."""
    pages, asked, complaints = [], [], []

    def open_page(width=1200, **options):
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert {url for url in asked if not url.startswith("data:")} == {address}
    assert complaints == []


def middle(locator):
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_every_panel_is_drawn_with_lines_bands_and_optimum(look):
    page = look()
    first = page.locator("#figure-1")
    assert first.locator("svg.chart").count() == 3
    assert first.locator("svg.chart .mid").count() == first.locator("svg.chart .band").count() == 24
    assert first.locator("svg.chart line.optimum").count() == 3
    ends = first.locator("svg.chart .mid").evaluate_all("paths => paths.map(path => path.getTotalLength())")
    assert min(ends) > 50
    assert page.locator("#figure-2 svg.chart .whisker").count() == 21
    assert page.locator("#figure-nothing .none").count() == 2


def test_click_in_the_legend_hides_a_line_in_every_panel_and_double_click_leaves_it_alone(look):
    page = look()
    button = page.locator("#figure-1 .legend button", has_text=re.compile("^DGPQ$"))
    off = page.locator("#figure-1 .line.off")
    button.click()
    assert off.count() == 3
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert off.count() == 0
    button.dblclick()
    assert off.count() == 21
    button.dblclick()
    assert off.count() == 0


def test_pointing_at_a_chart_reads_value_interval_and_runs(look):
    page = look()
    page.mouse.move(*middle(page.locator("#figure-1 svg.chart").nth(1)))
    readout = page.locator("#figure-1 .readout").nth(1)
    row = readout.locator("tr", has_text=re.compile("^UCLS0")).inner_text()
    assert re.fullmatch(r"UCLS\s+0\.\d{3}\s+0\.\d{3} to 0\.\d{3}", row)
    assert re.search(r"thousand steps: 2\d.*, 30 runs", readout.inner_text())
    assert readout.locator("tr", has_text="optimum").inner_text().split() == ["optimum", "0.222"]
    page.mouse.move(5, 5)
    assert readout.is_hidden()


def test_readout_says_how_many_runs_each_line_has_where_they_differ(look):
    page = look()
    chart = page.locator("#figure-1 svg.chart").first
    chart.focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    runs = page.locator("#figure-1 .readout").first.locator("td:last-child").all_inner_texts()
    assert "30 runs" in runs
    assert len(set(runs)) > 3


def test_arrow_keys_walk_along_a_chart(look):
    page = look()
    chart = page.locator("#figure-2 svg.chart")
    chart.focus()
    page.keyboard.press("Home")
    assert "confidence p 1e-5. " in chart.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert "confidence p 0.001. " in chart.get_attribute("aria-valuetext")
    assert "UCLS 8,000 (7,200 to 8,500) 30 runs" in chart.get_attribute("aria-valuetext")
    page.keyboard.press("Escape")
    assert page.locator("#figure-2 .readout").is_hidden()


def test_claims_are_filtered_by_verdict(look):
    page = look()
    rows = page.locator(".claims tbody tr:visible")
    assert rows.count() == 4
    page.locator(".filter button", has_text="not reproduced").click()
    assert rows.count() == 1
    assert "classic Mountain Car" in rows.inner_text()
    page.locator(".filter button", has_text="all").click()
    assert rows.count() == 4


@pytest.mark.parametrize("width", [360, 820, 1600])
def test_page_never_scrolls_sideways(look, width):
    page = look(width, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for details in page.locator("details summary").all():
        details.click()
    chart = page.locator("#figure-1 svg.chart").first
    chart.scroll_into_view_if_needed()
    chart.tap()
    box = page.locator("#figure-1 .readout").first.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_page_with_a_reference_and_its_checks_never_scrolls_sideways(browser, tmp_path, width):
    checks = [{"what": f"what is measured {k} " * 4, "found": "3 [2, 4]", "holds": "yes", "runs": 3} for k in range(3)]
    claims = [{**claim, "title": "In a few words", "checks": checks} for claim in CLAIMS]
    kept = Reference("the shipped 30 runs", {c["number"]: c for c in claims}, {"figure-1": shipped.picture("figure-1")})
    path = tmp_path / "report.html"
    report(path, [plots.learning(), plots.sensitivity()], claims, kept)
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    for details in page.locator(".checks summary").all():
        details.click()
    assert page.locator(".checks details[open]").count() == len(claims)
    assert page.locator("#figure-1 .pair img").bounding_box()["width"] > 500
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".filter button", has_text="not reproduced").click()
    assert page.locator(".claims > tbody > tr:visible").count() == 2
    assert page.locator(".wrap tbody tr:visible").count() == len(checks)
    page.close()


def test_dark_screens_get_a_dark_page_and_paper_a_white_one(look):
    page = look(color_scheme="dark")
    color = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(color) == "rgb(20, 24, 29)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(color) == "rgb(255, 255, 255)"


def test_page_without_scripts_shows_pictures_and_numbers(look):
    page = look(java_script_enabled=False)
    images = page.locator("#figure-1 img")
    assert images.bounding_box()["width"] > 500
    assert page.locator(".filter").is_hidden()
    page.locator("#figure-1 summary").click()
    assert "UCBootstrap" in page.locator("#figure-1 details").inner_text()
