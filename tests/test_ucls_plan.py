"""UCLS-Plan: its solvers reach the fixed point of the batch formulas, whatever came before, and it learns."""

import numpy as np
import pytest

import ucls
from support.plan_oracle import Plan
from support.transitions import follow
from support.uncompiled import run_uncompiled
from ucls.algorithms import ucls_plan
from ucls.core.run import Run, make_run
from ucls.errors import UclsWarning
from ucls.kernels import active as la
from ucls.kernels.planning import block_solver, blocks, moves, sweeping, trajectory
from ucls.testing import small_run

SEA, RIVER, PUDDLES = "ucls/DeepSea-v0", "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"


def followed(env, steps, **settings):
    """A run, and the fixed point of what it has seen."""
    run = small_run(env, "ucls-plan", seed=7, **settings)
    transitions = list(follow(run, steps))
    levels = ucls_plan.levels_of(run.learner.state, run.learner.hyper)
    return run, levels, Plan(transitions, *levels)


def check_one_hot(steps, **settings):
    run, levels, oracle = followed(SEA, steps, **settings)
    solver, size = run.learner.state.solver, run.learner.coder.size
    assert oracle.solve() < 1e-9
    assert sweeping.solve(solver, levels)
    bounds = [sweeping.upper(solver, levels, pair) for pair in range(size)]
    np.testing.assert_allclose(bounds, np.minimum(oracle.upper(np.eye(size)), levels.v0), atol=1e-8)
    tried = solver.visits > 0
    np.testing.assert_allclose(solver.w[tried], oracle.base + oracle.w[tried], atol=1e-8)
    return solver, levels


def check_blocks(env, steps, most=400, **settings):
    """Solves that are run on reach what sweeps of the oracle reach."""
    run, levels, oracle = followed(env, steps, **{"lambda": 0.0}, **settings)
    solver, n_actions = run.learner.state.solver, run.plan.n_actions
    for a in range(n_actions):
        np.testing.assert_allclose(solver.inverse[a], oracle.inverse[a::n_actions, a::n_actions], atol=1e-8)
    for _ in range(most):
        block_solver.solve(solver, levels, 1)
    assert oracle.solve(1e-7, most) < 1e-3 * (levels.v0 - levels.vmin)
    largest = np.abs(oracle.phi).max()
    np.testing.assert_allclose(solver.phi.T.ravel(), oracle.phi, atol=1e-3 * largest)
    for a in range(n_actions):
        expected = oracle.C[a::n_actions, a::n_actions]
        np.testing.assert_allclose(solver.C[a], expected, atol=1e-3 * np.abs(oracle.C).max())


@pytest.mark.parametrize("settings", [{}, {"noise_scale": 0, "prior_visits": 1}, {"stochastic": False}], ids=str)
def test_one_hot_solver_reaches_the_fixed_point_of_all_transitions(settings):
    check_one_hot(300, **settings)


def test_one_hot_solves_agree_whatever_came_before():
    solver, levels = check_one_hot(300)
    expected = [sweeping.upper(solver, levels, pair) for pair in range(len(solver.visits))]
    rng = np.random.default_rng(1)
    solver.V[:] = rng.uniform(levels.vmin, levels.v0, len(solver.V))
    solver.variance[0] = 7.0
    assert sweeping.solve(solver, levels)
    again = [sweeping.upper(solver, levels, pair) for pair in range(len(solver.visits))]
    np.testing.assert_allclose(again, expected, atol=1e-8)


@pytest.mark.parametrize("env", [RIVER, pytest.param(PUDDLES, marks=pytest.mark.slow)])
def test_block_solver_reaches_the_fixed_point_of_all_transitions(env):
    check_blocks(env, 200)


