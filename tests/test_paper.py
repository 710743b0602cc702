"""The paper's figures and claims: the runs they name exist, verdicts follow from intervals, the report is whole."""

import json
import re

import numpy as np
import pytest
import typer

from support.paper import pretend
from ucls import cli
from ucls.cli.output.show import show_claims
from ucls.core.history import History
from ucls.errors import UserError
from ucls.paper import account, shipped
from ucls.paper import reproduce as paper
from ucls.paper.claims import judge_all
from ucls.paper.claims.check import Check, Claim, apart, at_least, better, part, turned, within
from ucls.paper.contents import PARTS, groups_of, parts_of
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.figures.figure_1 import curve_panel
from ucls.paper.report import Verdict
from ucls.paper.runs.domains import PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import FULL, QUICK, cells_of, scale_of, tuned, ucls, winners
from ucls.paper.runs.sweeps import RUNS, SIZE, all_sweeps
from ucls.paper.tables import table_causes, table_open_choices
from ucls.stats import Estimate, Summary
from ucls.study import Store
from ucls.study.declaration.sweep import TUNING, candidates, sweep_cells
from ucls.study.storage.result import summarize


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "runs.sqlite"
    with Store(path, write=True) as store:
        paper.run_study(store, paper.study_of(parts_of([]), QUICK), pretend, quiet=True)
        yield Evidence(store, QUICK)


def sample(values, seeds=None, sign=1):
    return Sample(np.arange(len(values)) if seeds is None else np.array(seeds), sign * np.array(values, float), sign)


# The runs


def test_every_sweep_has_the_same_budget_on_seeds_that_are_never_reported():
    """But for those that ask what a larger budget would have found, and whose winners no figure shows."""
    reported = {cell.seed for group in groups_of(PARTS) for cell in cells_of(group, QUICK)}
    assert max(reported) < TUNING
    for sweep in all_sweeps().values():
        wide = {"dgpq-wide": 4, "ucls-joint": 2}.get(sweep.label, 1)
        assert (len(candidates(sweep)), sweep.runs) == (wide * SIZE, RUNS), sweep.label
        seeds = {cell.seed for cell in sweep_cells(sweep, candidates(sweep)[0])}
        assert seeds == {TUNING + i for i in range(RUNS)}


def test_the_committed_winners_are_the_best_of_their_tables():
    found = winners()
    every = all_sweeps()
    later = {
        key for key in every if key.endswith(" room") or key.startswith(("ucls-scale", "ucls-joint"))
    }  # may be made later
    assert set(every) - later <= set(found) <= set(every)
    for key, table in found.items():
        sweep = every[key]
        sound = [trial for trial in table["trials"] if trial["diverged"] == 0]
        assert table["settings"] == max(sound, key=lambda trial: trial["score"])["settings"], key
        tried = [trial["settings"] for trial in table["trials"]]
        assert all(settings in tried for settings in candidates(sweep)), key


def test_a_heavy_group_may_have_fewer_runs():
    scale = scale_of(30, heavy=10)
    assert len(cells_of(tuned("lspi-rmax", SPARSE), scale)) == 10
    assert len(cells_of(ucls(SPARSE), scale)) == 30
    assert scale_of() == QUICK


def test_an_open_choice_changes_the_run():
    for choice in table_open_choices.CHOICES:
        assert (
            cells_of(table_open_choices.group_of(choice, "ucls"), FULL)[0].id != cells_of(ucls(choice.env), FULL)[0].id
        )


def test_an_experiment_changes_something_of_the_same_algorithm_in_the_same_domain():
    for one in table_causes.experiments():
        assert (one.group.agent, one.group.env) == (one.usual.agent, one.usual.env)
        if one.group.key != "dgpq-wide":  # a larger sweep may find the same settings
            assert cells_of(one.group, FULL)[0].id != cells_of(one.usual, FULL)[0].id, one.changed


# Verdicts


def test_better_follows_from_the_paired_interval(evidence):
    high, low = sample([11.0, 12.0, 13.0, 14.0]), sample([1.0, 2.0, 3.0, 4.5])
    assert better(evidence, high, low, "")[0].holds is True
    assert better(evidence, low, high, "")[0].holds is False
    assert better(evidence, high, sample([12.0, 11.0, 14.0, 13.0]), "")[0].holds is None
    assert better(evidence, high, sample([]), "what") == [Check("what", "not run", None, 0)]


def test_fewer_steps_are_better_and_shown_as_they_are(evidence):
    [check] = better(evidence, sample([100.0, 101.0], sign=-1), sample([200.0, 203.0], sign=-1), "")
    assert check.holds is True
    assert check.found.startswith("-101 [")


