"""Model-based tabular baselines: each agrees with its pseudocode in dense NumPy, and learns."""

import copy
import warnings

import numpy as np
import pytest

from support import tabular_boxes as boxes
from support.uncompiled import run_uncompiled
from ucls import Agent, UserError, make_run
from ucls.algorithms.baselines import oim, psrl, r_max
from ucls.envs import make_builtin
from ucls.kernels.dynamic_programming.tabular import build_table, horizon_values

RIVER, SEA, ARMS = "ucls/TabularRiverSwim-v0", "ucls/DeepSea-v0", "ucls/SixArms-v0"
CASES = (
    ("r-max", RIVER, {"visits": 2, "discount": 0.8}),
    ("r-max", SEA, {"visits": 2, "size": 3, "stochastic": True}),
    ("oim", RIVER, {"discount": 0.8}),
    ("oim", SEA, {"size": 3, "stochastic": True}),
    ("ucbvi", RIVER, {"time_limit": 4, "bonus_scale": 0.01}),
    ("ucbvi", RIVER, {"time_limit": 4, "bonus_scale": 1e-6}),
    ("ucbvi", SEA, {"size": 3, "bonus_scale": 0.01}),
    ("ucrl2", RIVER, {"time_limit": 4, "radius_scale": 0.1}),
    ("ucrl2", RIVER, {"radius_scale": 0.05}),
    ("ucrl2", SEA, {"size": 3, "stochastic": True, "horizon": 0, "radius_scale": 0.1}),
    ("psrl", RIVER, {"time_limit": 4}),
    ("psrl", RIVER, {"size": 8, "chance_prior": 3.0}),
    ("psrl", SEA, {"size": 3, "horizon": 0, "visits_prior": 0.5}),
)


def box_of(name, run):
    me = run.learner
    sizes = me.coder.size // me.plan.n_actions, me.plan.n_actions, me.hyper
    if name == "psrl":
        return boxes.Psrl(*sizes, copy.deepcopy(me.rng), psrl.TOLERANCE)
    return {"r-max": boxes.RMax, "oim": boxes.Oim, "ucbvi": boxes.Ucbvi, "ucrl2": boxes.Ucrl2}[name](*sizes)


def values(name, state, n_cells, n_actions):
    """The values by which the kernel acts, by step, cell and action."""
    if name == "oim":
        visits, mean = state.solver.visits, state.solver.mean
        return np.where(visits > 0, mean, np.nan).reshape(1, n_cells, n_actions)
    return state.q.reshape(-1, n_cells, n_actions)


def check_against_box(name, env, settings, steps):
    """Let a run learn step by step, and compare every value of cells that are known, and every action."""
    run = make_run(env, name, seed=4, settings=settings)
    me, box, s, n_actions = run.learner, box_of(name, run), run.s, run.learner.plan.n_actions
    clock = 0
    for t in range(steps):
        if clock == 0:
            run.world.reset(s, run.world_rng)
            box.start()
            me.begin(s)
        cell, a = int(me.pending.xs.index[0, 0]) // n_actions, me.action
        q = box.q if box.q.ndim == 3 else box.q[None]
        now = q[box.step % len(q), cell]
        assert now[a] == pytest.approx(now.max(), abs=1e-9 if name != "oim" else 1e-4), (name, env, t)
        r, gamma, terminated = run.world.step(s, a, run.world_rng)
        clock += 1
        me.advance(r, gamma, s, terminated)
        s_next = box.S if terminated else int(me.pending.xs.index[0, 0]) // n_actions
        box.learn(cell, a, r, gamma, s_next)
        clock = 0 if terminated or clock == run.world.time_limit else clock
        known = int(me.coder.count[0])
        found = values(name, me.state, box.S, n_actions)[:, :known]
        expected = (box.q if box.q.ndim == 3 else box.q[None])[:, :known]
        close = np.isclose(found, expected, rtol=1e-9, atol=1e-9 if name != "oim" else 1e-4) | np.isnan(found)
        assert close.all(), (name, env, settings, t)
    if me.algorithm.__name__.endswith(("psrl", "ucrl2")):
        assert np.array_equal(me.state.visits.reshape(box.S, n_actions), box.before)


def check_all(steps):
    warnings.simplefilter("ignore")
    r_max.TOLERANCE, oim.TOLERANCE, oim.BACKUPS = 1e-14, 1e-9, 100_000
    for case in CASES:
        check_against_box(*case, steps)


def test_kernels_agree_with_dense_boxes():
    run_uncompiled("from test_model_based import check_all\ncheck_all(40)")


