"""Beyond the paper: its runs exist and leave the paper's alone, its tables say what was and was not run."""

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from tools import benchmarks, marks
from ucls.core.history import TRUNCATED, History
from ucls.paper import reproduce as paper
from ucls.paper.beyond import bars, comparison, deep_sea, long, parts
from ucls.paper.beyond import map as settings_map
from ucls.paper.contents import PARTS, groups_of, parts_of
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.runs.domains import CLASSIC, DEEP_SEA, ONE_STATE, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import FULL, QUICK, cells_of, contenders, scale_of
from ucls.study import Store
from ucls.study.outcome import Outcome
from ucls.study.storage.result import Circumstance, summarize

ABOUT = Circumstance(1.0, 1000.0, "here", "ucls 0", "now")
BEYOND = [part for part in PARTS if part.beyond]
PAGE = Path(__file__).parents[1] / "docs" / "beyond.md"


def pretend(cells, checkpoints, stop):
    """Runs of episodes of ten steps that find everything, `ucls-exact` a little richer: nothing is learned here."""
    for cell in cells:
        steps = min(cell.steps, 2500)
        ends = np.zeros(steps, np.uint8)
        if cell.env not in (RIVER, ONE_STATE):
            ends[9::10] = 1
        each = {RIVER: 0.2, ONE_STATE: 2.0, SPARSE: 0.0, DEEP_SEA: 0.0}.get(cell.env, -1.0)
        rewards = np.full(steps, each + 0.01 * (cell.agent == "ucls-exact")) + 0.001 * cell.seed
        rewards[ends > 0] += float(cell.env in (SPARSE, DEEP_SEA))
        yield Outcome(cell.id, summarize(History(rewards, ends), cell.resolution), ABOUT)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    scale = scale_of(2)
    with Store(tmp_path_factory.mktemp("beyond") / "runs.sqlite", write=True) as store:
        paper.run_study(store, paper.study_of(BEYOND, scale), pretend, quiet=True)
        yield Evidence(store, scale)


@pytest.fixture
def nothing(tmp_path):
    with Store(tmp_path / "none.sqlite", write=True) as store:
        yield Evidence(store, scale_of(30))


# The runs


def test_the_papers_own_runs_are_what_they_were():
    """Recorded: with other ids the reproduction would be run again from its beginning."""
    groups = groups_of([part for part in PARTS if not part.beyond])
    ids = {cells_of(g, FULL)[0].id for g in groups}
    assert hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:16] == "79f9caa4bc928d3c"


def test_the_paper_and_what_goes_beyond_have_room_for_every_tile():
    for env in (RIVER, PUDDLE):
        for groups in (contenders(env), comparison.Contest(env, {}, comparison.baselines(env)).shown):
            cells = [cells_of(group, QUICK)[0] for group in groups.values()]
            tiled = [dict(cell.settings)["features.table_size"] for cell in cells if cell.features == "tiles"]
            assert len(tiled) >= 5
            assert all(memory > 128 for memory in tiled)


def test_every_group_has_runs_that_can_be_made_and_no_more_than_it_wants():
    for group in groups_of(BEYOND):
        cells = cells_of(group, scale_of(40))
        assert len({cell.id for cell in cells}) == len(cells) == (group.most or 40)
        single = group.env in (SPARSE, CLASSIC) and group.agent in ("ucls", "ucls-exact", "gv-ucb", "lspi-rmax")
        assert cells[0].dtype == ("float32" if single else "float64")


def test_every_seed_dives_in_a_sea_of_its_own():
    cells = cells_of(deep_sea.group_of("ucls-exact", 20), scale_of(30))
    assert [dict(cell.settings)["env.mapping_seed"] for cell in cells] == [cell.seed for cell in cells]
    assert (len(cells), cells[0].steps) == (30, 20_000)


def test_what_is_declared_is_a_place_on_the_map():
    for env, v0 in settings_map.DECLARED.items():
        group = comparison.exact(env)._replace(steps=settings_map.group_of(env, v0, 1.0).steps)
        assert cells_of(group, QUICK)[0].id == cells_of(settings_map.group_of(env, v0, 1.0), QUICK)[0].id


def test_a_look_at_everything_makes_only_the_comparison():
    assert [part.name for part in parts_of([]) if part.beyond] == ["beyond", "beyond-bars"]
    assert [part.title for part in parts_of([])][-2:] == ["Beyond the paper", "Bars of our own"]


# What is shown


@pytest.mark.parametrize("part", BEYOND, ids=lambda part: part.name)
def test_every_figure_has_lines_and_is_empty_without_runs(evidence, nothing, part):
    for plot in part.plots(evidence):
        assert all(panel.lines for panel in plot.panels)
        assert all(np.isfinite(line.center).all() for panel in plot.panels for line in panel.lines)
    assert not any(panel.lines for plot in part.plots(nothing) for panel in plot.panels)


def test_every_table_is_as_wide_as_its_heads_and_says_what_was_not_run(evidence, nothing):
    for part in (part for part in BEYOND if part.title):
        [(_, heads, full)], [(_, _, empty)] = part.tables(evidence), part.tables(nothing)
        assert {len(row) for row in (*full, *empty)} == {len(heads)}
        assert not any("not run" in row for row in full)
        assert all("not run" in row and row[-1] == "0" for row in empty)


