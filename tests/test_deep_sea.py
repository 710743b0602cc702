"""Deep Sea: its rules against plain loops over a grid, its optimum against brute force, and when a run solves it."""

from itertools import product

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ucls.core.run import make_run
from ucls.envs import deep_sea, make_builtin
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UserError
from ucls.features.one_hot import Settings, make
from ucls.kernels import dynamic_programming as planning
from ucls.stats import solved_after

ID = "ucls/DeepSea-v0"
VARIANTS = pytest.mark.parametrize("stochastic", [False, True])


def sea(**settings):
    return make_builtin(ID, settings).env


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def plain_hash(seed, cell):
    """The action map once more, in Python's own numbers."""

    def mixed(x):
        for _ in range(2):
            x = ((x >> 16) ^ x) * 73244475 % 2**32
        return (x >> 16) ^ x

    return mixed(mixed(seed) ^ cell) % 2


def plain_step(env, row, column, a, u, n):
    """One step on the whole grid, as the rules are told: the reward, and the row and column after it."""
    size = env.size
    goes_right = a == plain_hash(env.mapping_seed, sum(range(row + 1)) + column)
    reward = 0.0
    if goes_right and column == size - 1:
        reward += 1.0
    if env.stochastic and row == size - 1 and column in (0, size - 1):
        reward += n
    if goes_right:
        reward -= env.move_cost / size
        if not env.stochastic or u >= 1 / size:
            column = min(column + 1, size - 1)
    else:
        column = max(column - 1, 0)
    return reward, row + 1, column


def brute_force(env, discount):
    """The best expected discounted return from the start, over all policies that depend on the whole past."""
    fails = 1 / env.size if env.stochastic else 0.0

    def best(row, column):
        if row == env.size:
            return 0.0
        values = []
        for a in (0, 1):
            value = 0.0
            for chance, u in ((fails, 0.0), (1 - fails, 0.999)):
                r, row_next, column_next = plain_step(env, row, column, a, u, 0.0)
                value += chance * (r + discount * best(row_next, column_next))
            values.append(value)
        return max(values)

    return best(0, 0)


@VARIANTS
@pytest.mark.parametrize("size", [2, 3, 7])
def test_rewards_and_transitions_are_those_of_the_grid(stochastic, size):
    env, rng, s = sea(size=size, stochastic=stochastic, mapping_seed=5), generator(size), np.empty(1)
    seen = set()
    for _ in range(400):
        deep_sea.reset(env, s, rng)
        row = column = 0
        eager = rng.random()
        for t in range(size):
            cell = int(s[0])
            assert deep_sea.place(cell) == (row, column)
            wanted = rng.random() < eager
            a = plain_hash(5, cell) if wanted else 1 - plain_hash(5, cell)
            u, n = rng.random(), rng.standard_normal()
            seen.add((cell, a))
            r, gamma, terminated = deep_sea.move(env, s, a, u, n)
            expected, row, column = plain_step(env, row, column, a, u, n)
            assert r == pytest.approx(expected, abs=1e-15)
            assert (gamma, terminated) == ((0.0, True) if t == size - 1 else (0.99, False))
    assert len(seen) == size * (size + 1)  # every cell that has a number, with both actions


@VARIANTS
@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_optimum_is_that_of_brute_force(stochastic, size, discount):
    env = sea(size=size, stochastic=stochastic, mapping_seed=3, discount=discount)
    found = deep_sea.optimal(env)
    assert found.q[0].max() == pytest.approx(brute_force(env, discount), abs=1e-13)
    # Whatever the discount, the best is to go right while there is hope; the return is undiscounted.
    assert found.episode_return == pytest.approx(brute_force(env, 1.0), abs=1e-13)
    assert found.episode_steps == size
    assert found.reward_rate == pytest.approx(found.episode_return / size)


def test_no_sequence_of_actions_beats_the_optimum_and_one_in_all_finds_the_treasure():
    env, returns = sea(size=8, mapping_seed=2), []
    for actions in product((0, 1), repeat=8):
        s = np.zeros(1)
        returns.append(sum(deep_sea.step(env, s, a, generator())[0] for a in actions))
    assert max(returns) == pytest.approx(deep_sea.optimal(env).episode_return, abs=1e-14) == pytest.approx(0.99)
    assert sum(g > 0.5 for g in returns) == 1
    assert sorted(returns)[-2] == 0.0