def test_diverged_runs_lose_and_are_counted(evidence):
    lost = Sample(np.arange(8), np.full(8, -np.inf), 1)
    [check] = better(evidence, sample(np.arange(8)), lost, "")
    assert check.holds is True
    assert "8 of 8 diverged" in check.found
    assert better(evidence, lost, lost, "")[0].holds is None
    assert at_least(Summary(None, None, None, 0, 3), 1.0, "")[0].holds is False
    assert at_least(Summary(2.0, 1.5, 2.5, 20, 3), 1.0, "")[0].holds is None
    half = Sample(np.arange(20), np.where(np.arange(20) < 10, -np.inf, 1.0), 1)
    [check] = better(evidence, sample(np.ones(20)), half, "")
    assert (check.holds, check.runs, check.found) == (
        True,
        20,
        "0 [0, 0] in 10 sound pairs, 0 of 20 and 10 of 20 diverged",
    )
    assert apart(evidence, half, sample(np.ones(20)), -0.1, 0.1, "")[0].holds is None


def test_levels_and_parts():
    assert at_least(Summary(2.0, 1.5, 2.5, 9, 0), 1.0, "")[0].holds is True
    assert at_least(Summary(2.0, 0.5, 2.5, 9, 0), 1.0, "")[0].holds is None
    assert within(Estimate(0.0, -0.1, 0.1), -0.2, 0.2, "", 5)[0].holds is True
    assert within(Estimate(1.0, 0.9, 1.1), -0.2, 0.2, "", 5)[0].holds is False
    assert part(0, 30, "", most=0.5)[0].holds is True
    assert part(30, 30, "", most=0.5)[0].holds is False
    assert part(2, 3, "", least=0.5)[0].holds is None


def test_the_verdict_is_as_weak_as_the_weakest_check():
    yes, no, perhaps = (Check("", "", holds, 7) for holds in (True, False, None))
    assert Claim(1, "", None, (yes, yes)).words == "reproduced"
    assert Claim(1, "", None, (yes, perhaps)).words == "inconclusive with 7 runs"
    assert Claim(1, "", None, (yes, perhaps, no)).words == "not reproduced"
    assert Claim(1, "", None, (yes, no), depends="p").words == "sensitive to p"
    assert Claim(1, "", None, ()).words.startswith("inconclusive")


def test_a_verdict_is_a_kind_whatever_its_words():
    yes, no = (Check("", "", holds, 7) for holds in (True, False))
    assert Claim(1, "", None, (yes, yes)).verdict is Verdict.REPRODUCED
    assert Claim(1, "", None, (yes, no)).verdict is Verdict.NOT_REPRODUCED
    assert Claim(1, "", None, (yes, no), depends="what was not reproduced").verdict is Verdict.DEPENDS
    assert Claim(1, "", None, (yes, no), short=True).verdict is Verdict.UNDECIDED
    assert Claim(1, "", None, (yes, no), depends="p").as_data()["verdict"] == "sensitive to p"


def test_every_kind_of_verdict_has_a_color_on_the_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    yes, no, perhaps = (Check("", "", holds, 7) for holds in (True, False, None))
    claims = [Claim(i, "", None, checks) for i, checks in enumerate([(yes,), (no,), (perhaps,)])]
    claims.append(Claim(3, "", None, (no,), depends="p"))
    show_claims(account.Reproduction(claims, [], [], True, {}, ""), tmp_path)
    shown = capsys.readouterr().out
    colors = {32: "reproduced", 31: "not reproduced", 33: "inconclusive", 36: "sensitive"}
    assert all(f"\x1b[{color}m{words}\x1b[0m" in shown for color, words in colors.items())


def test_every_claim_has_one_line_of_a_terminal_with_both_verdicts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    quick = shipped.load()._replace(claims=[claim._replace(short=True) for claim in shipped.load().claims])
    show_claims(quick, tmp_path)
    lines = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines[:22])) <= 80
    assert [line.split("  ")[0].strip() or line.split()[0] for line in lines[3:21]] == [str(n) for n in range(1, 19)]
    assert re.search(r"^ 1  UCLS ends best in all three domains +inconclusive +not reproduced *$", lines[3])


def test_a_verdict_turns_on_what_decides_it_the_other_way():
    yes, no, perhaps = (Check("", "", holds, 7) for holds in (True, False, None))
    failed, held = Claim(1, "", None, (yes, no)), Claim(1, "", None, (yes, yes))
    assert turned(failed, {"p": [yes], "beta": [yes, perhaps], "q": [no]}).words == "sensitive to p"
    assert turned(held, {"a": [no], "b": [yes], "c": [no, perhaps], "d": [no]}).words == "sensitive to a, c and d"
    assert turned(held, {"a": [perhaps]}).words == "reproduced"
    assert turned(Claim(1, "", None, (perhaps,)), {"a": [yes]}).words == "inconclusive with 7 runs"


