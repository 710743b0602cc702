"""Verdicts: what decides them, what they turn on, and that many checks do not make a false one likelier."""

import numpy as np
import pytest

from ucls.envs import one_state
from ucls.paper import shipped
from ucls.paper.claims import CLAIMS, judge_all, variants
from ucls.paper.claims.check import MOST, Check, Claim, by_chance, most_reach, not_run, part, turned
from ucls.paper.contents import PARTS, groups_of, parts_of
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.figures import figure_5, figure_6, figure_theorem
from ucls.paper.report import Verdict
from ucls.paper.runs import alternatives, domains
from ucls.paper.runs.domains import PRINTED, PUDDLE, RIVER, ROOM, SPARSE
from ucls.paper.runs.groups import (
    ENOUGH,
    FULL,
    MAIN,
    QUICK,
    SHARES,
    cells_of,
    scale_of,
    tuned,
    ucls,
    winners,
)
from ucls.paper.runs.sweeps import all_sweeps, candidates_of, chosen_sweeps, key_of
from ucls.paper.tables import table_learned, table_one_setting, table_open_choices


def check(holds, p=None, runs=30):
    return Check("", "", holds, runs, p)


def test_one_failure_of_many_checks_decides_only_if_their_number_does_not_explain_it():
    many = [check(True, 0.001)] * 19
    assert Claim(1, "", None, (check(False, 0.04),)).verdict is Verdict.NOT_REPRODUCED
    assert Claim(1, "", None, (check(False, 0.04), *many)).words == "inconclusive with 30 runs"
    assert Claim(1, "", None, (check(False, 0.001), *many)).verdict is Verdict.NOT_REPRODUCED
    assert Claim(1, "", None, (check(False), *many)).verdict is Verdict.NOT_REPRODUCED  # without p


def test_false_failures_stay_rare_however_many_checks_there_are():
    """Of 20 checks at their line, one in three claims would fail by chance without the correction."""
    rng, lost, uncorrected = np.random.default_rng(0), 0, 0
    for _ in range(300):
        checks = [c for n in rng.binomial(100, 0.5, 20) for c in part(int(n), 100, "", least=0.5)]
        lost += Claim(1, "", None, tuple(checks)).verdict is Verdict.NOT_REPRODUCED
        uncorrected += any(c.holds is False for c in checks)
    assert uncorrected / 300 > 0.25
    assert lost / 300 < 0.06


def test_a_verdict_turns_only_on_what_many_changes_do_not_explain():
    claim = Claim(1, "", None, (check(True, 0.0),))
    idle = {f"other {i}": [check(True, 0.0)] for i in range(9)}
    assert turned(claim, {"this": [check(False, 0.02)]}).depends == "this"
    assert turned(claim, {"this": [check(False, 0.02)], **idle}).depends == "this"
    perhaps = {f"other {i}": [check(False, 0.04)] for i in range(9)}
    assert turned(claim, {"this": [check(False, 0.004)], **perhaps}).depends == "this"
    assert turned(claim, perhaps).depends == ""


def test_an_open_verdict_turns_on_what_decides_it_both_ways():
    claim = Claim(1, "", None, (check(None, 0.5),))
    yes, no = [check(True, 0.001)], [check(False, 0.001)]
    assert turned(claim, {"a": yes, "b": no, "c": [check(None, 0.5)]}).words == "sensitive to a and b"
    assert turned(claim, {"a": yes}).verdict is Verdict.UNDECIDED


def test_a_failed_claim_names_what_would_leave_no_check_failing():
    claim = Claim(1, "", None, (check(False, 0.001), check(None, 0.5)), why="Because.")
    others = {"a": [check(True, 0.001), check(None, 0.5)], "b": [check(False, 0.001)], "c": [not_run("x")[0]]}
    found = turned(claim, others)
    assert found.verdict is Verdict.NOT_REPRODUCED
    assert found.why == "Because. With another interpretation of a, no check fails, but some are inconclusive."


def test_runs_that_end_at_the_optimum_or_far_from_it_are_counted():
    at_the_top = Sample(np.arange(30), np.where(np.arange(30) < 29, 0.22, 0.005), 1)
    [found] = most_reach(at_the_top, 0.2, "reward")
    assert (found.holds, found.found) == (True, "29 of 30 [0.83, 0.99]")
    half = at_the_top._replace(scores=np.where(np.arange(30) < 15, 0.22, -np.inf))
    assert most_reach(half, 0.2, "reward")[0].holds is False
    steps = Sample(np.arange(30), -np.where(np.arange(30) < 26, 110.0, 10_000.0), -1)
    assert most_reach(steps, 293.0, "steps")[0].holds is None
    assert MOST == 0.8


@pytest.mark.parametrize(("successes", "level"), [(3, 0.5), (14, 0.5), (29, 0.8), (24, 0.8), (19, 0.8), (23, 0.5)])
def test_a_part_is_decided_where_its_p_value_says_so(successes, level):
    [found] = part(successes, 30, "", least=level)
    assert (found.p < 0.05) == (found.holds is not None)
    assert by_chance((successes / 30, 0.0, 1.0), level) > 0.05


