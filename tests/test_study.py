"""Studies: cells are data, declared in a file, tuned on seeds of their own, and compared."""

import json
import re

import numpy as np
import pytest

from support.studies import ABOUT, pretend, study_of
from ucls.cli.output.show_study import show_comparison
from ucls.core.history import History
from ucls.errors import UserError
from ucls.study import Member, RunSpec, Store, Study, make_run_specs, parse_study, run_study
from ucls.study.compare import compare_study
from ucls.study.declaration.run_spec import RESULTS_VERSION
from ucls.study.declaration.sweep import TUNING, Range, Sweep, candidates, judge, sweep_cells
from ucls.study.forecast import forecast, groups_of
from ucls.study.outcome import Outcome
from ucls.study.runners.run_cell import run_cell
from ucls.study.storage.partial import Checkpoints, partial_file
from ucls.study.storage.result import pack, summarize, unpack

RIVER, PUDDLE = "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"
TINY = """name = "tiny"
steps = 2000
seeds = "0-2"
baseline = "sarsa"
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
[[run]]
algorithm = "ucls"
env = ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"]
set = { p = [0.01, 0.1] }
"""


# Cells


def test_a_cell_is_the_same_however_its_settings_are_written():
    plain, spelled, text = (
        make_run_specs(RIVER, "ucls", steps=100, seeds=[3], settings=settings)[0].id
        for settings in ({}, {"p": 0.1, "noise_std": 0.01}, {"agent.p": "0.1", "features.tilings": "32"})
    )
    assert plain == spelled == text


@pytest.mark.parametrize(
    "change", [{"steps": 101}, {"seeds": [4]}, {"settings": {"p": 0.2}}, {"dtype": "float32"}, {"keep": True}]
)
def test_whatever_changes_the_run_or_what_is_kept_changes_the_id(change):
    usual = {"steps": 100, "seeds": [3], "settings": {}}
    assert make_run_specs(RIVER, "ucls", **usual)[0].id != make_run_specs(RIVER, "ucls", **{**usual, **change})[0].id


def test_a_cell_survives_json():
    [cell] = make_run_specs(PUDDLE, "dgpq", steps=100, seeds=[0], keep=True, probe="start")
    assert RunSpec.from_json(cell.json()) == cell
    assert RunSpec.from_json(cell.json()).id == cell.id


def test_cells_of_other_numerics_are_refused():
    [cell] = make_run_specs(RIVER, "ucls", steps=100, seeds=[0])
    with pytest.raises(UserError, match="declare the study again"):
        run_cell(cell._replace(numerics=RESULTS_VERSION + 1))


def test_a_stopped_cell_continues_bit_for_bit(tmp_path):
    [cell] = make_run_specs(RIVER, "sarsa", steps=3000, seeds=[5], resolution=1)
    whole = run_cell(cell)
    asked = iter([False, False, True])
    assert run_cell(cell, Checkpoints(tmp_path), lambda: next(asked)) is None
    assert partial_file(tmp_path, cell.id).exists()
    rest = run_cell(cell, Checkpoints(tmp_path))
    assert whole is not None
    assert rest is not None
    assert pack(whole.result.arrays) == pack(rest.result.arrays)
    assert whole.result.metrics == rest.result.metrics


def test_an_unsound_checkpoint_costs_its_steps_only(tmp_path):
    [cell] = make_run_specs(RIVER, "sarsa", steps=500, seeds=[5])
    partial_file(tmp_path, cell.id).write_bytes(b"not a checkpoint")
    done, whole = run_cell(cell, Checkpoints(tmp_path)), run_cell(cell)
    assert done is not None
    assert whole is not None
    assert done.result.metrics == whole.result.metrics


# Results


def test_measures_of_a_run_by_hand():
    ends = np.zeros(100, np.uint8)
    ends[[9, 29, 59]] = [1, 2, 1]
    kept = summarize(History(np.arange(100.0), ends), 30)
    assert kept.arrays["episode_steps"].tolist() == [10, 20, 30]
    assert kept.arrays["truncated"].tolist() == [0, 1, 0]
    assert kept.arrays["curve"].tolist() == [435.0, 1335.0, 2235.0, 945.0]
    m = kept.metrics
    assert (m.reward, m.episodes, m.mean_return) == (4950.0, 3.0, 4950 / 4)
    assert (m.final_reward_per_step, m.final_episode_length, m.best_episode_length) == (89.5, 20.0, 20.0)
    assert m.final_return == pytest.approx(1770 / 3)


def test_an_empty_history_has_measures_and_no_nan():
    m = summarize(History(np.zeros(0), np.zeros(0, np.uint8)), 10).metrics
    assert (m.reward, m.episodes, m.final_return) == (0.0, 0.0, None)


def test_arrays_survive_packing():
    arrays = {"a": np.arange(6.0).reshape(2, 3).T, "b": np.zeros(0, np.int32)}
    for name, array in unpack(pack(arrays)).items():
        assert np.array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype


