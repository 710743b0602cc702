"""What the environments promise: probabilities, rewards, bounds, and one physics compiled and plain."""

import itertools

import numpy as np
import pytest

from ucls._util.canvas import Canvas
from ucls.envs import (
    ENVIRONMENTS,
    key_grid,
    make_builtin,
    mountain_car,
    one_state,
    puddle_world,
    river_swim,
    trap_chain,
)
from ucls.errors import UserError
from ucls.settings import describe

IDS = list(ENVIRONMENTS)


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def moves(env, start, a, count=20_000):
    """Where River Swim goes from `start` without noise: the shares of down, stay and up."""
    rng, s, to = generator(), np.empty(1), np.empty(count)
    for i in range(count):
        s[0] = start
        river_swim.step(env, s, a, rng)
        to[i] = s[0] - start
    return [float(np.mean(np.abs(to - d) < 1e-9)) for d in (-0.1, 0.0, 0.1)]


@pytest.mark.parametrize(
    ("probabilities", "start", "expected"),
    [
        ("strehl_littman", 0.05, (0.0, 0.7, 0.3)),
        ("strehl_littman", 0.5, (0.1, 0.6, 0.3)),
        ("strehl_littman", 0.95, (0.7, 0.3, 0.0)),
        ("osband", 0.05, (0.0, 0.4, 0.6)),
        ("osband", 0.5, (0.05, 0.6, 0.35)),
        ("osband", 0.95, (0.4, 0.6, 0.0)),
    ],
)
def test_swimming_up_succeeds_as_often_as_the_probabilities_say(probabilities, start, expected):
    env = make_builtin("ucls/RiverSwim-v0", {"probabilities": probabilities, "noise_std": 0.0}).env
    # Five standard errors of a share of 20000 are at most 0.018.
    assert moves(env, start, river_swim.UP) == pytest.approx(expected, abs=0.018)


@pytest.mark.parametrize(("start", "expected"), [(0.1, (0, 1, 0)), (0.11, (1, 0, 0)), (0.95, (1, 0, 0))])
def test_swimming_down_always_succeeds_and_stays_at_the_bottom(start, expected):
    env = make_builtin("ucls/RiverSwim-v0", {"noise_std": 0.0}).env
    assert tuple(moves(env, start, river_swim.DOWN, 100)) == expected


def test_the_current_moves_the_fish_even_when_it_stays():
    env = make_builtin("ucls/RiverSwim-v0").env
    for a, u in ((river_swim.DOWN, 0.5), (river_swim.UP, 0.5)):
        s = np.array([0.05])
        river_swim.move(env, s, a, u, 1.5)
        assert s[0] == pytest.approx(0.065, abs=1e-15)
    s = np.array([0.5])
    river_swim.move(env, s, river_swim.DOWN, 0.5, 1.5)
    assert s[0] == pytest.approx(0.385, abs=1e-15)


def test_river_swim_pays_for_the_next_state_or_for_the_state_and_the_action():
    up, down, rise = river_swim.UP, river_swim.DOWN, 0.99
    for start, a, u, on_next, on_pair in [
        (0.85, up, rise, 1.0, 0.0),  # arrives at the top
        (0.95, up, 0.0, 0.0, 1.0),  # is washed off the top
        (0.95, down, 0.5, 0.0, 0.0),
        (0.15, down, 0.5, 0.005, 0.0),
        (0.05, down, 0.5, 0.005, 0.005),
        (0.05, up, rise, 0.0, 0.0),
        (0.05, up, 0.0, 0.005, 0.0),
    ]:
        for reward_on, expected in (("next", on_next), ("state_action", on_pair)):
            env = make_builtin("ucls/RiverSwim-v0", {"reward_on": reward_on, "noise_std": 0.0}).env
            assert river_swim.move(env, np.array([start]), a, u, 0.0) == (expected, 0.99, False)


def test_the_edges_of_the_river_belong_to_the_right_stretch():
    env = make_builtin("ucls/RiverSwim-v0", {"noise_std": 0.0, "reward_on": "next"}).env
    s = np.array([0.9])
    # 0.9 is not the top: there a luck of 0.65 would wash the fish down; in the middle it stays and earns nothing.
    assert river_swim.move(env, s, river_swim.UP, 0.65, 0.0)[0] == 0.0
    assert s[0] == 0.9
    s[0] = 0.1
    assert river_swim.move(env, s, river_swim.UP, 0.05, 0.0)[0] == 0.005
    assert s[0] == 0.1