class Recorder(Evidence):
    """Evidence that has nothing and remembers which runs it was asked for."""

    def __init__(self):
        self.scale, self.asked = FULL, set()

    def results(self, group):
        self.asked.add(group)
        return []


def runs_of(number):
    return CLAIMS[number].runs()


@pytest.mark.parametrize("number", CLAIMS)
def test_a_claim_declares_exactly_the_runs_that_its_judge_asks_for(number, monkeypatch):
    monkeypatch.setattr("ucls.paper.claims.bounds.COVERAGE_RUNS", 4)  # claim 12 measures chains of its own
    recorder = Recorder()
    CLAIMS[number].judge(recorder)
    assert set(runs_of(number)) == recorder.asked
    [part] = [part for part in PARTS if number in part.claims]
    assert recorder.asked <= set(part.groups())
    assert part.title or part.module.plots


def test_every_claim_belongs_to_one_part_and_is_numbered_without_gaps():
    assert sorted(number for part in PARTS for number in part.claims) == list(range(1, len(CLAIMS) + 1))


def test_shares_are_of_a_hundred_runs_wherever_runs_decide_anything():
    scale = scale_of(30, heavy=15)
    many = [group for number in (2, 10, 14) for group in runs_of(number) if group.least]
    assert {group.key for group in many} == {"ucls", "dgpq", "dgpq-wide", "sarsa-optimistic", "sarsa-epsilon"}
    assert {scale.runs_of(group) for group in many} == {SHARES}
    assert all(cells_of(group, QUICK) == cells_of(group._replace(least=0), QUICK) for group in many)
    assert ucls(RIVER).but(p=0.2).for_shares().least == 0  # another reading stays as it is
    assert scale.runs_of(figure_theorem.long_rlsvi()) == ENOUGH
    assert QUICK.runs_of(figure_theorem.long_rlsvi()) == 1


def test_a_quick_look_has_no_run_more_for_what_claims_turn_on():
    for group in groups_of(parts_of([])):
        assert bool(cells_of(group, QUICK)) != group.deep


def test_one_state_has_a_thousand_runs_wherever_runs_decide_anything():
    group = figure_5.lstd("LSTD-in-F", 0.01, True)
    assert [scale_of(n).runs_of(group) for n in (2, 19, 20, 30)] == [2, 19, 1000, 1000]
    assert scale_of(30, heavy=15).runs_of(group._replace(heavy=True)) == 1000
    assert QUICK.runs_of(group) == 3
    other = alternatives.ONE_STATE_DISCOUNT.change(group)
    assert dict(other.settings)["discount"] == 0.9
    assert scale_of(30, heavy=15).runs_of(other) == alternatives.ONE_STATE_RUNS


def test_what_one_state_can_return_at_most_follows_its_discount():
    assert one_state.facts(one_state.Settings())["return_max"] == 10.0
    assert one_state.facts(one_state.Settings(discount=0.9))["return_max"] == pytest.approx(100.0)


def test_the_memory_is_read_in_one_place(monkeypatch):
    """Turning it turns every run with tiles in the two domains, and the open choice with it."""

    def memory(group):
        return dict(cells_of(group, QUICK)[0].settings).get("features.table_size")

    here, there = ucls(PUDDLE), alternatives.TILE_MEMORY.change(ucls(PUDDLE))._replace(deep=False)
    usual = memory(here), memory(there)
    assert usual == (180, 128)
    monkeypatch.setattr(domains, "READING", PRINTED)
    turned_there = alternatives.TILE_MEMORY.change(ucls(PUDDLE))._replace(deep=False)
    assert (memory(here), memory(turned_there)) == (128, 180)
    assert alternatives.TILE_MEMORY.change(tuned("dgpq", PUDDLE)) == tuned("dgpq", PUDDLE)  # it has no tiles


def test_competitors_are_tuned_for_either_memory_once_that_sweep_is_made(monkeypatch):
    usual = tuned("sarsa-optimistic", PUDDLE)
    found = {key_of("sarsa-optimistic", PUDDLE): {"settings": {"alpha": 0.2}}}
    monkeypatch.setattr("ucls.paper.runs.groups.winners", lambda: found)
    assert dict(tuned("sarsa-optimistic", PUDDLE, ROOM).settings)["alpha"] == 0.2
    found[key_of("sarsa-optimistic", PUDDLE, ROOM)] = {"settings": {"alpha": 0.5}}
    other = alternatives.TILE_MEMORY.change(tuned("sarsa-optimistic", PUDDLE))
    assert dict(other.settings)["alpha"] == 0.2
    assert dict(tuned("sarsa-optimistic", PUDDLE).settings)["alpha"] == 0.5
    assert usual.key == other.key


