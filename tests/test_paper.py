"""The paper's figures and claims: the runs they name exist, verdicts follow from intervals, the report is whole."""

import json

import numpy as np
import pytest

from ucls import paper
from ucls.errors import UserError
from ucls.history import History
from ucls.paper import choices, figure_2
from ucls.paper.claims import Check, Claim, at_least, better, judge_all, part, within
from ucls.paper.domains import CLASSIC, PUDDLE, RIVER, SPARSE
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.groups import FULL, QUICK, cells_of, contenders, scale_of, tuned, ucls, winners
from ucls.paper.sweeps import RUNS, SIZE, all_sweeps, sweep_of
from ucls.stats import Estimate, Summary
from ucls.study import Store
from ucls.study.result import summarise
from ucls.study.runner import Outcome
from ucls.study.store import Circumstance
from ucls.study.sweep import TUNING, candidates, sweep_cells

ABOUT = Circumstance(1.0, 1000.0, "here", "ucls 0", "now")


def pretend(cells, habits, stop):
    """Runs of episodes that get shorter, UCLS's the shortest: nothing is learned here."""
    for cell in cells:
        steps = min(cell.steps, 3000)
        rng = np.random.default_rng(cell.seed)
        rewards, ends = rng.random(steps) * (0.3 if cell.agent == "ucls" else 0.1), np.zeros(steps, np.uint8)
        if cell.env not in (RIVER, "ucls/OneState-v0"):
            ends[np.unique(np.minimum(np.cumsum(rng.integers(20, 200, 80)), steps - 1))] = 1
            rewards = -np.ones(steps) if cell.env in (PUDDLE, CLASSIC) else ends.astype(float)
        more = {}
        if cell.probe:
            names = ("step", "optimism", "radius", "value_error", "regret", "optimistic", "holds")
            more = {f"probe.{name}": np.arange(5.0) for name in names}
        yield Outcome(cell.id, summarise(History(rewards, ends), cell.resolution, more), ABOUT)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "runs.sqlite"
    with Store(path, write=True) as store:
        paper.conduct(store, paper.study_of(list(paper.FIGURES), QUICK), pretend, quiet=True)
        yield Evidence(store, QUICK)


def sample(values, seeds=None, sign=1):
    return Sample(np.arange(len(values)) if seeds is None else np.array(seeds), sign * np.array(values, float), sign)


# The runs


def test_the_full_protocol_is_the_papers():
    cells = {env: cells_of(ucls(env), FULL) for env in (RIVER, PUDDLE, SPARSE)}
    assert {env: (len(c), c[0].steps) for env, c in cells.items()} == {
        RIVER: (100, 50_000),
        PUDDLE: (200, 50_000),
        SPARSE: (200, 50_000),
    }
    assert cells_of(paper.extras.long_rlsvi(), FULL)[0].steps == 1_000_000


def test_ucls_is_untuned_and_every_competitor_is_tuned():
    for env in (RIVER, PUDDLE, SPARSE):
        found = contenders(env)
        assert found["ucls"].settings == ()
        for key in set(found) - {"ucls"}:
            assert dict(found[key].settings).items() >= winners()[f"{key} {env}"]["settings"].items()


def test_every_sweep_has_the_same_budget_on_seeds_that_are_never_reported():
    reported = {cell.seed for group in paper.groups_of(list(paper.FIGURES)) for cell in cells_of(group, QUICK)}
    assert max(reported) < TUNING
    for sweep in all_sweeps():
        assert (len(candidates(sweep)), sweep.runs) == (SIZE, RUNS), sweep.label
        seeds = {cell.seed for cell in sweep_cells(sweep, candidates(sweep)[0])}
        assert seeds == {TUNING + i for i in range(RUNS)}


def test_the_committed_winners_are_the_best_of_their_tables():
    found = winners()
    assert set(found) == {f"{sweep.label} {sweep.env}" for sweep in all_sweeps()}
    for key, table in found.items():
        label, env = key.split(" ")
        sweep = sweep_of(label, env)
        sound = [trial for trial in table["trials"] if trial["diverged"] == 0]
        assert table["settings"] == max(sound, key=lambda trial: trial["score"])["settings"], key
        tried = [trial["settings"] for trial in table["trials"]]
        assert all(settings in tried for settings in candidates(sweep)), key