@pytest.mark.parametrize(("a", "low", "high"), [(river_swim.UP, 0.214, 0.230), (river_swim.DOWN, 0.0045, 0.005)])
def test_always_up_earns_0_222_a_step_and_always_down_0_005(a, low, high):
    env, rng, s = make_builtin("ucls/RiverSwim-v0").env, generator(1), np.empty(1)
    river_swim.reset(env, s, rng)
    # Always down earns a little less than 0.005: noise lifts the fish out of the bottom now and then, for a step.
    assert low < np.mean([river_swim.step(env, s, a, rng)[0] for _ in range(200_000)]) < high


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (0.45, 0.4, 0.1),  # the lower end of the upright puddle
        (0.5, 0.5, 0.05),
        (0.45, 0.35, 0.05),  # beyond that end
        (0.2, 0.75, 0.1),
        (0.2, 0.69, 0.04),
        (0.04, 0.67, 0.0),  # 0.1 from the round end of the level puddle, 3-4-5
        (0.07, 0.71, 0.05),
        (0.45, 0.75, 0.2),  # both puddles, fully
        (0.42, 0.75, 0.17),
        (0.45, 0.85, 0.05),  # 0.05 beyond the upper end; 0.1 from the level one
        (0.9, 0.9, 0.0),
    ],
)
def test_puddles_are_as_deep_as_computed_by_hand(x, y, expected):
    assert puddle_world.depth(x, y) == pytest.approx(expected, abs=1e-12)


def test_puddle_world_pays_for_the_depth_of_the_next_state():
    env = make_builtin("ucls/PuddleWorld-v0", {"noise_std": 0.0}).env
    s = np.array([0.45, 0.3])
    r, gamma, terminated = puddle_world.move(env, s, 0, 0.0, 0.0)
    assert (r, gamma, terminated) == (pytest.approx(-1 - 400 * 0.05), 1.0, False)


@pytest.mark.parametrize(("a", "dx", "dy"), [(0, 0, 1), (1, -1, 0), (2, 0, -1), (3, 1, 0)])
def test_noise_in_puddle_world_is_along_the_chosen_axis_only(a, dx, dy):
    env = make_builtin("ucls/PuddleWorld-v0").env
    s = np.array([0.5, 0.5])
    puddle_world.move(env, s, a, 0.0, 0.7)
    assert s == pytest.approx([0.5 + 0.12 * dx, 0.5 + 0.12 * dy], abs=1e-15)


def test_puddle_world_ends_where_both_coordinates_are_at_least_0_95():
    env = make_builtin("ucls/PuddleWorld-v0", {"noise_std": 0.0, "discount": 0.9}).env
    assert puddle_world.move(env, np.array([0.96, 0.91]), 0, 0.0, 0.0) == (-1.0, 0.0, True)
    assert puddle_world.move(env, np.array([0.94, 0.91]), 0, 0.0, 0.0) == (-1.0, 0.9, False)


@pytest.mark.parametrize(("id", "rewards"), [("ucls/MountainCar-v0", (-1, -1)), ("ucls/SparseMountainCar-v0", (0, 1))])
def test_mountain_car_pays_on_the_way_and_at_the_goal(id, rewards):
    env = make_builtin(id).env
    on_the_way, at_the_goal = np.array([0.4, 0.05]), np.array([0.45, 0.07])
    assert mountain_car.step(env, on_the_way, 2, generator()) == (rewards[0], env.discount, False)
    assert mountain_car.step(env, at_the_goal, 2, generator()) == (rewards[1], 0.0, True)
    assert env.discount == (1.0 if rewards[0] else 0.998)


def test_mountain_car_has_the_constants_of_sutton_and_barto():
    env = make_builtin("ucls/MountainCar-v0").env
    s = np.array([-0.5, 0.01])
    mountain_car.step(env, s, 0, generator())
    v = 0.01 - 0.001 - 0.0025 * np.cos(-1.5)
    assert s == pytest.approx([-0.5 + v, v], abs=1e-15)
    s[:] = -1.19, -0.06
    mountain_car.step(env, s, 0, generator())
    assert s.tolist() == [-1.2, 0.0]


def test_a_goal_farther_up_the_road_is_reached_later():
    env = make_builtin("ucls/MountainCar-v0", {"goal_position": 0.6}).env
    s = np.array([0.48, 0.05])
    assert not mountain_car.step(env, s, 2, generator())[2]
    assert s[0] > 0.5
    assert mountain_car.step(env, np.array([0.58, 0.05]), 2, generator())[2]


