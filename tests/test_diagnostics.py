"""Readings along a run: exact where an answer is known, and without changing the run."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from support.params import always
from ucls import cli
from ucls.core.run import Run, make_run
from ucls.diagnostics import diagnose, optimal_values, policies, probe, probe_run, verdict
from ucls.diagnostics.probe import DISTRIBUTIONS, read
from ucls.envs import make_builtin
from ucls.errors import UserError
from ucls.kernels import dynamic_programming as planning
from ucls.testing import small_run

RIVER = "ucls/RiverSwim-v0"
# one of each way to look: bounds, drawn bounds, an optimistic value, a sampled one
KINDS = ("ucls", "ucbootstrap", "dgpq", "rlsvi")


def start_regret(stick, policy):
    """The regret of a fixed policy, from the start, by the function that reads learners."""
    q = planning.evaluate(stick.table, np.full(len(stick.table.points), policy))
    top = np.eye(stick.table.n_actions)[np.full(len(q), policy)]
    return read(stick, np.zeros_like(q), top, q)


def test_a_fresh_ucls_is_as_optimistic_as_its_initial_radius_says():
    """Radius sqrt((1 + 1/p) c_max / n), mean 0: below V* in River Swim, so UCLS does not start optimistic there."""
    run = make_run(RIVER, "ucls", settings={"p": 0.05, "c_max": 2.0})
    stick = optimal_values(run)
    found = probe(run.learner, stick)
    radius = np.sqrt((1 + 1 / 0.05) * 2.0 / 32)
    assert found.radius == pytest.approx(radius)
    assert found.optimism == pytest.approx(radius - stick.d_s @ stick.best.max(axis=1))
    assert found.widest == pytest.approx(radius)
    assert found.optimism < -14


def test_covered_is_the_part_of_the_density_where_the_bound_holds():
    run = make_run(RIVER, "ucls-exact")
    fresh = {
        distribution: probe(run.learner, optimal_values(run, distribution)).covered for distribution in DISTRIBUTIONS
    }
    assert fresh == pytest.approx(dict.fromkeys(DISTRIBUTIONS, 1.0))  # nothing is known: return_max everywhere
    stick = optimal_values(run, "uniform")
    none, half = np.zeros_like(stick.best), np.where(np.arange(2) == 0, stick.best + 1.0, stick.best - 1.0)
    assert read(stick, none, stick.best - 1.0, stick.best).covered == 0.0
    assert read(stick, none, half, stick.best).covered == pytest.approx(0.5)


@pytest.mark.parametrize("distribution", ["start", "uniform", "optimal"])
def test_regret_is_radius_plus_error_minus_optimism(distribution):
    run = small_run(RIVER, "ucls")
    run.advance(300)
    found = probe(run.learner, optimal_values(run, distribution))
    assert found.regret == pytest.approx(found.radius + found.value_error - found.optimism)
    assert found.bound == pytest.approx(found.radius + abs(found.value_error))
    assert found.regret > 0


def test_regret_of_always_down_is_what_lies_between_it_and_the_optimum():
    """Down at the bottom earns 0.005 a step but for the noise, which seldom carries the fish over the border."""
    stick = optimal_values(make_run(RIVER, "ucls"))
    down, up = start_regret(stick, 0), start_regret(stick, 1)
    assert down.optimum - down.regret == pytest.approx(0.005 / 0.01, rel=0.06)
    assert down.regret == pytest.approx(down.optimum - 0.49, abs=0.02)
    assert up.regret == pytest.approx(0.0, abs=1e-6)


def test_densities_are_the_ones_they_say():
    run = make_run(RIVER, "ucls")
    start, uniform, optimal = (optimal_values(run, name) for name in ("start", "uniform", "optimal"))
    s = start.table.points[:, 0]
    for stick in (start, uniform, optimal):
        assert stick.d_s.sum() == pytest.approx(1.0)
    assert start.d_s @ s == pytest.approx(0.05, abs=0.002)
    assert start.d_s[s > 0.101].sum() == 0.0
    assert uniform.d == pytest.approx(np.full_like(uniform.d, 1 / uniform.d.size))
    assert optimal.d[:, 0].sum() == pytest.approx(0.0, abs=0.01)  # the optimal policy swims up
    # in the long run it is above 0.9 as often as it earns 1
    assert optimal.d_s[s > 0.9].sum() == pytest.approx(0.222, abs=0.005)


def test_the_visits_of_episodes_last_as_long_as_episodes_do():
    world = make_builtin("ucls/PuddleWorld-v0")
    problem = world.problem()
    table = planning.tabulate(world.env, problem, problem.stride)
    policy = np.argmax(planning.best_values(table), axis=1)
    start = planning.start_weights(world.env, problem, table)
    assert planning.grid.visits(table.model, policy, start).sum() == pytest.approx(32.9, abs=0.4)


@pytest.mark.parametrize("agent", always(("ucls",), KINDS))
def test_a_probed_run_is_bit_identical_to_one_that_is_left_alone(agent):
    alone, watched = (small_run("ucls/OneState-v0", agent, seed=3) for _ in range(2))
    before = alone.advance(400)
    after, found = probe_run(watched, 400, at=[100, 250])
    assert found["step"].tolist() == [0, 100, 250, 400]
    np.testing.assert_array_equal(before.rewards, after.rewards)
    mine, other = alone.learner.checkpoint(), watched.learner.checkpoint()
    assert all(np.array_equal(mine[name], other[name]) for name in mine)
    assert found["holds"][found["optimistic"]].all()


def test_a_probe_numbers_no_tiles_of_the_states_it_looks_at():
    alone, watched = small_run(RIVER, "ucls"), small_run(RIVER, "ucls")
    alone.advance(200)
    probe_run(watched, 200, measurements=3)
    mine, other = alone.learner.checkpoint(), watched.learner.checkpoint()
    assert all(np.array_equal(mine[name], other[name]) for name in mine)


def test_a_survey_is_what_bounds_says_in_every_state():
    run = small_run(RIVER, "ucls")
    run.advance(300)
    points = np.linspace(0, 1, 7)[:, None]
    mean, top = run.learner.survey(points)
    for i, s in enumerate(points):
        one, radius = run.learner.interval(s)
        assert mean[i] == pytest.approx(one)
        assert top[i] == pytest.approx(one + radius)


def test_dgpq_is_held_against_the_rewards_it_learns_from():
    """Its values are those of r - R_max and start from V_max = 0: optimistic by exactly what the shift costs."""
    run = make_run(RIVER, "dgpq")
    found = probe(run.learner, optimal_values(run))
    plain = optimal_values(make_run(RIVER, "ucls"))
    assert found.optimism == pytest.approx(100 - plain.d_s @ plain.best.max(axis=1), abs=1e-4)
    assert found.radius == 0.0


def test_policies_of_means_and_bounds_are_told_apart(tmp_path):
    """Weights that favor down and a covariance that favors up: M swims down, M+CIR up."""
    run = make_run(RIVER, "ucls")
    state = run.learner.state
    state.system.w[0::2] = 0.1
    state.C[:] = np.diag(np.tile([0.0, 1.0], len(state.C) // 2))
    found = policies(run)
    lost_by_mean, lost_by_bound = found.regrets()
    assert lost_by_mean == pytest.approx(start_regret(optimal_values(run), 0).regret, rel=1e-6)
    assert lost_by_bound == pytest.approx(0.0, abs=1e-6)
    assert np.all(found.mean <= found.optimal + 1e-6)
    again = policies(Run.load(run.save(tmp_path / "run.safetensors")))
    np.testing.assert_array_equal(again.mean, found.mean)


def made_up(**last):
    """Readings of a run that ends as given."""
    numbers = {"step": [0, 90, 100], "optimum": 20.0, "widest": 0.0, **last}
    return {name: np.broadcast_to(np.array(value), (3,)) for name, value in numbers.items()}


@pytest.mark.parametrize(
    ("word", "optimism", "radius", "value_error", "regret"),
    [
        ("near-optimal", 3.0, 4.0, 0.0, 1.0),
        ("not optimistic", -19.0, 0.1, 0.0, 19.1),
        ("radius stays wide", 90.0, 100.0, 5.0, 15.0),
        ("inaccurate values", 3.0, 1.0, 20.0, 18.0),
    ],
)
def test_a_verdict_blames_the_largest_part_of_the_regret(word, optimism, radius, value_error, regret):
    assert regret == pytest.approx(radius + value_error - optimism)
    found = made_up(optimism=optimism, radius=radius, value_error=value_error, regret=regret)
    assert verdict(found).word == word
    assert verdict(found, diverged=True).word == "diverged"


def test_a_sound_verdict_tells_which_conditions_are_not_met():
    found = made_up(optimism=-9.0, radius=3.0, value_error=-12.0, regret=0.0)
    told = "it loses 0 of the optimal 20, though its bounds lie 9 below the optimal 20, and always did"
    assert verdict(found).because == told + " and its radius is 3 and its values err by -12"
    assert (
        verdict(made_up(optimism=1.0, radius=1.0, value_error=0.5, regret=0.5)).because
        == "it loses 0.5 of the optimal 20"
    )


def test_a_run_that_diverges_is_read_up_to_there():
    (one,) = diagnose(RIVER, "ucls", 400, [0], {"w_step": 1e9}, measurements=2)
    assert one.verdict.word == "diverged"
    assert one.policies is None
    assert np.isfinite([values for name, values in one.readings.items() if name != "step"]).all()


def test_an_agent_without_bounds_and_an_unknown_density_are_refused():
    with pytest.raises(UserError, match="sarsa has no confidence bounds"):
        probe_run(make_run(RIVER, "sarsa"), 10)
    with pytest.raises(UserError, match="did you mean 'start'"):
        probe_run(make_run(RIVER, "ucls"), 10, distribution="stat")
    with pytest.raises(UserError, match="steps from 0 to 10"):
        probe_run(make_run(RIVER, "ucls"), 10, at=[11])


def test_the_command_draws_and_judges(tmp_path):
    words = ["diagnose", "ucls/OneState-v0", "--algo", "ucls", "--steps", "300", "--measurements", "5", "--runs", "2"]
    words += ["--out", str(tmp_path)]
    text = CliRunner().invoke(cli.app, words).stdout
    assert "in 2 of 2 runs" in text or "in 1 of 2 runs" in text
    assert "distribution: start" in " ".join(text.split())
    assert {path.name for path in tmp_path.iterdir()} == {f"diagnosis.{end}" for end in ("png", "svg", "json")}
    found = json.loads(CliRunner().invoke(cli.app, [*words[:-2], "--json"]).stdout)
    assert [row["seed"] for row in found] == [0, 1]
    assert found == json.loads((tmp_path / "diagnosis.json").read_text())["runs"]
    refused = CliRunner().invoke(cli.app, ["diagnose", RIVER, "--algo", "sarsa"])
    assert isinstance(refused.exception, UserError)


@pytest.mark.slow
def test_a_literal_threshold_ends_exploration_and_ours_learns():
    """Seed 0 of River Swim: the printed box loses its radius where it is, and stays at the bottom."""
    ours, literal = (diagnose(RIVER, "ucls", 30_000, [0], s, measurements=6)[0] for s in ({}, {"trace_threshold": 0}))
    assert (ours.verdict.word, literal.verdict.word) == ("near-optimal", "not optimistic")
    assert ours.readings["radius"][-1] > 0.1 > 0.001 > literal.readings["radius"][-1]
    assert literal.readings["widest"][-1] == pytest.approx(np.sqrt(11 / 32))  # optimism is left where it never was