def test_a_heavy_group_may_have_fewer_runs():
    scale = scale_of(30, heavy=10)
    assert len(cells_of(tuned("lspi-rmax", SPARSE), scale)) == 10
    assert len(cells_of(ucls(SPARSE), scale)) == 30
    assert scale_of() == QUICK


def test_the_levels_of_figure_2_are_the_papers():
    assert (1e-5, *(round(k * 1e-3, 3) for k in range(1, 10)), 1e-2, 1e-1) == figure_2.LEVELS


def test_an_open_choice_changes_the_run():
    for choice in choices.CHOICES:
        assert cells_of(choices.group_of(choice, "ucls"), QUICK)[0].id != cells_of(ucls(choice.env), QUICK)[0].id


# Verdicts


def test_better_follows_from_the_paired_interval(evidence):
    high, low = sample([11.0, 12.0, 13.0, 14.0]), sample([1.0, 2.0, 3.0, 4.5])
    assert better(evidence, high, low, "")[0].holds is True
    assert better(evidence, low, high, "")[0].holds is False
    assert better(evidence, high, sample([12.0, 11.0, 14.0, 13.0]), "")[0].holds is None
    assert better(evidence, high, sample([]), "") == []


def test_fewer_steps_are_better_and_shown_as_they_are(evidence):
    [check] = better(evidence, sample([100.0, 101.0], sign=-1), sample([200.0, 203.0], sign=-1), "")
    assert check.holds is True
    assert check.found.startswith("-101 [")


def test_diverged_runs_lose_and_are_counted(evidence):
    lost = Sample(np.arange(3), np.full(3, -np.inf), 1)
    [check] = better(evidence, sample([1.0, 2.0, 3.0]), lost, "")
    assert check.holds is True
    assert "3 of 3 diverged" in check.found
    assert at_least(Summary(None, None, None, 0, 3), 1.0, "")[0].holds is False


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
    assert Claim(1, "", None, (yes, yes)).verdict == "reproduced"
    assert Claim(1, "", None, (yes, perhaps)).verdict == "undecided with 7 runs"
    assert Claim(1, "", None, (yes, perhaps, no)).verdict == "not reproduced"
    assert Claim(1, "", None, (yes, no), depends="p").verdict == "depends on p"
    assert Claim(1, "", None, ()).verdict.startswith("undecided")


def test_all_eighteen_claims_are_judged(evidence, monkeypatch):
    monkeypatch.setattr("ucls.paper.claims_of_bounds.COVERAGE_RUNS", 20)
    found = judge_all(evidence)
    assert [claim.number for claim in found] == list(range(1, 19))
    for claim in found:
        assert json.dumps(claim.as_data())
        if claim.number != 11:  # it needs learners, which nobody pretended
            assert claim.checks, claim.sentence
    [first] = [claim for claim in found if claim.number == 1]
    assert all(check.holds for check in first.checks if check.what.startswith("River Swim"))


# The whole


@pytest.mark.parametrize("name", [name for name in paper.FIGURES if name not in ("choices", "9")])
def test_every_figure_has_lines(evidence, name):
    for plot in paper.FIGURES[name].plots(evidence):
        assert all(panel.lines for panel in plot.panels), plot.name
        for panel in plot.panels:
            assert all(np.isfinite(line.centre).all() for line in panel.lines)


def test_the_report_is_written_with_its_figures(tmp_path, evidence):
    out = tmp_path / "out"
    found = paper.reproduce(out, QUICK, ["2", "choices"], evidence.store, pretend, quiet=True)
    assert found.complete
    assert [claim.number for claim in found.claims] == [5]
    assert {path.name for path in out.iterdir()} == {
        "figure-2.png",
        "figure-2.svg",
        "report.html",
        "claims.json",
        "claims.md",
    }
    assert "Quick look" in (out / "report.html").read_text()
    data = json.loads((out / "claims.json").read_text())
    assert data["tables"][0]["title"] == "Open choices"
    assert len(data["tables"][0]["rows"]) == len(choices.CHOICES)


def test_an_unknown_figure_is_named():
    with pytest.raises(UserError, match="unknown figure '4'"):
        paper.groups_of(["4"])