def check_many_states():
    """Where more next states are unseen than `GROUPS`, chances have the mean and variance of the posterior."""
    warnings.simplefilter("ignore")
    run = make_run(RIVER, "psrl", seed=1, settings={"size": 60})
    state, hyper, rng = run.learner.state, run.learner.hyper._replace(chance_prior=30.0), np.random.default_rng(0)
    run.advance(30)
    pair = int(np.argmax(state.model.visits))
    n, weights = state.model.visits[pair], np.zeros((1500, 2))
    move = psrl.mv.first_of(state.model.moves, pair)
    count = 1
    while state.model.moves.out[move] >= 0:
        move, count = state.model.moves.out[move], count + 1
    for i in range(len(weights)):
        seen, cells, chances = np.full(60, -1), np.full(99, -9), np.zeros(99)
        assert psrl.draw_chances(state.model, hyper, pair, seen, cells, chances, 0, rng) == count + psrl.GROUPS
        assert len({*cells[: count + psrl.GROUPS]}) == count + psrl.GROUPS
        assert chances.sum() == pytest.approx(1.0)
        weights[i] = chances[count - 1], chances[count]
    shape, total = state.model.moves.visits[move] + 0.5, n + 30.0
    first, shared = weights.T
    assert first.mean() == pytest.approx(shape / total, rel=0.05)
    assert first.var() == pytest.approx(shape * (total - shape) / total**2 / (total + 1), rel=0.15)
    assert shared.mean() == pytest.approx(0.5 * (60 - count) / psrl.GROUPS / total, rel=0.1)


def test_posterior_of_many_states():
    run_uncompiled("from test_model_based import check_many_states\ncheck_many_states()")


@pytest.mark.parametrize(
    ("name", "env", "settings", "steps", "part"),
    [
        ("psrl", RIVER, {"time_limit": 20}, 10_000, 0.85),
        pytest.param("psrl", RIVER, {}, 10_000, 0.8, marks=pytest.mark.slow),
        pytest.param("oim", RIVER, {}, 20_000, 0.85, marks=pytest.mark.slow),
        pytest.param("r-max", RIVER, {"visits": 20}, 20_000, 0.85, marks=pytest.mark.slow),
        pytest.param("ucrl2", RIVER, {"radius_scale": 0.1}, 20_000, 0.8, marks=pytest.mark.slow),
        pytest.param("ucbvi", RIVER, {"time_limit": 20, "bonus_scale": 0.02}, 20_000, 0.85, marks=pytest.mark.slow),
    ],
)
def test_it_learns(name, env, settings, steps, part):
    runs = [make_run(env, name, seed=seed, settings=settings) for seed in range(2)]
    rates = [run.advance(steps).rewards[steps // 2 :].mean() for run in runs]
    assert np.mean(rates) > part * runs[0].world.best().reward_rate


@pytest.mark.parametrize("name", ["r-max", "oim", "ucbvi", "ucrl2", "psrl"])
def test_continuous_states_are_refused_in_one_line(name):
    with pytest.raises(UserError, match=f"^{name} learns a table of discrete states"):
        make_run("ucls/RiverSwim-v0", name)


def test_horizons_follow_the_time_limit():
    assert [Agent("FrozenLake-v1", name).plan.settings["horizon"] for name in ("ucbvi", "ucrl2", "psrl")] == [100] * 3
    assert [make_run(RIVER, name).plan.settings["horizon"] for name in ("ucbvi", "ucrl2", "psrl")] == [100, 0, 0]


def test_river_swim_moves_and_pays_as_its_papers_say():
    world = make_builtin(RIVER)
    table = build_table(world.env, world.problem())
    assert table.chance[0, 1] == pytest.approx([0.4, 0.6, 0, 0, 0, 0])
    assert table.chance[3, 1] == pytest.approx([0, 0, 0.05, 0.6, 0.35, 0])
    assert table.chance[5, 1] == pytest.approx([0, 0, 0, 0, 0.4, 0.6])
    assert table.chance[:, 0].argmax(axis=1).tolist() == [0, 0, 1, 2, 3, 4]
    assert table.r == pytest.approx(np.array([[0.005, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]]))
    other = make_builtin(RIVER, {"probabilities": "strehl_littman"})
    table = build_table(other.env, other.problem())
    assert table.chance[2, 1] == pytest.approx([0, 0.1, 0.6, 0.3, 0, 0])
    assert table.r[5, 1] == pytest.approx(0.3)
    assert table.r[0, 0] == pytest.approx(5 / 10_000)
    s, rng = np.zeros(1), np.random.default_rng(1)
    assert {int(s[0]) for _ in range(50) if other.reset(s, rng) is None} == {1, 2}


def test_the_optimum_of_an_episode_is_that_of_all_policies_that_know_the_step():
    world = make_builtin(RIVER, {"size": 3, "time_limit": 3})
    table = build_table(world.env, world.problem())
    best = 0.0
    for rules in np.ndindex(*(2,) * 9):
        now, earned = np.eye(3)[0], 0.0
        for h in range(3):
            rule = np.array(rules[3 * h : 3 * h + 3])
            earned += now @ table.r[np.arange(3), rule]
            now = now @ table.chance[np.arange(3), rule]
        best = max(best, earned)
    assert horizon_values(table, 3)[0, 0] == pytest.approx(best)
    assert world.optimal().episode_return == pytest.approx(best)


def test_six_arms_are_rarer_the_better_they_are():
    world = make_builtin(ARMS)
    table = build_table(world.env, world.problem())
    assert [table.chance[0, a, a + 1] for a in range(6)] == pytest.approx([1, 0.15, 0.1, 0.05, 0.03, 0.01])
    assert table.r.max(axis=1).tolist() == [0, 50, 133, 300, 800, 1660, 6000]
    assert (table.r > 0).sum(axis=1).tolist() == [0, 5, 1, 1, 1, 1, 1]
    assert table.chance[1:, :, 0].sum(axis=1).tolist() == [1, 5, 5, 5, 5, 5]