def test_differences_are_of_the_same_seeds(evidence):
    rows = {(row[0], row[2]): row for row in comparison.rows(evidence)}
    mine, theirs, difference, runs = rows["River Swim", "UCLS"][3:]
    assert mine.startswith("526.2 [")
    assert theirs.startswith("501.2 [")
    assert (difference, runs) == ("25 [25, 25]", "2")
    assert rows["One-State", "UCLS"][3].startswith("2 of 2 [")
    by_part = {(row[0], row[2]): row[4] for row in parts.rows(evidence)}
    assert by_part["River Swim", "both terms"] == "-"
    assert by_part["River Swim", "neither term"] == "0 [0, 0]"


def test_means_beside_each_other_are_of_the_same_seeds(nothing):
    runs = [summarize(History(np.full(10, x), np.zeros(10, np.uint8)), 1) for x in (1.0, 2.0, 6.0)]
    nothing._kept[comparison.exact(RIVER)] = list(enumerate(runs))
    nothing._kept[comparison.baselines(RIVER)["ucls"]] = [(1, runs[0])]
    [row] = [row for row in comparison.rows(nothing) if row[:3] == ["River Swim", "total reward", "UCLS"]]
    one = "(one run, no interval)"
    assert row[3:] == [f"20 {one}", f"10 {one}", f"10 {one}", "1"]


def test_an_episode_that_was_cut_off_reached_no_goal(nothing):
    ends = np.zeros(40, np.uint8)
    ends[[9, 19, 29]] = 1, TRUNCATED, 1
    group = comparison.exact(SPARSE)
    nothing._kept[group] = [(0, summarize(History(np.zeros(40), ends), 1))]
    assert comparison.sample(nothing, group, "goals").scores.tolist() == [2.0]


def test_a_run_is_near_the_optimum_if_it_lacks_a_tenth_or_less(nothing):
    rate = optimum(RIVER).reward_rate
    runs = [summarize(History(np.full(100, part * rate), np.zeros(100, np.uint8)), 1) for part in (1.2, 0.91, 0.89)]
    nothing._kept[comparison.exact(RIVER)] = list(enumerate(runs))
    [row] = [row for row in bars.rows(nothing) if row[0] == "River Swim" and row[-1] == "3"]
    assert (row[2], row[4]) == (f"{89 * rate:.4g} reward", f"{0.89 * rate:.4g}")
    assert row[6] == "2 of 3"


def test_a_sea_is_solved_by_finding_the_treasure_again_and_again(nothing):
    group = deep_sea.group_of("ucls", 5)
    ends = np.tile([0, 0, 0, 0, 1], 150).astype(np.uint8)
    found = np.arange(150) >= 40
    late, never = ((np.repeat(wins, 5) * ends).astype(float) for wins in (found, np.zeros(150)))
    nothing._kept[group] = [(i, summarize(History(rewards, ends), 1)) for i, rewards in enumerate((late, never))]
    assert deep_sea.solved(nothing, deep_sea.group_of("ucls", 5)) == [30, None]
    [row] = [row for row in deep_sea.rows(nothing) if row[-1] == "2"]
    assert row[2].startswith("1 of 2 [")
    assert row[3:6] == ["never", "30", "never"]
    panel = deep_sea.plots(nothing)[0].panels[0]
    assert (panel.optimum_label, panel.lines[0].center.tolist()) == ("not solved in 1000 episodes", [panel.optimum])


def test_what_a_long_run_loses_again_is_a_part_of_the_optimum(nothing):
    rate = optimum(RIVER).reward_rate
    rewards = np.full(10_000, rate)
    rewards[9000:] = 0.5 * rate
    run = summarize(History(rewards, np.zeros(10_000, np.uint8)), 1000)
    assert long.regrets(run, rate, 1000) == pytest.approx([0.0] * 9 + [0.5], abs=1e-12)
    nothing._kept[long.group_of(RIVER)] = [(0, run), (1, run)]
    assert long.rows(nothing)[0][3:] == ["0.5 [0.5, 0.5]", "2 of 2", "2"]


def test_the_page_takes_its_data_and_figures_from_a_reproduction(tmp_path, nothing):
    shutil.copytree(PAGE.parent / "data" / "benchmarks", tmp_path / "data" / "benchmarks")
    (tmp_path / "beyond.md").write_text(PAGE.read_text())
    names = [part.name for part in BEYOND]
    found = paper.reproduce(tmp_path / "out", nothing.scale, names, nothing.store, None, quiet=True)
    assert (found.claims, found.complete) == ([], False)
    benchmarks.update(tmp_path / "out", tmp_path)
    assert ["River Swim", "total reward", "UCLS", "not run", "not run", "-", "0"] in benchmarks.rows(
        "comparison", tmp_path / "data" / "benchmarks"
    )
    [text] = benchmarks.made(tmp_path).values()
    assert "| scale | 30 runs |" in text
    assert "| River Swim | total reward | not run |" in text
    assert marks.shown(text) == {*benchmarks.SUMMARIES, "tuning", "facts"}
    assert {path.name for path in tmp_path.glob("*.png")} >= {"beyond.png", "deep-sea.png", "beyond-map.png"}