def test_a_solve_with_lambda_returns_is_a_sweep_over_all_transitions():
    """From the same bounds both compute the same; with lambda > 0 sweeps need not settle, so one is compared."""
    run, levels, oracle = followed(RIVER, 200, **{"lambda": 0.8})
    solver, n_actions = run.learner.state.solver, run.plan.n_actions
    block_solver.solve(solver, levels, 3)
    oracle.phi, oracle.w = solver.phi.T.ravel().copy(), solver.w.T.ravel().copy()
    for a in range(n_actions):
        oracle.C[a::n_actions, a::n_actions] = solver.C[a]
    y, y_mean = oracle.targets()
    oracle.sweep()
    block_solver.solve(solver, levels, 1)
    G, _ = oracle.long_targets(y, y_mean)
    assert np.abs(G - y).max() > 0.01 * (levels.v0 - levels.vmin)  # longer returns make a difference
    np.testing.assert_allclose(solver.phi.T.ravel(), oracle.phi, atol=1e-8 * np.abs(oracle.phi).max())
    np.testing.assert_allclose(solver.w.T.ravel(), oracle.w, atol=1e-8 * np.abs(oracle.phi).max())


def test_a_trajectory_forgets_the_oldest_steps_at_its_limit():
    steps = trajectory.trajectory()
    for pair in range(5):
        trajectory.record(steps, pair, pair + 1, float(pair), 0.9, 3)
    assert (steps.count[0], steps.head[0], list(steps.pair[:3])) == (3, 2, [3, 4, 2])
    assert list(steps.continues[:3]) == [1, 1, 1]  # the very first, which began an episode, is gone
    trajectory.begin(steps)
    trajectory.record(steps, 7, -1, 0.0, 0.0, 3)
    assert list(steps.pair[:3]) == [3, 4, 7]
    assert list(steps.continues[:3]) == [1, 1, 0]


@pytest.mark.slow
def test_block_solver_with_dense_features_reaches_the_fixed_point():
    run = make_run(PUDDLES, "ucls-plan", seed=7, features="fourier", settings={"order": 1, "time_limit": 30})
    transitions = list(follow(run, 150))
    solver, levels = run.learner.state.solver, ucls_plan.levels_of(run.learner.state, run.learner.hyper)
    oracle = Plan(transitions, *levels)
    for a in range(4):
        np.testing.assert_allclose(solver.inverse[a], oracle.inverse[a::4, a::4], atol=1e-6)
    for _ in range(1000):
        block_solver.solve(solver, levels, 1)
    oracle.solve(1e-6, 1000)
    assert np.abs(solver.phi.T.ravel() - oracle.phi).max() < 1e-3 * np.abs(oracle.phi).max()


def test_plain_python_reaches_the_fixed_point():
    """The same kernels, not compiled, in a process with the compiler off."""
    run_uncompiled(f"from test_ucls_plan import *\ncheck_one_hot(40)\ncheck_blocks({RIVER!r}, 30, 400)")