def test_one_state_pays_1_left_and_five_equally_likely_amounts_right():
    env, rng, s = make_builtin("ucls/OneState-v0").env, generator(), np.zeros(1)
    assert one_state.step(env, s, 0, rng) == (1.0, 0.0, False)
    paid = np.array([one_state.step(env, s, 1, rng)[0] for _ in range(20_000)])
    amounts, counts = np.unique(paid, return_counts=True)
    assert amounts.tolist() == [-5, -2, 2, 5, 10]
    assert counts / len(paid) == pytest.approx(np.full(5, 0.2), abs=0.015)
    assert s[0] == 0.0


@pytest.mark.parametrize("id", IDS)
def test_states_stay_within_bounds_and_rewards_below_reward_max(id):
    world, rng = make_builtin(id), generator(3)
    low, high = world.bounds()
    s = np.empty(len(low))
    world.reset(s, rng)
    for _ in range(5000):
        a = int(rng.integers(world.n_actions))
        r, gamma, terminated = world.step(s, a, rng)
        assert type(r) is float
        assert type(gamma) is float
        assert type(terminated) is bool
        assert np.all((s >= low) & (s <= high))
        assert r <= world.facts()["reward_max"]
        assert gamma == (0.0 if terminated else world.env.discount)
        if terminated:
            world.reset(s, rng)


@pytest.mark.parametrize(
    ("id", "low", "high"),
    [
        ("ucls/RiverSwim-v0", [0.0], [0.1]),
        ("ucls/PuddleWorld-v0", [0.1, 0.45], [0.3, 0.65]),
        ("ucls/MountainCar-v0", [-0.6, 0.0], [-0.4, 0.0]),
        ("ucls/OneState-v0", [0.0], [0.0]),
        ("ucls/DeepSea-v0", [0.0], [0.0]),
    ],
)
def test_episodes_start_uniformly_in_the_start_region(id, low, high):
    world, rng = make_builtin(id), generator(4)
    s = np.empty((4000, len(low)))
    for row in s:
        world.reset(row, rng)
    assert np.all((s >= low) & (s <= high))
    width = np.subtract(high, low)
    assert s.mean(axis=0) == pytest.approx(np.add(low, high) / 2, abs=0.025 * width.max())
    assert s.std(axis=0) == pytest.approx(width / np.sqrt(12), abs=0.02 * width.max())


@pytest.mark.parametrize("id", IDS)
def test_compiled_physics_equals_plain_python(id):
    world, rng = make_builtin(id), generator(5)
    low, high = world.bounds()
    for _ in range(500):
        s = rng.uniform(low, high)
        a, u, n = int(rng.integers(world.n_actions)), rng.random(), rng.standard_normal()
        s_compiled, s_plain = s.copy(), s.copy()
        compiled = world.module.move(world.env, s_compiled, a, u, n)
        plain = world.module.move.py_func(world.env, s_plain, a, u, n)
        assert np.array_equal(s_compiled, s_plain)
        assert compiled == plain


@pytest.mark.parametrize("id", IDS)
def test_a_step_is_a_move_with_noise_drawn_as_numpy_draws_it(id):
    world = make_builtin(id)
    s = {kind: np.empty(len(world.bounds()[0])) for kind in ("compiled", "plain")}
    rngs = {kind: generator(6) for kind in s}
    for module_reset, kind in ((world.module.reset, "compiled"), (world.module.reset.py_func, "plain")):
        module_reset(world.env, s[kind], rngs[kind])
    for a in itertools.islice(itertools.cycle(range(world.n_actions)), 50):
        world.step(s["compiled"], a, rngs["compiled"])
        world.module.step.py_func(world.env, s["plain"], a, rngs["plain"])
        assert np.array_equal(s["compiled"], s["plain"])
    assert rngs["compiled"].bit_generator.state == rngs["plain"].bit_generator.state


@pytest.mark.parametrize("id", IDS)
def test_every_setting_has_a_sentence_and_a_default(id):
    settings = describe(make_builtin(id).module.Settings)
    assert all(s.doc for s in settings)
    assert {"discount", "time_limit"} <= {s.name for s in settings}


