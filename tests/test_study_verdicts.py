"""Who is better in a study: verdicts, the sequential rule, intervals of many runs, and the page."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from support.commands import ucls as command
from support.studies import pretend
from ucls.errors import UserError
from ucls.stats import holm, paired, probability_of_improvement, profile, seeds_to_decide, sequential_p, summarize
from ucls.stats import many as large
from ucls.stats.resampling import bootstrap
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.compare import Sample, compare_samples
from ucls.study.page import write_page
from ucls.study.verdicts import PAIRS, sentence_of, verdicts_of

RIVER = "ucls/RiverSwim-v0"
SYMMETRIC = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "mostly 0": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.1),
}


def sample(values, metric="reward", seeds=None):
    values = np.asarray(values, float)
    seeds = np.arange(len(values)) if seeds is None else np.asarray(seeds)
    return Sample(metric, seeds, values, Counter(done=len(values)))


def wealth(d, stakes=(0.1, 0.2, 0.4, 0.8)):
    """The gambler's largest wealth, one bet after the other."""
    purses, best, squares = {c: 1.0 for s in stakes for c in (s, -s)}, 1.0, []
    for each in d:
        squares.append(each**2)
        scale = math.sqrt(sum(squares) / len(squares))
        for c in purses:
            purses[c] *= 1.0 + math.tanh(c * each / scale) if scale else 1.0
        best = max(best, sum(purses.values()) / len(purses))
    return best


def test_the_sequential_p_is_the_inverse_of_the_largest_wealth():
    d = np.random.default_rng(0).normal(0.4, 1.0, 40)
    assert sequential_p(d) == pytest.approx(1.0 / wealth(d), rel=1e-12)
    assert sequential_p([0.0, 0.0, *d]) <= 1.0


@pytest.mark.parametrize("draw", SYMMETRIC.values(), ids=SYMMETRIC)
def test_looking_after_every_seed_decides_wrongly_in_at_most_one_of_twenty_cases(draw):
    rng = np.random.default_rng(1)
    wrong = np.mean([sequential_p(draw(rng, 300)) <= 0.05 for _ in range(1000)])
    assert wrong <= 0.05, "it is a bound, so that three standard errors need not be added"


def test_looking_at_the_usual_p_after_every_seed_decides_wrongly_far_more_often():
    rng = np.random.default_rng(2)
    ever = []
    for _ in range(100):
        d = rng.normal(size=60)
        ever.append(any(paired(d[:n], np.zeros(n)).p <= 0.05 for n in range(6, 61, 6)))
    assert np.mean(ever) > 0.12


def test_the_sequential_rule_stops_soon_after_the_seeds_that_a_planned_test_needs():
    rng = np.random.default_rng(3)
    stops = []
    for _ in range(60):
        d = rng.normal(0.8, 1.0, 200)
        stops.append(next(n for n in range(2, 200) if sequential_p(d[:n]) <= 0.05))
    assert 12 <= np.median(stops) <= 24, "a planned test finds it with probability 0.8 after 13 seeds"


def test_the_number_of_seeds_to_decide_gives_a_test_its_power():
    rng = np.random.default_rng(4)
    pilot = rng.normal(0.5, 1.0, 4000)
    n = seeds_to_decide(pilot)
    found = np.mean([paired(d, np.zeros(n), permutations=999).p <= 0.05 for d in rng.normal(0.5, 1.0, (200, n))])
    assert found == pytest.approx(0.8, abs=0.1)
    assert seeds_to_decide([1.0, 1.0]) is None
    assert seeds_to_decide([1.0, -1.0]) is None


def test_verdicts_name_the_better_label_and_correct_for_all_pairs():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=30)
    samples = {
        ("e", "high"): sample(noise + 3.0 + 0.3 * rng.normal(size=30)),
        ("e", "low"): sample(noise),
        ("e", "like low"): sample(noise + 0.1 * rng.normal(size=30)),
    }
    verdicts = {(v.first, v.second): v for v in verdicts_of(samples)}
    assert len(verdicts) == 3
    found = verdicts["high", "low"]
    assert (found.winner, found.decided, found.more_seeds, found.seeds) == ("high", True, None, 30)
    assert found.difference[0] == pytest.approx(3.0, abs=0.3)
    alone = paired(samples["e", "high"].scores, samples["e", "low"].scores)
    assert found.p == pytest.approx(3 * alone.p), "Holm multiplies the smallest of three by 3"
    [open_] = [v for pair, v in verdicts.items() if "high" not in pair]
    assert open_.winner is None
    assert open_.more_seeds is None or open_.more_seeds > 30
    assert sentence_of(found) == "high is better than low; its runs beat those of low with probability 0.99."
    assert sentence_of(open_).startswith("No significant difference between ")


def test_with_a_baseline_only_its_pairs_are_compared_and_correction_is_for_those():
    rng = np.random.default_rng(6)
    samples = {("e", name): sample(rng.normal(size=20)) for name in "abcd"}
    verdicts = verdicts_of(samples, "b")
    assert len(verdicts) == 3
    assert all("b" in (v.first, v.second) for v in verdicts)


def test_shorter_episodes_are_better_and_differences_are_read_as_they_are():
    metric = "final_episode_length"
    samples = {("e", "long"): sample(np.full(12, -6.0), metric), ("e", "short"): sample(np.full(12, -4.0), metric)}
    [verdict] = verdicts_of(samples)
    assert (verdict.first, verdict.winner, verdict.difference) == ("short", "short", (-2.0, -2.0, -2.0))


