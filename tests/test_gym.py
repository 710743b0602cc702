"""What the Gymnasium adapter promises."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from ucls._util.randomness import from_words, to_words
from ucls.envs import ENVIRONMENTS, make_builtin
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UserError

IDS = list(ENVIRONMENTS)
RANDOM = {  # what makes chance matter where it does not by default
    "ucls/DeepSea-v0": {"stochastic": True},
    "ucls/TrapChain-v0": {"slip": 0.5, "mapping_seed": 4},  # action 1 advances in the first three cells
}


@pytest.mark.parametrize("id", IDS)
def test_check_env_is_clean(id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(id, render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("id", IDS)
def test_the_adapter_equals_the_kernels_with_a_generator_of_the_same_seed(id):
    world = make_builtin(id)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(7)))
    gym_world = gymnasium.make(id)
    s = np.empty(len(world.bounds()[0]))
    world.reset(s, rng)
    observed, _ = gym_world.reset(seed=7)
    assert np.array_equal(observed, s)
    for t in range(60):
        a = t // 7 % world.n_actions
        r, gamma, terminated = world.step(s, a, rng)
        observed, r_observed, terminated_observed, truncated, info = gym_world.step(a)
        assert np.array_equal(observed, s)
        assert (r_observed, terminated_observed, truncated, info) == (r, terminated, False, {"discount": gamma})
        if terminated:
            break


@pytest.mark.parametrize("id", IDS)
def test_the_same_seed_gives_the_same_episode_and_another_seed_another(id):
    def episode(seed):
        world = BuiltinGymEnv(id, **RANDOM.get(id, {}))
        seen = [world.reset(seed=seed)[0]]
        rewards = []
        for _ in range(40):
            s_next, r, terminated, _, _ = world.step(1)
            seen.append(s_next)
            rewards.append([r])
            if terminated:
                break
        return np.concatenate([np.ravel(seen), np.ravel(rewards)])

    assert np.array_equal(episode(1), episode(np.int64(1)))
    assert not np.array_equal(episode(1), episode(2))


def test_settings_are_given_by_name_and_checked():
    world = gymnasium.make("ucls/RiverSwim-v0", noise_std=0, probabilities="osband").unwrapped
    assert isinstance(world, BuiltinGymEnv)
    settings = world.world.settings
    assert (settings["noise_std"], settings["probabilities"]) == (0.0, "osband")
    for settings, message in [
        ({"noise_std": -1}, "noise_std"),
        ({"nois_std": 0.1}, "did you mean 'noise_std'"),
        ({"probabilities": "osbnad"}, "strehl_littman"),
        ({"render_mode": "human"}, "rgb_array"),
    ]:
        with pytest.raises(UserError, match=message):
            BuiltinGymEnv("ucls/RiverSwim-v0", **settings)
    with pytest.raises(UserError, match="did you mean 'ucls/RiverSwim-v0'"):
        BuiltinGymEnv("ucls/RiverSwin-v0")


@pytest.mark.parametrize("id", IDS)
def test_an_episode_is_truncated_at_the_cutoff_and_keeps_its_discount(id):
    world = gymnasium.make(id, time_limit=5)
    for _ in range(2):
        world.reset(seed=0)
        *before, last = [world.step(0) for _ in range(5)]
        assert not any(truncated for _, _, _, truncated, _ in before)
        assert last[2:4] == (False, True)
        assert last[4]["discount"] == make_builtin(id).settings["discount"]


def test_a_continuing_task_is_not_truncated_by_default():
    world = BuiltinGymEnv("ucls/OneState-v0")
    world.reset(seed=0)
    assert not any(world.step(0)[3] for _ in range(10_001))


def test_the_paper_cutoff_is_10000_steps():
    world = BuiltinGymEnv("ucls/MountainCar-v0")
    world.reset(seed=0)
    lengths = next(t for t in range(1, 20_000) if world.step(1)[3])
    assert lengths == 10_000


def test_the_discount_of_a_terminating_step_is_0():
    world = BuiltinGymEnv("ucls/SparseMountainCar-v0")
    s, r, terminated, truncated, info = world.reset(seed=0)[0], 0.0, False, False, {"discount": 0.998}
    while not terminated:
        assert (r, truncated, info["discount"]) == (0.0, False, 0.998)
        # Pushing along with the motion swings the car out of the valley.
        s, r, terminated, truncated, info = world.step(2 if s[1] >= 0 else 0)
    assert (r, truncated, info["discount"]) == (1.0, False, 0.0)
    with pytest.raises(ResetNeeded, match="reset"):
        world.step(0)


def test_stepping_before_a_reset_and_unknown_actions_are_refused():
    world = BuiltinGymEnv("ucls/PuddleWorld-v0")
    with pytest.raises(ResetNeeded, match="reset"):
        world.step(0)
    world.reset(seed=0)
    for a in (4, -1, 0.5):
        with pytest.raises(UserError, match="0 to 3"):
            world.step(a)  # pyright: ignore[reportArgumentType]


def test_a_returned_state_does_not_change_with_the_next_step():
    world = BuiltinGymEnv("ucls/PuddleWorld-v0")
    s, _ = world.reset(seed=0)
    before = s.copy()
    world.step(0)
    assert np.array_equal(s, before)


@pytest.mark.parametrize("id", IDS)
def test_a_restored_world_continues_bit_for_bit(id):
    settings = {"time_limit": 30, **RANDOM.get(id, {})}
    world, other = BuiltinGymEnv(id, **settings), BuiltinGymEnv(id, **settings)
    world.reset(seed=3)
    other.reset(seed=4)
    for _ in range(5):
        world.step(1)
    world.np_random.integers(0, 5, dtype=np.uint32)  # leaves half a word in the generator
    saved = {name: np.array(array) for name, array in world.checkpoint().items()}

    def rest(world):
        seen = []
        for _ in range(20):
            s, r, terminated, truncated, info = world.step(1)
            seen.append((s.tolist(), r, terminated, truncated, info))
            if terminated:
                break
        return seen, world.reset()[0].tolist(), int(world.np_random.integers(0, 2**31, dtype=np.uint32))

    uninterrupted = rest(world)
    other.restore(saved)
    assert rest(other) == uninterrupted
    fresh = BuiltinGymEnv(id, **settings)
    fresh.restore(saved)
    assert rest(fresh) == uninterrupted


def test_an_ended_episode_is_still_ended_after_a_restore():
    world = BuiltinGymEnv("ucls/OneState-v0", time_limit=1)
    world.reset(seed=0)
    world.step(0)
    other = BuiltinGymEnv("ucls/OneState-v0", time_limit=1)
    other.reset(seed=0)
    other.restore(world.checkpoint())
    with pytest.raises(ResetNeeded):
        other.step(0)


def test_a_checkpoint_of_another_world_is_refused():
    saved = BuiltinGymEnv("ucls/RiverSwim-v0").checkpoint()
    with pytest.raises(UserError, match="not a checkpoint"):
        BuiltinGymEnv("ucls/PuddleWorld-v0").restore(saved)
    with pytest.raises(UserError, match="not a checkpoint"):
        BuiltinGymEnv("ucls/RiverSwim-v0").restore({"s": saved["s"]})


def test_words_bring_a_generator_back():
    rng, other = np.random.default_rng(5), np.random.default_rng(6)
    rng.integers(0, 5, dtype=np.uint32)
    from_words(other, to_words(rng))
    assert other.bit_generator.state == rng.bit_generator.state


@pytest.mark.parametrize("id", IDS)
def test_the_picture_is_bytes_and_changes_with_the_state(id):
    world = BuiltinGymEnv(id, render_mode="rgb_array", **RANDOM.get(id, {}))
    world.reset(seed=0)
    before = world.render()
    assert before is not None
    assert (before.shape, before.dtype) == ((320, 480, 3), np.uint8)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 20
    for _ in range(5):
        world.step(1)
    after = world.render()
    assert after is not None
    assert np.array_equal(before, after) == (id == "ucls/OneState-v0")


def test_a_goal_beyond_the_usual_road_widens_the_observations():
    beyond = np.array([0.55, 0.0])
    assert BuiltinGymEnv("ucls/MountainCar-v0", goal_position=0.6).observation_space.contains(beyond)
    assert not BuiltinGymEnv("ucls/MountainCar-v0").observation_space.contains(beyond)