def test_idling_does_not_look_good_early_where_every_step_costs(evidence):
    ends = np.zeros(2000, np.uint8)
    idle = summarize(History(-np.ones(2000), ends), 100)
    quick = summarize(History(-1.5 * np.ones(2000), np.tile([*[0] * 19, 1], 100).astype(np.uint8)), 100)
    fake = Evidence(evidence.store, FULL)
    mine, theirs = ucls(PUDDLE), tuned("ucls-l", PUDDLE)
    fake._kept |= {mine: [(0, quick)], theirs: [(0, idle)]}
    assert fake.early(mine, 0.5).scores == pytest.approx([-1500 / 51])
    assert fake.early(theirs, 0.5).scores == pytest.approx([-1000])


def test_a_run_that_stopped_early_is_drawn_where_it_was(evidence):
    fake = Evidence(evidence.store, FULL)
    fake._kept[ucls(RIVER)] = [(0, summarize(History(np.ones(250), np.zeros(250, np.uint8), True), 100))]
    [line] = curve_panel(fake, RIVER, {"ucls": ucls(RIVER)}).lines
    assert line.at.tolist() == [0.1, 0.2, 0.25]  # thousands of steps
    assert line.center[:2].tolist() == [1.0, 1.0]


def test_a_quick_look_decides_nothing_about_learning(evidence, monkeypatch):
    monkeypatch.setattr("ucls.paper.claims.bounds.COVERAGE_RUNS", 20)
    verdicts = {claim.number: claim.words for claim in judge_all(evidence)}
    assert {verdicts[number] for number in set(verdicts) - {11, 12, 13}} == {"inconclusive: a quick look"}


def test_what_was_not_run_keeps_a_claim_open(evidence):
    yes = Check("", "", True, 7)
    assert Claim(1, "", None, (yes, Check("", "not run", None, 0))).words == "inconclusive with 0 runs"
    assert Claim(1, "", None, (Check("", "not run", None, 0),)).words == "inconclusive: nothing was run"


def test_every_claim_is_judged(evidence, monkeypatch):
    monkeypatch.setattr("ucls.paper.claims.bounds.COVERAGE_RUNS", 20)
    found = judge_all(evidence)
    assert [claim.number for claim in found] == list(range(1, 20))
    for claim in found:
        assert json.dumps(claim.as_data())
        if claim.number != 11:  # it needs learners, which nobody pretended
            assert claim.checks, claim.sentence
    [first] = [claim for claim in found if claim.number == 1]
    assert all(check.holds for check in first.checks if check.what.startswith("River Swim"))


# The whole


@pytest.mark.parametrize("part", [part for part in parts_of([]) if part.name != "9"], ids=lambda part: part.name)
def test_every_figure_has_lines(evidence, part):
    for plot in part.plots(evidence):
        assert all(panel.lines for panel in plot.panels), plot.name
        for panel in plot.panels:
            assert all(np.isfinite(line.center).all() for line in panel.lines)


def test_the_report_is_written_with_its_figures(tmp_path, evidence):
    out = tmp_path / "out"
    found = paper.reproduce(out, QUICK, ["2", "choices", "causes"], evidence.store, pretend, quiet=True)
    assert found.complete
    assert [claim.number for claim in found.claims] == [5]
    assert {path.name for path in out.iterdir()} == {
        "figure-2.png",
        "figure-2.svg",
        "report.html",
        "claims.json",
    }
    report = (out / "report.html").read_text()
    assert "Quick look" in report
    assert "The same from the shipped 30 runs" in report
    assert "<b>Every p works for UCLS, none for GV-UCB</b>" in report
    assert "<code>ucls paper run --runs 30</code>" in report
    data = json.loads((out / "claims.json").read_text())
    assert [claim["shipped"] for claim in data["claims"]] == ["not reproduced"]
    rows = {table["title"]: table["rows"] for table in data["tables"]}
    assert len(rows["Unspecified details"]) == len(table_open_choices.CHOICES)
    assert len(rows["Ablations"]) == len(table_causes.experiments())
    assert ["ucls", "River Swim", "defaults", "10,000", "5", "0", "10,000"] in rows["What was run"]


def test_an_unknown_figure_is_named():
    with pytest.raises(UserError, match="unknown figure '4'"):
        parts_of(["4"])


def test_every_part_has_figures_or_a_table_and_the_command_names_it():
    words = next(
        p.help for p in typer.main.get_command(cli.app).commands["paper"].commands["run"].params if p.name == "only"
    )
    named = re.findall(r"[\w-]+", words.replace("5 to 9", "5 6 7 8 9"))
    for one in PARTS:
        assert one.name in named, one.name
        assert bool(one.title) == hasattr(one.module, "rows") == hasattr(one.module, "HEADS")
        assert one.title or hasattr(one.module, "plots")
