"""What the optimal policies achieve, and how the solutions are kept."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from ucls.envs import ENVIRONMENTS, KNOWN, BuiltinEnv, make_builtin, one_state, river_swim
from ucls.kernels import dynamic_programming as planning
from ucls.kernels.compilation.jit import jit
from ucls.kernels.dynamic_programming import action_values, normal_nodes, product_nodes, uniform_nodes


def optimal(id, **settings):
    """What is known of the best policy of a world. What is kept of it was computed by the same lines, which name it."""
    return make_builtin(id, settings).optimal()


def test_river_swim_optimum_is_to_swim_up_everywhere_and_earns_0_222_a_step():
    found = optimal("ucls/RiverSwim-v0")
    assert found.reward_rate == pytest.approx(0.2225, abs=0.001)
    assert (found.episode_return, found.episode_steps) == (None, None)
    for s in (0.0, 0.05, 0.3, 0.5, 0.85, 0.95, 1.0):
        assert np.argmax(action_values(found, np.array([s]))) == river_swim.UP


def test_river_swim_with_osband_probabilities_is_much_easier():
    assert optimal("ucls/RiverSwim-v0", probabilities="osband").reward_rate > 0.4


def test_river_swim_values_agree_with_the_six_state_chain_in_kind():
    q = optimal("ucls/RiverSwim-v0").q.max(axis=-1)
    # The gain over (1 - discount) is what a value would be if the start did not matter.
    assert q[0] < 0.222 / 0.01 < q[-1]
    assert np.all((q > 0) & (q < 100))


@pytest.mark.parametrize(("noise_std", "steps", "score"), [(0.1, 32.9, -36.5), (0.01, 32.0, -32.1)])
def test_puddle_world_optimum_takes_the_reference_steps_and_return(noise_std, steps, score):
    found = optimal("ucls/PuddleWorld-v0", noise_std=noise_std)
    assert found.episode_steps == pytest.approx(steps, abs=0.15)
    assert found.episode_return == pytest.approx(score, abs=0.3)
    assert found.reward_rate == pytest.approx(score / steps, rel=0.01)


def test_puddle_world_values_agree_with_the_returns_that_are_earned():
    found = optimal("ucls/PuddleWorld-v0", noise_std=0.1)
    x, y = np.meshgrid(np.linspace(0.105, 0.295, 20), np.linspace(0.455, 0.645, 20))
    values = [action_values(found, np.array(s)).max() for s in zip(x.ravel(), y.ravel(), strict=True)]
    assert np.mean(values) == pytest.approx(found.episode_return, rel=0.01)


@pytest.mark.parametrize("id", ["ucls/MountainCar-v0", "ucls/SparseMountainCar-v0"])
def test_mountain_car_optimum_takes_97_7_steps(id):
    found = optimal(id)
    assert found.episode_steps == pytest.approx(97.7, abs=0.1)
    if id == "ucls/MountainCar-v0":
        assert found.episode_return == -found.episode_steps
        assert found.reward_rate == -1.0
    else:
        assert found.episode_return == 1.0
        assert 511 < 50_000 * found.reward_rate < 513


def test_undiscounted_sparse_mountain_car_still_has_a_policy_that_arrives():
    assert optimal("ucls/SparseMountainCar-v0", discount=1).episode_steps == pytest.approx(97.7, abs=0.2)


def test_one_state_optimum_is_right_and_exact():
    found = optimal("ucls/OneState-v0")
    assert found.reward_rate == pytest.approx(2.0, abs=1e-12)
    assert action_values(found, np.zeros(1)) == pytest.approx([1.0, 2.0], abs=1e-12)
    far = optimal("ucls/OneState-v0", discount=0.5)
    assert action_values(far, np.zeros(1)) == pytest.approx([3.0, 4.0], abs=1e-8)


def test_action_values_are_interpolated_multilinearly():
    q = np.array([[[0.0, 5.0], [1.0, 5.0]], [[2.0, 5.0], [7.0, 5.0]]])
    found = planning.Optimal(0.0, None, None, (np.array([0.0, 2.0]), np.array([0.0, 1.0])), q)
    assert action_values(found, np.array([1.0, 0.0])) == pytest.approx([1.0, 5.0])
    assert action_values(found, np.array([1.0, 0.5])) == pytest.approx([2.5, 5.0])
    assert action_values(found, np.array([2.0, 1.0])) == pytest.approx([7.0, 5.0])
    assert action_values(found, np.array([-9.0, 9.0])) == pytest.approx([1.0, 5.0])


def test_nodes_have_the_moments_of_the_noise_they_replace():
    nodes = product_nodes(uniform_nodes(np.array([0.3, 0.1, 0.7])), normal_nodes(64))
    assert nodes.weight.sum() == pytest.approx(1.0)
    assert nodes.weight @ nodes.u == pytest.approx(0.5)
    assert nodes.weight @ nodes.n == pytest.approx(0.0, abs=1e-12)
    assert nodes.weight @ nodes.n**2 == pytest.approx(1.0)
    assert nodes.weight[nodes.u > 0.3].sum() == pytest.approx(0.7)


def test_the_gain_is_that_of_the_chain_that_a_point_ends_in():
    """Points 0 and 1 are a chain that is two thirds of the time in 0. Point 2 stays for ever, 3 goes there or to 0."""
    rows = [[0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0.5, 0, 0.5, 0]]
    rewards = np.array([3.0, 0.0, 7.0, 100.0])
    for points, expected in ((2, [2, 2]), (4, [2, 2, 7, 4.5])):
        chances = np.array(rows)[:points, :points]
        first = np.arange(points + 1) * points
        where = np.tile(np.arange(points), points)
        model = planning.grid.Model(rewards[:points], first, where, chances.ravel())
        assert planning.grid.gain(model, np.zeros(points, np.int64))[:, 0] == pytest.approx(expected, abs=1e-8)


def test_a_second_call_reads_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CACHE_DIR", str(tmp_path))
    env = make_builtin("ucls/OneState-v0").env
    first = one_state.optimal(env)
    monkeypatch.setattr(planning, "solve", lambda *_: pytest.fail("solved again"))
    second = one_state.optimal(env)
    assert second[:3] == first[:3]
    assert np.array_equal(second.q, first.q)
    assert all(np.array_equal(p, q) for p, q in zip(second.grid, first.grid, strict=True))


@pytest.mark.parametrize("how", ["truncated", "empty", "foreign", "of another shape", "pickled", "not finite"])
def test_a_damaged_cache_file_is_computed_again(tmp_path, monkeypatch, how):
    monkeypatch.setenv("UCLS_CACHE_DIR", str(tmp_path))
    env = make_builtin("ucls/OneState-v0").env
    first = one_state.optimal(env)
    (path,) = (tmp_path / "optimal").glob("*.npz")
    whole = path.read_bytes()
    arrays = {"reward_rate": 1.0, "episode_return": 1.0, "episode_steps": 1.0, "axis_0": np.zeros(1)}
    if how == "truncated":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "foreign":
        path.write_bytes(b"not an archive")
    elif how == "of another shape":
        np.savez(path, q=np.zeros((5, 2)), **arrays)
    elif how == "pickled":
        np.savez(path, q=np.array([[object(), None]]), **arrays)
    else:
        np.savez(path, q=np.full((1, 2), np.nan), **arrays)
    assert one_state.optimal(env).reward_rate == first.reward_rate
    assert path.read_bytes() == whole


def test_other_settings_are_another_solution(tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CACHE_DIR", str(tmp_path))
    for discount in (0.0, 0.5):
        make_builtin("ucls/OneState-v0", {"discount": discount}).optimal()
    assert len(list((tmp_path / "optimal").glob("*.npz"))) == 2


class Maze(NamedTuple):
    """A corridor of five points: action 0 steps left, 1 right and slips left with chance 0.3; the right end is over."""

    discount: float
    time_limit: int = 50


def corridor_move(env, s, a, u, n):
    """One step in the corridor."""
    right = a == 1 and u >= 0.3
    s[0] = min(4.0, s[0] + 1.0) if right else max(0.0, s[0] - 1.0)
    over = s[0] >= 4.0
    return -1.0 - 0.1 * a, env.discount, over


def corridor(discount):
    """The corridor as a problem, on a grid that is its states."""
    env, nodes = Maze(discount), uniform_nodes(np.array([0.3]))
    move, over = jit(corridor_move), jit(lambda env, s: s[0] >= 4.0)
    problem = planning.Problem(None, None, move, 2, (0.0,), (4.0,), (5,), nodes, over)
    return planning.tabulate(env, problem)


def by_hand(policy, discount, horizon):
    """The values of a policy in the corridor, by plain recursion over the steps that are left."""
    v = np.zeros(5)
    q = np.zeros((5, 2))
    for _ in range(horizon):
        for s in range(4):
            left, right = max(0, s - 1), s + 1
            q[s, 0] = -1.0 + discount * v[left]
            q[s, 1] = -1.1 + discount * (0.3 * v[left] + 0.7 * (0.0 if right == 4 else v[right]))
        v = np.append(q[np.arange(4), policy[:4]], 0.0)
    return q[:4]


@pytest.mark.parametrize("discount", [0.0, 0.9, 1.0])
def test_every_policy_of_a_small_corridor_has_the_value_found_by_hand(discount):
    table = corridor(discount)
    values = []
    for policy in product((0, 1), repeat=4):
        q = planning.evaluate(table, np.array([*policy, 0]))[:4]
        # without a discount a policy that never arrives is worth its cost up to the time limit
        horizon = 50 if discount == 1 else 2000
        assert q == pytest.approx(by_hand(policy, discount, horizon), abs=1e-7 if discount < 1 else 1e-5)
        values.append(q[np.arange(4), policy])
    best = planning.best_values(table)[:4].max(axis=1)
    assert best == pytest.approx(np.max(values, axis=0), abs=1e-3 if discount == 1 else 1e-7)


def test_the_value_of_the_optimal_policy_is_the_optimal_value():
    world = make_builtin("ucls/RiverSwim-v0")
    table = planning.tabulate(world.env, world.problem(), stride=4)
    best = planning.best_values(table)
    assert planning.evaluate(table, np.argmax(best, axis=1)) == pytest.approx(best, abs=1e-6)


def test_always_up_in_the_river_earns_0_222_a_step():
    """The value of a policy averaged over where it is in the long run is its gain over (1 - discount)."""
    world = make_builtin("ucls/RiverSwim-v0")
    problem = world.problem()
    table = planning.tabulate(world.env, problem)
    up = np.ones(len(table.points), int)
    where = planning.visits(table, up, planning.start_weights(world.env, problem, table))
    assert where @ planning.evaluate(table, up)[:, 1] == pytest.approx(0.2226 / 0.01, rel=1e-3)


def test_a_policy_that_never_arrives_is_measured_up_to_the_cutoff():
    world = make_builtin("ucls/MountainCar-v0", {"time_limit": 300})
    table = planning.tabulate(world.env, world.problem(), stride=20)
    q = planning.evaluate(table, np.zeros(len(table.points), int))  # always in reverse
    assert q.min() == pytest.approx(-300.0)


def test_a_shifted_reward_shifts_the_values_of_a_continuing_task():
    world = make_builtin("ucls/OneState-v0", {"discount": 0.5})
    table = planning.tabulate(world.env, world.problem(), shift=10.0)
    assert planning.best_values(table) == pytest.approx(np.array([[3.0, 4.0]]) - 20.0, abs=1e-8)


def test_what_greedy_policies_earn_is_what_they_were_planned_to():
    world = make_builtin("ucls/RiverSwim-v0")
    problem = world.problem()
    table = planning.tabulate(world.env, problem, stride=4)
    q, down = planning.best_values(table), np.tile([1.0, 0.0], (len(table.points), 1))
    rates = [planning.average_reward(world.env, problem, table, values, 200_000) for values in (q, down)]
    assert rates == pytest.approx([world.best().reward_rate, 0.005], rel=0.03)


def test_what_is_known_of_the_best_is_what_is_planned():
    assert {id for id, settings in KNOWN if not settings} == ENVIRONMENTS.keys()
    for (id, settings), known in KNOWN.items():
        planned = optimal(id, **dict(settings))
        for name, value in known._asdict().items():
            there = getattr(planned, name)
            assert value == (there if there is None else pytest.approx(there, rel=1e-10)), (id, name)


def test_the_best_is_known_with_the_settings_that_are_recorded_only(monkeypatch):
    monkeypatch.setattr(BuiltinEnv, "optimal", lambda world: (_ for _ in ()).throw(LookupError))
    assert make_builtin("ucls/RiverSwim-v0").best() == KNOWN["ucls/RiverSwim-v0", ()]
    assert make_builtin("ucls/RiverSwim-v0", {"probabilities": "osband"}).best().reward_rate > 0.4
    for settings in ({"noise_std": 0.0}, {"probabilities": "osband", "noise_std": 0.0}):
        with pytest.raises(LookupError):
            make_builtin("ucls/RiverSwim-v0", settings).best()