def test_one_block_with_one_hot_features_is_the_one_hot_solver():
    """Both solvers on the same transitions, where both apply."""
    run, levels, _ = followed(SEA, 200)
    tabular, n_actions = run.learner.state.solver, run.plan.n_actions
    matrix = blocks.blocks(run.learner.coder.size, n_actions, 1)
    for t in follow(small_run(SEA, "ucls-plan", seed=7), 200):
        firsts = (xs[0].argmax() // n_actions * n_actions for xs in (t.xs, t.xs_next))
        xs, xs_next = (la.Active(np.arange(n_actions)[:, None] + i, np.ones((n_actions, 1))) for i in firsts)
        if blocks.full(matrix):
            matrix = blocks.grow(matrix)
        blocks.observe(matrix, levels, xs, t.a, t.r, t.gamma, xs_next, 10**6)
    for _ in range(300):
        block_solver.solve(matrix, levels, 3)
    assert sweeping.solve(tabular, levels)
    for pair in np.flatnonzero(tabular.visits):
        x = la.Active(np.array([pair // n_actions]), np.ones(1))
        expected = sweeping.upper(tabular, levels, pair)
        found = min(levels.v0, blocks.upper(matrix, levels, x, pair % n_actions))
        assert found == pytest.approx(expected, abs=1e-3)


def test_before_any_data_everything_is_the_prior():
    for env in (SEA, RIVER):
        run = small_run(env, "ucls-plan", return_max=3.0)
        s = np.zeros(len(run.plan.low))
        mean, radius = run.learner.interval(s)
        assert np.all(mean == 0)
        np.testing.assert_allclose(radius, 3.0)
        unknown, noisy, share = run.learner.split(s[None])
        np.testing.assert_allclose(unknown, 3.0)
        assert np.all(noisy == 0)
        assert np.all(share == 1)


def test_an_action_that_was_not_tried_never_looks_best():
    """In a world of costs everything that is not known is worth more than what is, but not to the greedy policy."""
    agent = ucls.Agent("CliffWalking-v1", "ucls-plan", seed=900).learn(30)
    solver = agent.learner.state.solver
    for cell in range(solver.known[0]):
        tried = solver.visits[4 * cell : 4 * cell + 4] > 0
        if tried.any():
            levels = ucls_plan.levels_of(agent.learner.state, agent.learner.hyper)
            values = [sweeping.value(solver, levels, 4 * cell + a) for a in range(4)]
            assert tried[np.argmax(values)]


def test_a_limit_keeps_memory_flat_and_the_regression_sound(tmp_path):
    run = make_run(PUDDLES, "ucls-plan", seed=900, settings={"limit": 50})
    run.advance(3000)
    solver = run.learner.state.solver
    assert solver.cells.count[0] == 50
    assert solver.moves.table.count[0] <= 50 + 50 * 4
    assert solver.visits.sum() == 3000
    again = Run.load(run.save(tmp_path / "run.safetensors"))
    assert np.array_equal(run.advance(500).rewards, again.advance(500).rewards)


def test_a_transition_beyond_the_limit_counts_for_the_most_similar_move():
    known, V = moves.moves(4, 2), np.array([0.0, 1.0, 5.0, 4.0])
    for cell in (1, 2):
        moves.record(known, 0, cell, 1.0, 1.0, V, 2)
    assert moves.record(known, 0, 3, 2.0, 1.0, V, 2) == 1
    assert known.visits[:2].tolist() == [1.0, 2.0]
    assert (known.reward[1], known.deviation[1]) == (1.5, 0.5)
    assert moves.record(known, 1, 3, 2.0, 1.0, V, 2) == 2  # the first of its pair


def test_moves_with_wrong_links_are_refused():
    run = small_run(SEA, "ucls-plan", seed=1)
    run.advance(100)
    saved = run.checkpoint()
    broken = saved["state.solver.moves.out"].copy()
    broken[0] = 0  # a circle
    with pytest.raises(ucls.UserError, match="linked wrongly"):
        run.restore({**saved, "state.solver.moves.out": broken}, 100)


def test_actions_that_share_features_are_reported():
    run = small_run(RIVER, "ucls-plan", hashing="joint")
    with pytest.warns(UclsWarning, match="hashing=blocks"):
        run.advance(50)


def test_a_guess_of_return_max_is_told_once_a_reward_was_seen():
    hyper = ucls_plan.Settings()
    state = ucls_plan.init(hyper, 8, 2, 1)
    state.v0[0] = 200.0
    assert ucls_plan.estimated_return_max(state, hyper) is None
    state.returns.varied[0] = 1
    assert ucls_plan.estimated_return_max(state, hyper) == 200.0
    assert ucls_plan.estimated_return_max(state, hyper._replace(return_max=200.0)) is None


def test_where_every_step_is_worth_the_same_no_more_than_all_of_them_is_hoped_for():
    hyper, rng = ucls_plan.Settings(), np.random.default_rng(0)
    state = ucls_plan.init(hyper, 8, 2, 1)
    xs = la.Active(np.array([[0], [1]]), np.ones((2, 1)))
    for _ in range(2000):
        ucls_plan.update(state, hyper, xs, 0, 1.0, 0.99, xs, 0, rng)
    assert ucls_plan.levels_of(state, hyper).v0 == pytest.approx(100)
    ucls_plan.update(state, hyper, xs, 1, 0.5, 0.99, xs, 0, rng)
    assert ucls_plan.levels_of(state, hyper).v0 > 150


def test_the_agent_is_often_greedy_where_return_max_is_an_extrapolation_and_only_there():
    """The largest reward with every step is far above what can be had if smaller rewards come too."""
    rng = np.random.default_rng(0)
    run = small_run(RIVER, "ucls-plan", seed=7, return_max="unknown")
    state, settings = run.learner.state, run.learner.hyper
    ucls_plan.begin_period(state, settings, rng)
    assert (state.periods[0], state.greedy[0]) == (0, 0)  # nothing was seen, so nothing is extrapolated
    state.returns.discount[0], state.returns.on_way[0], state.least[0] = 0.99, 3.0, -1.0
    greedy = []
    for _ in range(4000):
        ucls_plan.begin_period(state, settings, rng)
        greedy.append(state.greedy[0])
    assert sum(greedy[:10]) == 0
    assert np.mean(greedy) == pytest.approx(1 - 2 * np.sqrt(10 / 4000), abs=0.02)
    state.least[0] = 3.0  # every step was worth the same: v0 is a bound
    ucls_plan.begin_period(state, settings, rng)
    assert state.greedy[0] == 0
    state.least[0] = -1.0
    ucls_plan.begin_period(state, settings._replace(return_max=9.0), rng)
    assert state.greedy[0] == 0


def test_data_that_outgrow_their_room_are_kept(monkeypatch):
    for env in (SEA, PUDDLES):
        expected = small_run(env, "ucls-plan", seed=1)
        rewards = expected.advance(600).rewards
        with monkeypatch.context() as tight:
            tight.setattr(moves, "MOVES", 2)
            tight.setattr(blocks, "CELLS", 2)
            run = small_run(env, "ucls-plan", seed=1)
        assert np.array_equal(rewards, run.advance(600).rewards)


def found_treasure(size, episodes, seed):
    run = make_run(SEA, "ucls-plan", seed=seed, settings={"size": size})
    return run.advance(size * episodes).episode_returns > 0.5


def test_deep_sea_of_10_is_solved_within_30_episodes():
    for seed in (910, 911):
        assert found_treasure(10, 60, seed)[30:].all()


def test_noise_makes_no_pair_look_better_than_one_that_was_never_tried():
    """Otherwise the agent would repeat its first action for as long as noise may be as large as a fall is bad."""
    agent = ucls.Agent("CliffWalking-v1", "ucls-plan", seed=910).learn(200)
    solver, levels = agent.learner.state.solver, ucls_plan.levels_of(agent.learner.state, agent.learner.hyper)
    assert max(sweeping.upper(solver, levels, pair) for pair in range(len(solver.visits))) == levels.v0
    assert (solver.visits > 0).sum() > 20


def test_cliff_walking_is_optimal():
    agent = ucls.Agent("CliffWalking-v1", "ucls-plan", seed=910).learn(2500)
    assert ucls.evaluate_policy(agent, n_eval_episodes=1).mean == -13


@pytest.mark.slow
@pytest.mark.parametrize(("size", "most"), [(20, 60), (50, 180)])
def test_deep_sea_is_solved_in_few_episodes(size, most):
    found = found_treasure(size, most + 100, 910)
    assert found[most:].mean() >= 0.9


@pytest.mark.slow
def test_taxi_is_optimal_within_15000_steps():
    agent = ucls.Agent("Taxi-v4", "ucls-plan", seed=910).learn(15_000)
    table = agent.env.unwrapped.P
    chosen, value, best = [int(agent.predict(s, deterministic=True)[0]) for s in table], np.zeros(500), np.zeros(500)

    def after(ahead, s, a):
        return sum(p * (r + (not end) * ahead[to]) for p, to, r, end in table[s][a])

    for _ in range(200):  # steps of an episode
        value = np.array([after(value, s, chosen[s]) for s in table])
        best = np.array([max(after(best, s, a) for a in range(6)) for s in table])
    starts = agent.env.unwrapped.initial_state_distrib
    assert starts @ value == pytest.approx(starts @ best)
    assert starts @ best == pytest.approx(7.93, abs=0.01)


@pytest.mark.slow
def test_river_swim_is_near_optimal():
    run = make_run(RIVER, "ucls-plan", seed=910)
    assert run.advance(50_000).rewards.sum() > 10_000
