"""The site of docs/: it is built without a warning, fetches nothing, can be searched off line, and fits a phone."""

import doctest
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.browsers import in_a_browser, launched
from ucls import Agent

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install -e '.[docs]'")

ROOT = Path(__file__).parents[1]
MODULES = (
    *("agreement", "algorithms", "blocks", "docstrings", "foreign", "formulas", "known", "outside", "prose"),
    *("benchmarks", "measured"),
    *("pictures", "sentences", "tables", "titles", "whole"),
)


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
    assert doctest.testmod(importlib.import_module(f"docsite.{name}")).failed == 0


def test_every_algorithm_has_its_settings_on_its_page(site):
    from ucls.algorithms import ALGORITHMS
    from ucls.settings import describe

    for name, path in ALGORITHMS.items():
        text = (site / "algorithms" / f"{name}.html").read_text()
        for setting in describe(importlib.import_module(path).Hyper):
            assert f"<code>{setting.name}</code>" in text


def test_the_reference_says_what_an_agent_is_made_with(site):
    text = (site / "api" / "agent.html").read_text()
    for name in ("features", "discount", "low, high"):
        assert f"<code>{name}</code>" in text


def test_the_reference_has_what_agents_inherit_too(site):
    text = (site / "api" / "agent.html").read_text()
    public = [name for name, _ in inspect.getmembers(Agent, inspect.isfunction) if not name.startswith("_")]
    assert {"predict", "interval", "uncertainty", "explain", "record_video"} < {*public}
    assert [name for name in public if f'id="ucls.agent.agent.Agent.{name}"' not in text] == []


def test_formulas_are_mathml_and_no_page_fetches_anything(site):
    from docsite import foreign

    text = (site / "bound.html").read_text()
    assert text.count("<math") > 20
    assert foreign.check(site) == []
    (site / "spoilt.html").write_text('<script src="https://cdn.example/x.js"></script>')
    assert foreign.check(site) == ["spoilt.html fetches https://cdn.example/x.js"]
    (site / "spoilt.html").unlink()


def test_a_number_that_was_changed_by_hand_is_noticed(monkeypatch):
    from docsite import agreement

    assert list(agreement.complaints()) == []
    monkeypatch.setitem(agreement.COPIES, ("docs/choose.md", "costs and results"), lambda: "other")
    assert [line.split(":")[0] for line in agreement.complaints()] == ["docs/choose.md"]


def test_every_picture_of_the_site_is_a_figure_with_a_caption(site):
    framed = re.compile(r"<figure>.*?<img[^>]*>.*?<figcaption>.+?</figcaption>\s*</figure>", re.S)
    for path in site.rglob("*.html"):
        article = path.read_text().partition("<article")[2].partition("</article>")[0]
        assert "<img" not in framed.sub("", article), path.name


def test_a_picture_without_a_caption_is_an_error(tmp_path, monkeypatch):
    from docsite import agreement

    page = ROOT / "docs" / "index.md"
    monkeypatch.setattr(agreement, "PAGES", (page, tmp_path / "new.md"))
    (tmp_path / "new.md").write_text("# New\n\n![Two bars](bars.png)\n\nThen a text that is no caption.\n")
    told = [line for line in agreement.complaints() if "bars.png" in line]
    assert len(told) == 1
    assert "new.md, line 3: bars.png has no caption" in told[0]


def test_every_figure_of_a_claim_has_a_caption():
    from ucls.paper import shipped
    from ucls.paper.captions import CAPTIONS

    assert {claim.figure for claim in shipped.load().claims if claim.figure} <= set(CAPTIONS)
    assert {path.stem for path in (ROOT / "src/ucls/paper/reference").glob("*.png")} == set(CAPTIONS)


