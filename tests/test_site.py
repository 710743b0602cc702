"""The site of docs/: it is built without a warning, fetches nothing, can be searched off line, and fits a phone."""

import doctest
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support.browsers import in_a_browser, launched
from support.plan_oracle import Plan
from ucls import Agent

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install -e '.[docs]'")

ROOT = Path(__file__).parents[1]
MODULES = (
    *("docsite.algorithms", "docsite.blocks", "docsite.docstrings", "docsite.foreign", "docsite.formulas"),
    *("docsite.outside", "docsite.pictures", "docsite.sentences", "docsite.whole"),
    *("tools.marks", "tools.prose", "tools.sections", "tools.tables"),
)
PAGES = {  # a number in a file that is made from data
    "environments.md": r"(?<=CartPole-v1 \| )[\d.]+",
    "data/environments-summary.csv": r"(?<=ucls-exact,10,0,10,)[\d.]+",
    "reproduction.md": r"(?<=of )\d+(?= checks)",
    "beyond.md": r"(?<=total reward \| )10,537",
    "deviations.md": r"(?<=per step \*\*)-[\d.]+",
    "performance.md": r"(?<=ucls-exact \| )18\.6",
    "choose.md": r"(?<=\| ucls \| )[\d.]+",
}
DATA = {  # a number in data, and the file that then differs from them
    "data/environments.csv": (r"(?<=000,)[\d.]+", "data/environments-summary.csv"),
    "data/reproduction-checks.csv": (r",yes,", "data/reproduction-checks.csv"),
    "data/benchmarks/ablation.csv": (r"(?<=noise term only,\")576.7", "beyond.md"),
    "data/performance.json": (r'(?<=")18\.6(?=")', "performance.md"),
    "data/deviations.csv": (r"(?<=final reward per step,)[\d.]+,[\d.]+", "deviations.md"),
}


def build(folder, *words):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder), *words]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


@pytest.fixture
def look(browser, site):
    """Open a page; afterwards nothing may have been asked of a network, or complained of."""
    asked, complaints = [], []

    def open_page(name):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((site / name).as_uri())
        return page

    yield open_page
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    assert complaints == []


@pytest.mark.parametrize("name", MODULES)
def test_what_makes_it_does_as_its_examples_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_algorithm_has_its_settings_on_its_page(site):
    from ucls.algorithms import ALGORITHMS
    from ucls.settings import describe

    for name, path in ALGORITHMS.items():
        text = (site / "algorithms" / f"{name}.html").read_text()
        for setting in describe(importlib.import_module(path).Settings):
            assert f"<code>{setting.name}</code>" in text


def test_the_reference_says_what_an_agent_is_made_with(site):
    text = (site / "api" / "agent.html").read_text()
    for name in ("features", "discount", "low, high"):
        assert f"<code>{name}</code>" in text


def test_the_reference_has_what_agents_inherit_too(site):
    text = (site / "api" / "agent.html").read_text()
    public = [name for name, _ in inspect.getmembers(Agent, inspect.isfunction) if not name.startswith("_")]
    assert {"predict", "value_estimates", "uncertainty", "explain", "record_video"} < {*public}
    assert [name for name in public if f'id="ucls.agent.agent.Agent.{name}"' not in text] == []


def test_formulas_are_mathml_and_no_page_fetches_anything(site):
    from docsite import foreign

    text = (site / "bound.html").read_text()
    assert text.count("<math") > 20
    assert foreign.check(site) == []
    (site / "spoilt.html").write_text('<script src="https://cdn.example/x.js"></script>')
    assert foreign.check(site) == ["spoilt.html fetches https://cdn.example/x.js"]
    (site / "spoilt.html").unlink()