def test_the_stochastic_optimum_is_what_its_policy_earns():
    env, rng = sea(size=5, stochastic=True), generator(1)
    found = deep_sea.optimal(env)
    policy, returns, s = np.argmax(found.q, axis=1), [], np.empty(1)
    for _ in range(40_000):
        deep_sea.reset(env, s, rng)
        returns.append(sum(deep_sea.step(env, s, policy[int(s[0])], rng)[0] for _ in range(5)))
    assert np.mean(returns) == pytest.approx(found.episode_return, abs=4 * np.std(returns) / 200)
    # The treasure takes four moves that succeed; a diver who has failed stops paying for going right.
    assert 0.8**4 - 0.01 < found.episode_return < 0.8**4


def test_planning_on_the_cells_agrees_with_the_exact_optimum():
    for stochastic in (False, True):
        env = sea(size=6, stochastic=stochastic)
        table = planning.tabulate(env, deep_sea.problem(env))
        found = deep_sea.optimal(env)
        assert planning.best_values(table) == pytest.approx(found.q, abs=1e-12)
        assert planning.action_values(found, np.array([7.0])) == pytest.approx(found.q[7], abs=1e-15)


def test_an_episode_cut_off_before_the_treasure_has_no_return():
    found = deep_sea.optimal(sea(size=6, time_limit=3))
    assert found[:3] == (pytest.approx(-0.01 / 6), None, None)
    assert deep_sea.optimal(sea(size=6, time_limit=6)).episode_return == pytest.approx(0.99)


def test_going_right_fails_once_in_n_and_only_the_bottom_corners_pay_noise():
    env, rng, size = sea(size=4, stochastic=True), generator(2), 4
    tries = 20_000
    for cell in range(10):
        row, column = deep_sea.place(cell)
        rewards, after = np.empty(tries), np.empty(tries)
        for i in range(tries):
            s = np.array([float(cell)])
            rewards[i] = deep_sea.step(env, s, deep_sea.right(env, cell), rng)[0]
            after[i] = s[0]
        if row < size - 1:
            assert np.mean(after == deep_sea.number(row + 1, column)) == pytest.approx(0.25, abs=0.016)
            assert np.mean(after == deep_sea.number(row + 1, column + 1)) == pytest.approx(0.75, abs=0.016)
        noisy = row == size - 1 and column in (0, size - 1)
        assert rewards.std() == pytest.approx(1.0 if noisy else 0.0, abs=0.03)
        assert rewards.mean() == pytest.approx((column == size - 1) - 0.0025, abs=0.036 if noisy else 1e-12)


def test_the_map_is_fixed_by_its_seed_and_swaps_about_half_of_the_cells():
    def drawn(seed, size=50):
        env = sea(size=size, mapping_seed=seed)
        return [deep_sea.right(env, cell) for cell in range(deep_sea.cells(env))]

    assert drawn(0) == [plain_hash(0, cell) for cell in range(1275)]
    assert drawn(2**32 - 1) == [plain_hash(2**32 - 1, cell) for cell in range(1275)]
    assert drawn(0)[:55] == drawn(0, 10)
    # Recorded: another map would be another task under the same name.
    assert "".join(map(str, drawn(0)[:20])) == "01011001110000110100"
    maps = np.array([drawn(seed) for seed in range(40)])
    # Five standard deviations of a share of 1275 fair coins are 0.07; of one cell over 40 seeds, 0.4.
    assert np.abs(maps.mean(axis=1) - 0.5).max() < 0.07
    assert np.abs(maps.mean(axis=0) - 0.5).max() < 0.4
    agree = np.array([[np.mean(one == other) for other in maps] for one in maps])
    assert np.abs(agree[~np.eye(40, dtype=bool)] - 0.5).max() < 0.07