def test_sweeps_can_be_made_one_by_one():
    assert set(chosen_sweeps(["ucls-scale"])) == {"ucls-scale ucls/SparseMountainCar-v0"}
    room = chosen_sweeps([ROOM])
    assert {sweep.env for sweep in room.values()} == {RIVER, PUDDLE}
    assert all("table_size" not in sweep.fixed for sweep in room.values())
    assert len(chosen_sweeps([])) == len(all_sweeps())


def test_optimal_in_puddle_world_is_what_these_features_reach(tmp_path):
    from ucls.study import Store

    with Store(tmp_path / "runs.sqlite", write=True) as store:
        evidence = Evidence(store, scale_of(30))
        assert figure_6.reachable(evidence) == pytest.approx(-36.7, abs=0.2)
        [claim] = judge_all(evidence, [9])
    assert claim.words == "inconclusive: nothing was run"


class Told(Evidence):
    """Evidence of 30 runs that come to a number each, a little apart."""

    def __init__(self, level):
        self.level, self.scale = level, scale_of(30)

    def sample(self, group, measure):
        scores = self.level(group) + np.random.default_rng(len(group.label)).normal(0, 1, 30)
        return Sample(np.arange(30), scores, 1)


@pytest.mark.parametrize(
    ("without", "verdict"),
    [
        (100.0, Verdict.NOT_REPRODUCED),
        (99.0, Verdict.NOT_REPRODUCED),
        (90.0, Verdict.UNDECIDED),
        (60.0, Verdict.REPRODUCED),
    ],
)
def test_the_learned_variance_matters_if_a_tenth_is_lost_without_it(without, verdict):
    claim = variants.learned_variance(Told(lambda group: without if group.key == "ucls-counts" else 100.0))
    assert claim.verdict is verdict
    assert len(claim.checks) == 3
    small = variants.learned_variance(Told(lambda group: without if "p" in dict(group.settings) else 100.0))
    assert small.verdict is Verdict.NOT_REPRODUCED  # where both sides have another p they are alike
    apart = variants.learned_variance(Told(lambda group: -100.0 if group.key == "ucls" else -150.0))
    assert apart.verdict is Verdict.REPRODUCED  # returns below 0 too


def test_the_learned_variance_may_matter_at_another_p():
    def level(group):
        return 50.0 if group.key == "ucls-counts" and dict(group.settings).get("p") == 1e-5 else 100.0

    claim = variants.learned_variance(Told(level))
    assert claim.verdict is Verdict.DEPENDS
    assert claim.depends == "p (1e-05, in River Swim)"


def test_what_interval_and_test_do_not_agree_on_is_not_decided():
    data = {"number": 1, "claim": "", "figure": None, "depends": "", "why": "", "short": False}
    made = [{"what": "", "found": "", "holds": "yes", "runs": 30, "p": p} for p in (0.01, 0.06)]
    [claim] = shipped.from_data(
        {"claims": [{**data, "checks": made}], **dict.fromkeys(("facts", "note"), ""), "tables": [], "complete": True}
    ).claims
    assert [one.holds for one in claim.checks] == [True, None]


def test_the_joint_reading_is_searched_among_those_that_let_b_move(monkeypatch):
    tried = candidates_of("ucls-joint")
    assert {one["feature_value"] for one in tried} == {"1", "1/sqrt_n", "1/n"}
    monkeypatch.setattr(table_one_setting, "ranks", lambda key, env: np.arange(len(tried))[::-1])
    best = table_one_setting.one_setting("ucls-joint", table_learned.moves)
    assert best == [one for one in tried if one["feature_value"] != "1/n"][-1]


def test_the_one_setting_of_a_competitor_is_the_candidate_with_the_best_mean_rank():
    for key in table_one_setting.KEYS:
        total = sum(table_one_setting.ranks(key, env) for env in MAIN)
        best = candidates_of(key)[int(np.argmin(total))]
        assert table_one_setting.one_setting(key) == best
        for env in MAIN:
            ranked = table_one_setting.ranks(key, env)
            assert ranked.sum() == pytest.approx(16 * 17 / 2)  # ties share their rank
            assert dict(table_one_setting.group_of(key, env).settings).items() >= best.items()
    assert (table_one_setting.ranks("rlsvi", SPARSE) == 8.5).all()  # none reached the goal: all alike
    river = table_one_setting.ranks("ucls-l", RIVER)
    winner = candidates_of("ucls-l").index(winners()[key_of("ucls-l", RIVER)]["settings"])
    assert int(np.argmin(river)) == winner


def test_who_is_ahead_where_fewer_steps_are_better():
    few, many = (Sample(np.arange(30), -np.linspace(level, level + 9, 30), -1) for level in (100.0, 900.0))
    assert table_open_choices._ahead(few, many)
    assert not table_open_choices._ahead(many, few)
    assert table_open_choices._ahead(many, few._replace(scores=np.full(30, -np.inf)))  # all diverged