@pytest.mark.parametrize(
    ("id", "reward_max", "return_max", "time_limit", "discount"),
    [
        ("ucls/RiverSwim-v0", 1, 100, 0, 0.99),
        ("ucls/PuddleWorld-v0", 0, 0, 10000, 1.0),
        ("ucls/SparseMountainCar-v0", 1, 1, 10000, 0.998),
        ("ucls/MountainCar-v0", 0, 0, 10000, 1.0),
        ("ucls/OneState-v0", 10, 10, 0, 0.0),
        ("ucls/DeepSea-v0", 1, 1, 0, 0.99),
    ],
)
def test_defaults_are_those_of_the_paper_or_of_bsuite(id, reward_max, return_max, time_limit, discount):
    world = make_builtin(id)
    facts = world.facts()
    assert (facts["reward_max"], facts["return_max"]) == (reward_max, return_max)
    assert (world.time_limit, world.env.discount) == (time_limit, discount)


def test_a_continuing_task_needs_a_discount_below_1():
    with pytest.raises(UserError, match="discount"):
        make_builtin("ucls/RiverSwim-v0", {"discount": 1})


def test_a_polygon_covers_its_area_and_nothing_outside_of_it():
    canvas = Canvas(40, 30)
    canvas.gradient((1, 1, 1), (1, 1, 1))
    canvas.polygon(((5, 5), (25, 5), (25, 15), (5, 15)), (0, 0, 0))
    assert (1 - canvas.pixels[..., 0]).sum() == pytest.approx(200, abs=1)
    assert canvas.pixels[20, 30, 0] == 1.0
    canvas.gradient((1, 1, 1), (1, 1, 1))
    canvas.disc((20, 15), 8, (0, 0, 0))
    assert (1 - canvas.pixels[..., 0]).sum() == pytest.approx(np.pi * 64, rel=0.01)


def test_the_chain_pays_at_its_end_and_a_bait_in_every_trap():
    env = make_builtin("ucls/TrapChain-v0", {"size": 3, "slip": 0.25, "bait": 0.02}).env
    for cell in range(3):
        effects = [trap_chain.effect(env, cell, a) for a in range(3)]
        assert sorted(effects) == [trap_chain.ADVANCE, trap_chain.RETURN, trap_chain.TRAP]
        advance, back, trap = (effects.index(kind) for kind in (trap_chain.ADVANCE, trap_chain.RETURN, trap_chain.TRAP))
        s = np.array([float(cell)])
        assert trap_chain.move(env, s.copy(), trap, 0.9, 0.0) == (0.02, 0.0, True)
        assert trap_chain.move(env, s, advance, 0.2, 0.0) == (0.0, 0.99, False)
        assert s[0] == cell
        assert trap_chain.move(env, s, advance, 0.3, 0.0) == ((1.0, 0.0, True) if cell == 2 else (0.0, 0.99, False))
        assert s[0] == min(cell + 1, 2)
        s[0] = cell
        assert trap_chain.move(env, s, back, 0.9, 0.0) == (0.0, 0.99, False)
        assert s[0] == 0


def test_orders_of_the_effects_differ_between_cells_and_maps():
    orders = {
        tuple(
            trap_chain.effect(make_builtin("ucls/TrapChain-v0", {"mapping_seed": seed}).env, cell, a) for a in range(3)
        )
        for seed in range(5)
        for cell in range(10)
    }
    assert len(orders) == 6


@pytest.mark.parametrize("seed", range(4))
def test_the_door_of_the_grid_opens_with_all_keys_only(seed):
    env = make_builtin("ucls/KeyGrid-v0", {"size": 4, "keys": 3, "slip": 0.0, "mapping_seed": seed}).env
    cells = [key_grid.key_cell(env, key) for key in range(3)]
    assert len({0, 15, *cells}) == 5
    beside = np.array([3 * 16 + 11.0])  # above the door, with two of three keys
    ways = []
    for a in range(4):
        s = beside.copy()
        reward, _, terminated = key_grid.move(env, s, a, 0.5, 0.0)
        ways.append(int(s[0]) % 16)
        assert (reward, terminated) == (0.0, False)
    assert sorted(ways) == [7, 10, 11, 15]
    down = ways.index(15)
    assert key_grid.move(env, np.array([7 * 16 + 11.0]), down, 0.5, 0.0) == (1.0, 0.0, True)


def test_a_key_is_picked_up_by_entering_its_cell_and_slipping_goes_anywhere():
    env = make_builtin("ucls/KeyGrid-v0", {"size": 5, "keys": 1, "slip": 0.4}).env
    key = key_grid.key_cell(env, 0)
    row, column = divmod(key, 5)
    near = (row - 1, column) if row else (row + 1, column)
    held = set()
    for u in (0.05, 0.15, 0.25, 0.35):
        s = np.array([near[0] * 5.0 + near[1]])
        key_grid.move(env, s, 0, u, 0.0)
        held.add(int(s[0]))
    assert 25 + key in held
