"""Coverage of the upper bound over q*: exact on a table that is computed by hand, and reported by `ucls diagnose`."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from support.uncompiled import run_uncompiled
from ucls import cli
from ucls.core.run import make_run
from ucls.diagnostics import diagnose, optimal_values
from ucls.diagnostics.coverage import Coverage, compare, coverage, nominal_rate, validity
from ucls.envs.deep_sea import right

SEA = "ucls/DeepSea-v0"


def check_table():
    """Two rows: right costs 0.005, the treasure is worth 1, and the discount is 0.99."""
    run = make_run(SEA, "ucls-plan", seed=1, settings={"size": 2})
    stick = optimal_values(run)
    env = run.world.env
    by_hand = {(0, True): -0.005 + 0.99 * 0.995, (0, False): 0.0, (1, True): -0.005, (1, False): 0.0}
    by_hand |= {(2, True): 0.995, (2, False): 0.0}
    for (cell, goes_right), q in by_hand.items():
        action = right(env, cell) if goes_right else 1 - right(env, cell)
        assert stick.best[cell, action] == pytest.approx(q, abs=1e-9)

    fresh = coverage(run.learner, stick)
    assert fresh.pairs == 0
    assert np.isnan(fresh.covered)
    run.advance(2)  # one episode: a pair in the first row and one in the second
    assert coverage(run.learner, stick) == Coverage(2.0, 1.0, 1.0, 0.0, 0.0)

    run.advance(60)
    solver = run.learner.state.solver
    pairs = int((solver.visits > 0).sum())
    assert coverage(run.learner, stick).pairs == pairs > 2
    first = 0 * 2 + right(env, 0)  # the first cell is the first that was numbered
    assert solver.visits[first] > 0
    solver.deviation[first], solver.variance[0] = 0.0, 0.0
    solver.mean[first] = solver.w[first] = by_hand[0, True] - 0.25
    found = coverage(run.learner, stick)
    assert found.covered == pytest.approx(1 - 1 / pairs)
    assert found.shortfall == found.largest == pytest.approx(0.25)


def test_bounds_below_q_star_are_counted_on_visited_pairs_of_a_table():
    run_uncompiled("from test_bound_coverage import check_table\ncheck_table()")


def test_shortfalls_within_a_hundredth_of_the_range_are_told_apart():
    best = np.array([[0.0, 100.0], [50.0, 50.0]])
    upper = best - np.array([[0.0, 0.9], [3.0, 40.0]])
    everywhere, some = np.ones((2, 2), bool), np.array([[True, True], [True, False]])
    assert compare(upper, best, everywhere) == pytest.approx((4, 0.25, 0.5, 43.9 / 3, 40.0))
    assert compare(upper, best, some) == pytest.approx((3, 1 / 3, 2 / 3, 1.95, 3.0))


@pytest.mark.parametrize(("covered", "holds"), [(0.99, True), (0.97, False)])
def test_coverage_is_judged_late_and_by_the_nominal_rate(covered, holds):
    assert nominal_rate(2.0) == pytest.approx(0.97725, abs=1e-5)
    measured = {"pairs": [3, 40], "covered": [0.5, covered], "nearly": [1, 1], "shortfall": [1, 1], "largest": [2, 2]}
    found = validity(np.array([0, 100]), {name: np.array(each, float) for name, each in measured.items()}, 2.0)
    assert found.holds == holds
    assert found.late.pairs == 40
    assert ("hold" if holds else "fall short") in found.because
    assert "nominal 97.7% (normal errors, 2 standard deviations)" in found.because


def check_command(folder):
    words = ["diagnose", SEA, "--algo", "ucls-plan", "--set", "size=4", "--steps", "200", "--measurements", "4"]
    text = " ".join(CliRunner().invoke(cli.app, [*words, "--out", folder]).stdout.split())
    assert "visited pairs, at least the nominal 97.7%" in text
    (row,) = json.loads(CliRunner().invoke(cli.app, [*words, "--json"]).stdout)
    measured = row["coverage"]["measurements"]
    assert measured["pairs"][0] == 0
    assert measured["covered"][0] is None
    assert measured["pairs"] == sorted(measured["pairs"])
    assert row["coverage"]["late"]["covered"] == 1.0  # nothing is random
    assert row["coverage"]["holds"]
    assert Path(folder, "diagnosis.png").stat().st_size > 10_000


def test_the_command_reports_coverage_of_a_planner(tmp_path):
    run_uncompiled(f"from test_bound_coverage import check_command\ncheck_command({str(tmp_path)!r})")


def test_only_planners_are_held_against_q_star():
    (one,) = diagnose("ucls/RiverSwim-v0", "ucls", 50, [0], measurements=1)
    assert one.coverage == {}
    assert one.validity is None