def test_the_map_stays_the_same_through_a_run_and_for_every_seed_of_it():
    world = BuiltinGymEnv(ID, size=12)
    for seed in (1, 2):
        world.reset(seed=seed)
        for _ in range(3):
            rewards = []
            s, _ = world.reset()
            for _ in range(12):
                s, r, terminated, _, _ = world.step(plain_hash(0, int(s[0])))
                rewards.append(r)
            assert terminated
            assert sum(rewards) == pytest.approx(0.99)


def test_every_cell_has_its_own_feature_and_no_more():
    for size in (2, 50, 100):
        world = make_builtin(ID, {"size": size})
        low, high = world.bounds()
        assert make(Settings(), low, high, 2).size == size * (size + 1)
        places = [deep_sea.place(cell) for cell in range(int(high[0]) + 1)]
        assert places == [(row, column) for row in range(size) for column in range(row + 1)]
    assert make_builtin(ID).bounds() == (deep_sea.LOW, deep_sea.HIGH)


@pytest.mark.parametrize(("name", "value"), [("size", 1), ("size", 101), ("size", 2.5), ("mapping_seed", 2**32)])
def test_a_sea_that_cannot_be_is_refused(name, value):
    with pytest.raises(UserError, match=f"'{name}' cannot be"):
        sea(**{name: value})


@VARIANTS
@pytest.mark.parametrize("size", [2, 100])
def test_every_sea_is_a_clean_gymnasium_environment(stochastic, size):
    check_env(gymnasium.make(ID, size=size, stochastic=stochastic, render_mode="rgb_array").unwrapped)


@VARIANTS
def test_compiled_sea_equals_plain_python_bit_for_bit(stochastic):
    env, rngs = sea(stochastic=stochastic, mapping_seed=77), (generator(6), generator(6))
    states = np.zeros(1), np.zeros(1)
    for i in range(500):
        compiled = deep_sea.step(env, states[0], i * i % 3 % 2, rngs[0])
        plain = deep_sea.step.py_func(env, states[1], i * i % 3 % 2, rngs[1])
        assert compiled == plain
        assert states[0] == states[1]
        if plain[2]:
            for s, rng in zip(states, rngs, strict=True):
                deep_sea.reset(env, s, rng)
    assert rngs[0].bit_generator.state == rngs[1].bit_generator.state


def test_a_run_that_finds_the_treasure_again_and_again_is_solved():
    run = make_run(ID, "sarsa", seed=0, settings={"size": 5, "initial_value": "return_max", "epsilon": 0.0})
    returns = run.advance(5 * 1000).episode_returns
    assert len(returns) == 1000
    after = solved_after(returns > 0.5)
    assert after is not None
    assert np.mean(returns[after : after + 100] > 0.5) >= 0.9


@pytest.mark.parametrize(
    ("successes", "window", "share", "expected"),
    [
        ([1] * 100, 100, 0.9, 0),
        ([1] * 99, 100, 0.9, None),
        ([0] * 11 + [1] * 89, 100, 0.9, None),
        ([0] * 11 + [1] * 90, 100, 0.9, 1),
        ([0, 1, 1, 1, 1, 1, 1, 1, 0, 0], 10, 0.7, 0),  # 0.7 * 10 is more than 7 in floating point
        ([1, 0, 1, 1, 0, 0], 2, 1.0, 2),  # what comes later does not undo it
        ([], 1, 0.9, None),
    ],
)
def test_solved_after_is_the_first_window_with_enough_successes(successes, window, share, expected):
    assert solved_after(np.array(successes, bool), window, share) == expected


def test_solved_after_agrees_with_counting():
    rng = generator(9)
    for _ in range(50):
        successes = rng.random(60) < np.linspace(0, 1, 60)
        windows = [e for e in range(60 - 12 + 1) if successes[e : e + 12].sum() >= 9]
        assert solved_after(successes, 12, 0.75) == (windows[0] if windows else None)


@pytest.mark.parametrize(("window", "share"), [(0, 0.9), (100, 0.0), (100, 1.1), (100, float("nan"))])
def test_a_share_that_solves_nothing_is_refused(window, share):
    with pytest.raises(UserError, match="solves nothing"):
        solved_after([True], window, share)
