"""The reproduction that comes with the package: its pages and its data say the same, and every claim is in it."""

import csv
import io
import json
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools import marks, reproduction
from ucls._util.palette import STYLES
from ucls.paper import shipped
from ucls.paper.claims import CLAIMS, judge_all
from ucls.paper.claims.plain import because, title_of
from ucls.paper.evidence import Evidence
from ucls.paper.findings import findings
from ucls.paper.report import Verdict
from ucls.paper.runs.domains import RIVER
from ucls.paper.runs.groups import contenders, scale_of
from ucls.study import Store

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("reproduction*.md"))
SCREENS = 900  # words of two screens, about


@pytest.fixture(scope="module")
def made():
    return shipped.load()


def test_every_part_of_the_data_is_on_a_page(made):
    shown = {name for page in PAGES for name in marks.shown(page.read_text())}
    assert shown == set(reproduction.sections(made))


def test_the_data_files_have_every_claim_and_every_check(made):
    files = {name: list(csv.DictReader(io.StringIO(text))) for name, text in reproduction.data_files(made).items()}
    assert [int(row["claim"]) for row in files["verdicts"]] == [claim.number for claim in made.claims]
    checks = [(str(claim.number), check.what, check.found) for claim in made.claims for check in claim.checks]
    assert [(row["claim"], row["check"], row["result with 95% interval"]) for row in files["checks"]] == checks


def test_the_code_makes_the_checks_that_the_data_name(made, tmp_path, monkeypatch):
    monkeypatch.setattr("ucls.paper.claims.bounds.COVERAGE_RUNS", 4)
    with Store(tmp_path / "none.sqlite", write=True) as store:
        judged = judge_all(Evidence(store, scale_of(30)))
    for here, there in zip(judged, made.claims, strict=True):
        assert here.sentence == there.sentence
        if here.number in (11, 13):  # their checks have other names until there are runs
            continue
        named, known = ({_without_numbers(check.what) for check in claim.checks} for claim in (there, here))
        assert named <= known


def _without_numbers(what):
    """The name of a check, without levels and settings that depend on its runs."""
    return re.sub(r", at (least|most) #: runs$", "", re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", what))


def test_verdicts_follow_from_the_checks():
    data = json.loads(resources.files("ucls.paper").joinpath("reference", "claims.json").read_text())
    assert [claim.words for claim in shipped.from_data(data).claims] == [claim["verdict"] for claim in data["claims"]]
    assert reproduction.as_data(shipped.from_data(data)) == data


def test_the_data_say_what_they_were_made_with(made):
    assert {"scale", "runs", "date", "commit", "numerics", "versions"} <= set(made.facts)


def test_every_claim_is_there_and_has_a_title_that_fits_a_terminal(made):
    assert [claim.number for claim in made.claims] == sorted(CLAIMS)
    assert max(len(title_of(claim)) for claim in made.claims) <= 40
    assert len({claim.title for claim in CLAIMS.values()}) == len(CLAIMS)


def test_a_reason_is_given_only_for_the_verdict_that_it_explains(made):
    first = made.claims[0]
    assert first.verdict is Verdict.NOT_REPRODUCED
    assert because(first)
    assert because(first._replace(short=True)) == ""


def test_every_figure_of_a_claim_has_a_picture_in_the_package_and_in_the_docs(made):
    for name in {claim.figure for claim in made.claims} - {None}:
        assert shipped.picture(name).startswith(b"\x89PNG")
        assert (DOCS / f"{name}.png").is_file()
    assert shipped.picture("nothing") is None


def test_the_front_page_is_short_and_its_links_lead_somewhere():
    text = (DOCS / "reproduction.md").read_text()
    assert len(text.partition("## Figures")[0].split()) < SCREENS
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (DOCS / link).exists(), (page.name, link)


def test_findings_are_of_this_run_and_of_the_shipped_one(made):
    here = [claim._replace(checks=tuple(check._replace(runs=3) for check in claim.checks)) for claim in made.claims]
    first = here[0]._replace(checks=tuple(check._replace(holds=None) for check in here[0].checks))
    ahead, number, agreed = findings([first, *here[1:]], made)
    rivals = len(first.checks)
    assert ahead == (
        f"UCLS ends ahead in 0 of {rivals} comparisons with tuned baselines here, with 3 runs each, and in "
        f"{made.claims[0].held} in the shipped 30 runs."
    )
    assert re.search(r" is (\S+ \[.*?\]) here \(3 runs\) and \1 in the shipped 30 runs\.$", number)
    settled, lost = (
        sum(check.holds is not None for claim in claims for check in claim.checks)
        for claims in (made.claims, made.claims[:1])
    )
    assert agreed == (
        f"Of the {settled} checks that the shipped 30 runs decide, {settled - lost} come out the same way here, "
        f"0 the other way, and {lost} stay open."
    )


def test_findings_of_what_was_not_run_are_none_and_of_part_of_the_claims_are_of_those(made):
    lost = [claim._replace(checks=()) for claim in made.claims]
    assert findings(lost, made) == []
    assert findings([], made) == []
    said = findings([claim for claim in made.claims if claim.number == 6], made)
    assert said[0].startswith("The mean return of UCLS minus that of DGPQ in Mountain Car is ")
    assert said[1].startswith("Of the 2 checks")


def test_the_shipped_pictures_keep_the_colors_of_their_lines():
    picture = np.asarray(Image.open(io.BytesIO(shipped.picture("figure-1"))).convert("RGB"), int)
    for key in contenders(RIVER):
        color = [int(STYLES[key][1][i : i + 2], 16) for i in (1, 3, 5)]
        assert np.abs(picture - color).max(axis=2).min() < 20, key