@pytest.fixture
def copy(tmp_path):
    """The pages and their data, without the figures."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.png", "*.svg", "*.gif", "paper"))
    return tmp_path / "docs"


def test_every_page_agrees_with_its_data():
    from tools import pages

    assert list(pages.complaints()) == []


CHANGES = ({name: (number, name) for name, number in PAGES.items()}, DATA)


@pytest.mark.parametrize("changes", CHANGES, ids=["pages", "data"])
def test_pages_that_differ_from_their_data_are_noticed_and_rewritten(copy, changes):
    from tools import pages

    for name, (number, _) in changes.items():
        before = (copy / name).read_text()
        after = re.sub(number, "12345", before, count=1)
        assert after != before, name
        (copy / name).write_text(after)
    differ = {name for _, name in changes.values()}
    assert len(differ) == len(changes), "each is noticed for its own number"
    assert differ <= {line.split()[0].removeprefix("docs/") for line in pages.stale(copy)}
    assert differ <= {str(path.relative_to(copy)) for path in pages.fill(copy)}
    assert list(pages.stale(copy)) == []


def test_a_mark_without_an_end_or_without_a_source_is_an_error():
    from tools import marks

    for text in ("<!-- a -->\n<!-- b -->\n<!-- end -->\n", "<!-- end -->\n", "<!-- a -->\n"):
        with pytest.raises(LookupError, match="do not alternate"):
            marks.filled(text, {"a": "", "b": ""})
    with pytest.raises(LookupError, match="nothing to put at the mark 'c', only at: a"):
        marks.filled("<!-- c -->\n<!-- end -->\n", {"a": ""})


def test_every_picture_of_the_site_is_a_figure_with_a_caption(site):
    framed = re.compile(r"<figure>.*?<img[^>]*>.*?<figcaption>.+?</figcaption>\s*</figure>", re.S)
    for path in site.rglob("*.html"):
        article = path.read_text().partition("<article")[2].partition("</article>")[0]
        assert "<img" not in framed.sub("", article), path.name


def test_a_picture_without_a_caption_is_an_error():
    from docsite import pictures

    [told] = pictures.complaints("new.md", "# New\n\n![Two bars](bars.png)\n\nThen a text that is no caption.\n")
    assert "new.md, line 3: bars.png has no caption" in told


def test_every_figure_of_a_claim_has_a_caption():
    from ucls.paper import shipped

    shown = set(re.findall(r"^!\[.+\]\((.+)\.png\)\n\n\*", (ROOT / "docs" / "reproduction.md").read_text(), re.M))
    assert {claim.figure for claim in shipped.load().claims if claim.figure} <= shown
    assert {path.stem for path in (ROOT / "src/ucls/paper/reference").glob("*.png")} == shown


def test_the_picture_of_optimism_shows_what_its_caption_says():
    from docsite.optimism import moments

    begun, early, later, end = moments()
    assert begun.upper.tolist() == [1.0, 1.0, 1.0]
    assert early.pulls[2] == later.pulls[2] < end.pulls[2]  # C is left alone, and tried again
    assert later.upper.argmin() == 2
    assert end.pulls[1] > 250
    assert abs(end.upper[1] - 0.6) < 0.06


def test_what_leads_nowhere_is_an_error(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    config = (ROOT / "mkdocs.yml").read_text()
    for name in ("docsite/hooks", "docsite/reference"):
        config = config.replace(name, f"{ROOT}/{name}")
    (tmp_path / "mkdocs.yml").write_text(config.replace("api/index.md", "api/missing.md"))
    with (tmp_path / "docs" / "concepts.md").open("a") as page:
        page.write("\n[there](nowhere.md) [or there](studies.md#nowhere)\n")
    (tmp_path / "docs" / "lost.md").write_text("# A page that no list has\n")
    done = build(tmp_path / "site", "--config-file", str(tmp_path / "mkdocs.yml"))
    assert done.returncode == 1
    for told in ("lost.md", "'nowhere.md'", "#nowhere", "api/missing.md"):
        assert told in done.stderr


@in_a_browser
@pytest.mark.parametrize("pages", ["*.html", pytest.param("*/**/*.html", marks=pytest.mark.slow)])
def test_no_page_is_wider_than_a_screen_or_a_phone(look, site, pages):
    """Once its script has put wide tables into boxes that scroll. Pages in folders are made from docstrings."""
    page = look("index.html")
    paths = [path for path in sorted(site.glob(pages)) if path.name != "404.html"]  # which only a server shows
    assert len(paths) > 10
    for path in paths:
        page.goto(path.as_uri())
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(f"document.documentElement.scrollWidth <= {width}", timeout=10_000)


@in_a_browser
def test_search_finds_a_word_with_no_server(look):
    page = look("index.html")
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially("pseudoinverse")
    page.locator(".md-search-result__link").first.wait_for(timeout=20_000)
    assert "evaluation.html" in page.locator(".md-search-result__link").first.get_attribute("href")


@in_a_browser
def test_the_chain_computes_the_complete_bound(look):
    """Against the batch formulas: w, what is not known, and C with each TD error at the w before its step."""
    page = look("bound.html")
    page.locator("[data-steps='100']").click()
    page.locator("[data-bar='3']").click()
    transitions = page.evaluate("chain.learner.transitions")
    assert len(transitions) == 101
    A, b, ones, S, gamma = np.eye(12), np.zeros(12), np.zeros(12), np.zeros((12, 12)), 0.9
    for i, reward, j in transitions:
        x, d = np.eye(12)[i], np.eye(12)[i] - gamma * np.eye(12)[j]
        S += (reward - d @ np.linalg.solve(A, b)) ** 2 * np.outer(x, x)
        A, b, ones = A + np.outer(x, d), b + reward * x, ones + (1 - gamma) * x
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(page.evaluate("chain.learner.w"), inverse @ b, atol=1e-10)
    np.testing.assert_allclose(page.evaluate("chain.learner.h"), inverse @ ones, atol=1e-10)
    np.testing.assert_allclose(page.evaluate("chain.learner.C"), inverse @ S @ inverse.T, atol=1e-10)
    assert "101 steps" in page.locator("#chain output").inner_text()


@in_a_browser
def test_the_chain_plans_like_the_batch_formulas(look):
    page = look("planning.html")
    page.locator("[data-steps='100']").click()
    page.locator("[data-bar='3']").click()
    rows, pairs, visited = np.eye(12), np.arange(12), page.evaluate("chain.learner.visits")
    transitions = [
        SimpleNamespace(xs=rows[i - i % 2 :][:2], a=i % 2, r=r, gamma=0.9, xs_next=rows[2 * s :][:2], starts=False)
        for i, r, s in page.evaluate("chain.learner.transitions")
    ]
    oracle = Plan(transitions, v0=10, vmin=0, prior_visits=0.03, noise_scale=2, lambda_=0)
    assert len(transitions) == 101
    assert oracle.solve() < 1e-9
    bounds = page.evaluate("[...Array(12).keys()].map((i) => chain.learner.upper(i, 10))")
    np.testing.assert_allclose(bounds, np.minimum(oracle.upper(rows), 10), atol=1e-7)
    tried = pairs[np.array(visited) > 0]
    np.testing.assert_allclose(np.array(page.evaluate("chain.learner.w"))[tried], oracle.w[tried], atol=1e-7)


def test_what_stands_between_the_marks_about_coverage_is_a_table():
    from tools import logs, marks

    text = logs.made(ROOT / "docs")[ROOT / "docs" / "log-coverage.md"]
    bodies = {found["name"]: found["body"].strip() for found in marks.SECTION.finditer(text)}
    assert {"coverage", "rerun coverage", "rerun decisions", "large", "cautious"} <= bodies.keys()
    assert [name for name, body in bodies.items() if not body.startswith("| ") or body.count("\n") < 3] == []