def test_a_label_whose_runs_diverge_loses():
    samples = {("e", "sound"): sample(np.arange(12.0)), ("e", "broken"): sample(np.full(12, -np.inf))}
    [verdict] = verdicts_of(samples)
    assert (verdict.winner, verdict.difference, verdict.better, verdict.decided) == ("sound", None, 1.0, True)


def test_two_runs_that_diverged_tie():
    values = np.append(np.arange(11.0), -np.inf)
    [verdict] = verdicts_of({("e", name): sample(values) for name in ("one", "other")})
    assert (verdict.winner, verdict.better, verdict.p_sequential) == (None, 0.5, 1.0)


def test_of_many_labels_the_best_are_compared_and_correction_is_for_all_pairs():
    rng = np.random.default_rng(7)
    samples = {("e", str(i)): sample(rng.normal(size=8) + (10 if i == 3 else 0)) for i in range(40)}
    verdicts = verdicts_of(samples)
    assert len(verdicts) == PAIRS
    assert sum(v.first == "3" for v in verdicts) == 39
    assert min(v.p for v in verdicts) == pytest.approx(min(1.0, 40 * 39 / 2 * 2 / 2**8))
    assert holm([0.01], total=4)[0] == pytest.approx(0.04)


@pytest.mark.parametrize(("runs", "apart"), [(1000, 0.012), (6000, 0.003)])
def test_intervals_of_many_runs_agree_with_the_bootstrap(runs, apart, monkeypatch):
    rng = np.random.default_rng(8)
    x, y = rng.exponential(size=runs), rng.exponential(1.05, runs)
    quick = [summarize(x, statistic=each)[:3] for each in ("mean", "median", "iqm")]
    quick += [probability_of_improvement(x, y), profile(x, [0.5, 1.0]).low, profile(x, [0.5, 1.0]).high]
    p = paired(x, y).p
    for module in ("resampling", "comparison", "pairs"):
        monkeypatch.setattr(f"ucls.stats.{module}.MANY", 10**9)
    slow = [summarize(x, statistic=each)[:3] for each in ("mean", "median", "iqm")]
    slow += [probability_of_improvement(x, y), profile(x, [0.5, 1.0]).low, profile(x, [0.5, 1.0]).high]
    for a, b in zip(quick, slow, strict=True):
        np.testing.assert_allclose(a, b, atol=apart)
    assert p == pytest.approx(paired(x, y).p, abs=0.02)
    assert large.MANY == 1000
    assert bootstrap(x[:, None])[0][0] == pytest.approx(x.mean())


def test_the_command_says_who_is_better_and_writes_a_page(tmp_path):
    cells = [make_run_specs(RIVER, "sarsa", steps=10, seeds=range(12), settings={"alpha": a}) for a in (0.1, 0.2)]
    members = [Member(label, c) for label, group in zip("ab", cells, strict=True) for c in group]

    def earns(cell):
        return cell.seed + (0.5 if dict(cell.settings)["agent.alpha"] == 0.2 else 0.0)

    path = tmp_path / "s.sqlite"
    with Store(path, write=True) as store:
        run_study(store, Study("s", tuple(members)), pretend(earns), quiet=True)
    page = tmp_path / "page.html"
    out = command("study", "compare", "s", "--store", path, "--out", page).stdout
    assert re.search(r"^b - a +5 +5\.\.5 .* b is better$", out, re.MULTILINE)
    html = page.read_text()
    assert "b is better than a; its runs beat" in html
    assert html.count("<polyline") == 2
    other = tmp_path / "mine.html"
    other.write_text("mine")
    with pytest.raises(UserError, match="not a page written by ucls"):
        command("study", "compare", "s", "--store", path, "--out", other)


def test_a_page_of_one_label_or_without_results_is_written(tmp_path):
    for samples in ({("e", "a"): sample([1.0, 2.0])}, {("e", "a"): sample([])}):
        path = write_page(tmp_path / "p.html", "s", samples, compare_samples(samples), verdicts_of(samples))
        assert "Comparison of the study s" in path.read_text()


TUNED = """
name = "tuned"
steps = 60
seeds = "0-1"
[sweep]
runs = 2
size = 3
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
set = { alpha = { low = 0.01, high = 1.0, log = true } }
"""


def test_tuning_with_optuna_resumes_uses_other_seeds_and_says_how_much_was_tried(tmp_path):
    pytest.importorskip("optuna")
    file, path = tmp_path / "tuned.toml", tmp_path / "s.sqlite"
    file.write_text(TUNED)
    first = command("study", "tune", file, "--trials", 4, "--store", path, "--jobs", 1).stdout
    told = "sarsa in ucls/RiverSwim-v0 was tuned: 4 candidates on 2 tuning seeds each, 8 runs of 60 steps"
    assert told in first
    with Store(path) as store:
        before = store.finished()
        assert {row.seed for row in store.rows("tuned/sweep")} == {10**9, 10**9 + 1}
        assert {row.seed for row in store.rows("tuned")} == {0, 1}
    assert command("study", "tune", file, "--trials", 4, "--store", path, "--jobs", 1).stdout == first
    with Store(path) as store:
        assert store.finished() == before, "nothing runs twice"
    page = tmp_path / "page.html"
    assert told in command("study", "compare", "tuned", "--store", path, "--out", page).stdout
    assert told in page.read_text()