# TOML


def test_a_list_is_a_grid():
    study = parse_study(TINY)
    groups = groups_of(study)
    assert [(g.label, g.env, g.runs) for g in groups] == [
        ("sarsa", RIVER, 3),
        ("ucls p=0.01", RIVER, 3),
        ("ucls p=0.1", RIVER, 3),
        ("ucls p=0.01", PUDDLE, 3),
        ("ucls p=0.1", PUDDLE, 3),
    ]
    assert groups[1].settings == "agent.p=0.01"
    fewer = parse_study(TINY, runs=1, steps=50)
    assert {(m.cell.steps, m.cell.seed) for m in fewer.members} == {(50, 0)}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('algorithm = "sarsa"', 'algoritm = "sarsa"', "line 5: the key 'algorithm' is missing"),
        ("steps = 2000", "stesp = 2000", "line 2: unknown key 'stesp': did you mean 'steps'?"),
        ("steps = 2000", "steps = 0", "line 2: 'steps' is invalid: input should be greater than or equal to 1"),
        ('seeds = "0-2"', 'seeds = "0..2"', "seeds cannot be '0..2'"),
        ('seeds = "0-2"', 'seeds = "0-2000000000"', "from 0 to 999,999,999"),
        ('algorithm = "ucls"', 'algorithm = "ulcs"', "line 9: unknown algorithm 'ulcs': did you mean 'ucls'?"),
        ("p = [0.01, 0.1]", "q = [0.01, 0.1]", "line 11: unknown setting 'q'"),
        ("p = [0.01, 0.1]", "p = [0.01, -1]", "line 11: setting 'p' cannot be -1"),
        ("p = [0.01, 0.1]", "p = []", "line 11: setting 'p' is an empty list"),
        ('baseline = "sarsa"', 'baseline = "sarsaa"', "line 4: unknown label 'sarsaa': did you mean 'sarsa'?"),
        ("steps = 2000", "steps = = 2000", "is not TOML: Invalid value (at line 2, column 9)"),
        ('name = "tiny"', 'name = "../tiny"', "line 1: 'name' is invalid"),
    ],
)
def test_a_mistake_is_named_with_its_line(old, new, said):
    with pytest.raises(UserError) as caught:
        parse_study(TINY.replace(old, new, 1), "tiny.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# Sweeps


def test_tuning_seeds_and_reported_seeds_cannot_meet(tmp_path):
    text = TINY.replace("[[run]]", "[sweep]\nruns = 2\n[[run]]", 1)
    study = parse_study(text)
    with Store(tmp_path / "s.sqlite", write=True) as store:
        best = pretend(lambda cell: -abs(dict(cell.settings).get("agent.p", 0) - 0.01))
        run_study(store, study, best, quiet=True)
        tuning, reported = store.rows("tiny/sweep"), store.rows("tiny")
        choices = store.choices("tiny")
    assert {row.seed for row in tuning} == {TUNING, TUNING + 1}
    assert {row.seed for row in reported} == {0, 1, 2}
    assert [c.settings for c in choices] == [{"p": 0.01}, {"p": 0.01}]
    assert [t.settings["p"] for t in choices[0].trials] == [0.01, 0.1], "the whole table, best first"
    assert len(reported) == 9
    with pytest.raises(UserError, match="from 0 to 999,999,999"):
        parse_study(TINY.replace('"0-2"', str(TUNING)))


def test_optuna_searches_and_goes_on_where_it_was(tmp_path):
    pytest.importorskip("optuna")
    table = '[sweep]\nruns = 1\nsize = 12\nsampler = "optuna"\n[[run]]'
    text = TINY.replace("[[run]]", table, 1).replace("[0.01, 0.1]", "{ low = 0.001, high = 1, log = true }")
    study = parse_study(text.replace(', "ucls/PuddleWorld-v0"', ""))
    runner = pretend(lambda cell: -abs(np.log(dict(cell.settings).get("agent.p", 1) / 0.03)))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study, runner, quiet=True)
        [choice] = store.choices("tiny")
        tried = len(store.rows("tiny/sweep"))
        assert run_study(store, study, runner, quiet=True).done == 0
        assert len(store.rows("tiny/sweep")) == tried == 12
    assert 0.01 < choice.settings["p"] < 0.1
    assert {trial.settings["p"] for trial in choice.trials} >= {choice.settings["p"]}


def test_a_random_search_depends_on_nothing_but_the_space():
    sweep = Sweep("a", "ucls", RIVER, {"p": Range(1e-3, 1), "beta": [0.1, 0.01]}, size=50)
    found = candidates(sweep)
    assert found == candidates(sweep)
    assert len(found) == 50
    assert 0.001 <= min(c["p"] for c in found) < 0.01 < 0.1 < max(c["p"] for c in found) <= 1
    assert {c["beta"] for c in found} == {0.1, 0.01}


