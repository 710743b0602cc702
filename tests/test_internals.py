"""What bounds are made of: read inside a learner, exact where an answer is known."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ucls import cli
from ucls.algorithms import gv_ucb, ucls, ucls_l
from ucls.core.run import make_run
from ucls.diagnostics import diagnose, internals
from ucls.kernels import active as la
from ucls.kernels.linear_algebra import preconditioner

RIVER = "ucls/RiverSwim-v0"
MOVED, AGREES, LEARNED = "|B - I| / |I|", "corr(a, A^-1 nu)", "learned part"


def hand_made():
    """Four features of which three were seen, B' = 2 A^-1, and half of the start left of the first."""
    hyper = ucls.Settings()
    state = ucls.init(hyper, 4, 1, 2)
    A = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
    state.system.seen[0], state.system.scale[0] = 3, 0.5
    state.system.At[:3, :3] = A.T / 0.5
    state.system.Bt[:3, :3] = 2 * np.linalg.inv(A)  # by columns: B = 2 A^-T
    state.nu[:3] = [1.0, -2.0, 3.0]
    state.c_max[0], state.c[:2] = 2.0, [0.5, 1.0]
    state.C[:2, :2] = [[3.0, 0.0], [0.5, 2.0]]
    return state, hyper


def test_the_numbers_inside_ucls_are_those_of_its_letters():
    state, hyper = hand_made()
    found = ucls.internals(state, hyper)
    A = state.system.At[:3, :3].T * 0.5
    B = 2 * np.linalg.inv(A).T
    assert found[MOVED] == pytest.approx(np.linalg.norm(B - np.eye(3)) / np.sqrt(3))
    assert found[AGREES] == pytest.approx(1.0)  # twice as large, and the same direction
    assert found["c_max"] == 2.0
    state.system.Bt[:3, :3] *= -1
    assert ucls.internals(state, hyper)[AGREES] == pytest.approx(-1.0)


def test_the_learned_part_is_what_is_not_left_of_the_start():
    state, hyper = hand_made()
    one, both, unseen = (la.Active(np.array(i), np.ones(len(i))) for i in ([0], [0, 1], [3]))
    assert ucls.learned(state, hyper, one) == pytest.approx(1 - 1.0 / 3.0)
    assert ucls.learned(state, hyper, both) == pytest.approx(1 - (1.0 + 2.0) / (3.0 + 2.0 + 2 * 0.5))
    state.C[3, 3] = state.c_max[0]
    assert ucls.learned(state, hyper, unseen) == 0.0
    state.C[0, 0] = 0.0
    assert ucls.learned(state, hyper, one) == 1.0


def test_the_linear_agent_tells_its_learned_part_too():
    hyper = ucls_l.Settings()
    state = ucls_l.init(hyper, 2, 1, 1)
    x = la.Active(np.array([0]), np.array([0.5]))
    assert ucls_l.learned(state, hyper, x) == 0.0
    state.w_var[0], state.w_init[0] = 3.0, 1.0
    assert ucls_l.learned(state, hyper, x) == pytest.approx(0.9)


def test_a_learner_that_has_seen_nothing_has_nothing_to_correlate():
    state = gv_ucb.init(gv_ucb.Settings(), 3, 1, 1)
    assert preconditioner.moved(state.system) == 0.0
    assert np.isnan(preconditioner.agreement(state.system, state.zbar))


@pytest.mark.parametrize("agent", ["ucls", "gv-ucb"])
def test_as_shipped_B_stays_within_a_hundredth_of_I_and_moves_with_binary_features(agent):
    """Why the shipped radius is a bonus for counts: with 1/n features A is so small that B never leaves I."""
    shipped, binary = (make_run(RIVER, agent, seed=0, settings=s) for s in ({}, {"feature_value": "1", "w_step": 0.1}))
    off = []
    for run in (shipped, binary):
        run.advance(5_000)
        off.append(preconditioner.moved(run.learner.state.system))
    assert 0.0 < off[0] < 0.01
    assert off[1] > 0.03
    assert off[1] > 50 * off[0]


def test_hardly_anything_of_the_shipped_radius_is_learned():
    run = make_run(RIVER, "ucls", seed=0)
    run.advance(5_000)
    points = np.linspace(0, 1, 11)[:, None]
    found = internals(run.learner, points, np.full(11, 1 / 11))
    assert found["c_max"] == 1.0
    assert 0.0 < found[LEARNED] < 0.01
    assert found[LEARNED] < found["learned part by state"] < 0.05


def test_the_command_tells_what_bounds_are_made_of(tmp_path):
    words = ["diagnose", "ucls/OneState-v0", "--steps", "300", "--measurements", "4", "--algo"]
    text = CliRunner().invoke(cli.app, [*words, "ucls", "--out", str(tmp_path)]).stdout
    assert "composition of the bound" in text
    assert all(name in text for name in (MOVED, AGREES, "c_max", LEARNED))
    (row,) = json.loads((tmp_path / "diagnosis.json").read_text())["runs"]
    assert row["internals"][MOVED][0] == 0.0
    assert row["internals"][AGREES][0] is None  # nothing learned yet
    assert {len(values) for values in row["internals"].values()} == {len(row["readings"]["step"])}
    assert "bounds are made of" not in CliRunner().invoke(cli.app, [*words, "dgpq"]).stdout


def test_readings_stay_what_studies_keep():
    (one,) = diagnose("ucls/RiverSwim-v0", "gv-ucb", 200, [0], measurements=2)
    assert not set(one.internals) & set(one.readings)
    assert set(one.internals) == {MOVED, "corr(a, A^-1 z_bar)", "sigma"}