def test_links_are_called_what_the_list_of_pages_calls_them(site):
    text = (site / "beyond.html").read_text()
    assert ">Deviations from the paper</a>" in text.partition("<article")[2]
    assert ">departures.md<" not in text


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("environments.md", r"(?<=CartPole-v1 \| )[\d.]+"),
        ("data/environments.csv", r"(?<=000,)[\d.]+"),
        ("data/environments-summary.csv", r"(?<=CartPole-v1,ucls-exact,10,0,10,)[\d.]+"),
    ],
)
def test_a_page_and_its_data_that_disagree_are_noticed(tmp_path, file, number):
    from docsite import known

    assert list(known.complaints()) == []
    for name in ("environments.md", "data/environments.csv", "data/environments-summary.csv"):
        text = (ROOT / "docs" / name).read_text()
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(re.sub(number, "12345", text, count=1) if name == file else text)
    told = list(known.complaints(tmp_path / "environments.md", tmp_path / "data/environments.csv"))
    assert told
    assert all(line.startswith(("docs/environments.md, ", "docs/environments-summary.csv, ")) for line in told)
    known.write(tmp_path / "environments.md", tmp_path / "data/environments.csv")
    assert list(known.complaints(tmp_path / "environments.md", tmp_path / "data/environments.csv")) == []


def test_a_file_of_the_reproduction_that_disagrees_with_the_package_is_noticed(tmp_path):
    from docsite import agreement

    (tmp_path / "data").mkdir()
    for path in [*(ROOT / "docs").glob("reproduction*.md"), *(ROOT / "docs/data").glob("reproduction*.csv")]:
        (tmp_path / path.relative_to(ROOT / "docs")).write_text(path.read_text())
    assert list(agreement.of_the_reproduction(tmp_path)) == []
    checks = tmp_path / "data" / "reproduction-checks.csv"
    checks.write_text(checks.read_text().replace(",yes,", ",no,", 1))
    (tmp_path / "data" / "reproduction-tuning.csv").unlink()
    assert [line.split()[0] for line in agreement.of_the_reproduction(tmp_path)] == [
        "docs/data/reproduction-checks.csv",
        "docs/data/reproduction-tuning.csv",
    ]


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("beyond.md", r"(?<=total reward \| )10,537"),
        ("data/benchmarks/comparison.csv", r"(?<=River Swim,total reward,)\"?Sarsa, optimistic\"?,\"10,537"),
        ("data/benchmarks/ablation.csv", r"(?<=noise term only,\")576.7"),
    ],
)
def test_a_benchmark_summary_that_differs_from_its_data_is_noticed_and_rewritten(tmp_path, file, number):
    from docsite import benchmarks

    shutil.copytree(ROOT / "docs" / "data", tmp_path / "data")
    shutil.copy(ROOT / "docs" / "beyond.md", tmp_path)
    where = tmp_path / "beyond.md", tmp_path / "data" / "benchmarks"
    assert list(benchmarks.complaints(*where)) == []
    old = (tmp_path / file).read_text()
    new = re.sub(number, lambda found: found[0].replace("5", "6", 1), old)
    assert new != old
    (tmp_path / file).write_text(new)
    assert len(list(benchmarks.complaints(*where))) == 1
    benchmarks.write(*where)
    assert list(benchmarks.complaints(*where)) == []


def test_benchmark_files_are_written_from_the_tables_of_ucls_paper(tmp_path):
    from docsite import benchmarks

    table = {"title": "Long runs", "heads": ["domain", "runs"], "rows": [["River Swim", "1,000"]]}
    (tmp_path / "claims.json").write_text(json.dumps({"tables": [table, {**table, "title": "What was run"}]}))
    benchmarks.update(tmp_path / "claims.json", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["long-runs.csv"]
    assert benchmarks.rows("long-runs", tmp_path / "out") == [["River Swim", "1,000"]]


def test_a_performance_table_that_differs_from_its_data_is_noticed(tmp_path):
    from docsite import measured

    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "docs" / "data" / "performance.json", tmp_path / "data")
    page = tmp_path / "performance.md"
    page.write_text((ROOT / "docs" / "performance.md").read_text())
    assert list(measured.performance(page)) == []
    page.write_text(page.read_text().replace("| ucls-exact | 18.6 |", "| ucls-exact | 8.6 |"))
    assert [line.split("'")[1] for line in measured.performance(page)] == ["All algorithms, microseconds per step"]


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