def test_a_candidate_that_diverges_loses_to_one_that_does_not():
    sweep = Sweep("a", "ucls", RIVER, {"p": [0.1, 0.2]}, runs=2)
    outcome = {cell.id: (p, i) for p in (0.1, 0.2) for i, cell in enumerate(sweep_cells(sweep, {"p": p}))}

    def found(cell):
        p, i = outcome[cell.id]
        reward = 100.0 if p == 0.1 else 1.0
        return summarize(History(np.array([reward]), np.zeros(1)), 1).metrics, p == 0.1 and i == 1

    best, worst = judge(sweep, found)
    assert (best.settings, best.diverged) == ({"p": 0.2}, 0)
    assert (worst.score, worst.diverged) == (100.0, 1)


# Comparison and forecast


def test_comparison_is_paired_on_common_seeds(tmp_path):
    def earns(cell):
        return cell.seed * 10.0 + (1.0 if dict(cell.settings)["agent.alpha"] == 0.2 else 0.0)

    cells = [make_run_specs(RIVER, "sarsa", steps=10, seeds=range(8), settings={"alpha": a}) for a in (0.1, 0.2)]
    members = [Member(label, c) for label, group in zip("ab", cells, strict=True) for c in group]
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, Study("s", tuple(members)), pretend(earns), quiet=True)
        best, base = compare_study(store.rows("s"), baseline="a")
    assert (best.label, base.label) == ("b", "a")
    assert best.difference == (10.0, 10.0, 10.0), "the spread over seeds cancels"
    assert best.p == pytest.approx(2 / 2**8)
    assert best.better[0] == pytest.approx((28 + 8) / 64)
    assert base.difference is None


def test_where_less_is_better_the_least_comes_first_and_numbers_are_read_as_they_are(tmp_path):
    cells = [make_run_specs(RIVER, "sarsa", steps=12, seeds=range(8), settings={"alpha": a}) for a in (0.1, 0.2)]
    members = [Member(label, c) for label, group in zip("ab", cells, strict=True) for c in group]

    def runner(cells, checkpoints, stop):
        for cell in cells:  # episodes of 6 steps, or of 4
            length = 6 if dict(cell.settings)["agent.alpha"] == 0.1 else 4
            yield Outcome(cell.id, summarize(History(np.ones(12), np.arange(1, 13) % length == 0), 1), ABOUT)

    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, Study("s", tuple(members)), runner, quiet=True)
        best, base = compare_study(store.rows("s"), "final_episode_length", "a")
    assert (best.label, best.mean, base.mean) == ("b", (4.0, 4.0, 4.0), (6.0, 6.0, 6.0))
    assert best.difference == (-2.0, -2.0, -2.0)
    assert best.better[0] == 1.0


def test_a_single_run_is_compared_without_an_interval(tmp_path, capsys):
    (one,) = make_run_specs(RIVER, "sarsa", steps=10, seeds=[0])
    (other,) = make_run_specs(RIVER, "sarsa", steps=10, seeds=[0], settings={"alpha": 0.2})
    study = Study("s", (Member("a", one), Member("b", other)))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study, pretend(lambda cell: 1.0 + (cell == other)), quiet=True)
        best, base = compare_study(store.rows("s"), baseline="a")
    assert (base.mean, base.median, base.iqm) == ((10.0, None, None),) * 3
    assert (best.difference, best.better) == ((10.0, None, None), (1.0, None, None))
    json.loads(json.dumps([best, base], allow_nan=False))
    show_comparison([best, base])
    assert re.search(r"^b +1 +20 +- +20 +20 +10 +- +1 +1.00$", capsys.readouterr().out, re.MULTILINE)


def test_waiting_failed_and_diverged_runs_are_counted(tmp_path):
    cells = make_run_specs(RIVER, "sarsa", steps=10, seeds=range(4))

    def runner(cells, checkpoints, stop):
        yield Outcome(cells[0].id, summarize(History(np.ones(5), np.zeros(5, np.uint8), True), 1), ABOUT)
        yield Outcome(cells[1].id, summarize(History(np.ones(10), np.zeros(10, np.uint8)), 1), ABOUT)
        yield Outcome(cells[2].id, error="no")

    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study_of(cells), runner, quiet=True)
        [group] = compare_study(store.rows("s"))
    assert (group.runs, group.diverged, group.failed, group.waiting) == (2, 1, 1, 1)
    assert group.mean == (10.0, None, None)  # of one sound run there is no interval


def test_a_forecast_prefers_speeds_measured_here(tmp_path):
    path, study = tmp_path / "s.sqlite", parse_study(TINY)
    guessed = forecast(study, path, jobs=1)
    assert guessed.missing == 15
    assert not path.exists()
    with Store(path, write=True) as store:
        run_study(store, Study("one", study.members[:1]), pretend(), quiet=True)
    known = forecast(study, path, jobs=2)
    assert known.missing == 14
    assert known.groups[0].speed == pytest.approx(2000 / ABOUT.seconds)
