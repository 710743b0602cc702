"""The agent on Gymnasium environments, ours and foreign: learning, looking, saving, and what it refuses."""

import copy
import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from support.foreign import Corridor
from support.params import in_env
from ucls import Agent, UserError
from ucls.algorithms import sarsa
from ucls.core.run import Run
from ucls.core.saving import checkpoint
from ucls.envs import make_builtin


class Box(gymnasium.Env):
    """A box observation with given bounds."""

    def __init__(self, low, high, observation):
        self.observation_space = gymnasium.spaces.Box(np.float32(low), np.float32(high))
        self.action_space = gymnasium.spaces.Discrete(2)
        self._observation = np.array(observation, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._observation, {}

    def step(self, action):
        return self._observation, float(action), False, False, {}


def test_learns_a_foreign_environment_and_prefers_the_goal():
    agent = Agent(Corridor(), seed=1, discount=0.9).learn(3000)
    assert not agent.diverged
    assert [agent.predict(cell, deterministic=True)[0] for cell in (10, 11, 12, 13)] == [2, 2, 2, 2]
    assert agent.history.episode_steps[-20:].mean() < 6
    assert agent.metrics["rollout/ep_rew_mean"] > 0.9


def test_interval_is_wide_where_the_agent_has_not_been():
    agent = Agent("ucls/RiverSwim-v0", "ucls", seed=1, feature_value="1", tilings=1)
    _, before = agent.value_estimates([0.1])
    np.testing.assert_allclose(before, np.sqrt(11.0))
    agent.learn(2000)
    mean, after = agent.value_estimates([0.1])
    assert mean.shape == after.shape == (2,)
    assert (after < before).all()


def test_looking_does_not_change_the_run():
    quiet, curious = Agent(Corridor(), seed=3), Agent(Corridor(), seed=3)
    quiet.learn(200)
    for _ in range(100):
        curious.learn(2)
        curious.value_estimates(13)
        curious.predict(11, deterministic=False)
    one, other = quiet.learner.checkpoint(), curious.learner.checkpoint()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_an_agent_that_diverges_warns_and_hands_nothing_on(tmp_path):
    agent = Agent("ucls/MountainCar-v0", "ucls", tilings=4, w_step=50000)
    with pytest.warns(RuntimeWarning, match="diverged at step"):
        agent.learn(5000)
    assert agent.diverged
    assert np.isfinite(agent.history.rewards).all()
    for use in (
        lambda: agent.value_estimates([0, 0]),
        lambda: agent.learn(1),
        lambda: agent.save(tmp_path / "a.safetensors"),
    ):
        with pytest.raises(UserError, match="have diverged"):
            use()
    assert not list(tmp_path.iterdir())


def test_callback_can_stop_the_learning():
    agent = Agent(Corridor()).learn(500, callback=lambda agent: agent.steps < 40)
    assert agent.steps == 40


def test_saved_agent_continues_bit_for_bit_on_our_environment(unlike, tmp_path):
    tiled = make_builtin(unlike).features[0] == "tiles"
    agent = Agent(gymnasium.make(unlike), seed=4, tilings=4) if tiled else Agent(unlike, seed=4)
    agent.learn(150)
    path = agent.save(tmp_path / "agent.safetensors")
    agent.learn(100)
    again = Agent.load(path)
    assert again.steps == 150
    again.learn(100)
    assert np.array_equal(agent.history.rewards, again.history.rewards)
    assert np.array_equal(agent.history.ends, again.history.ends)
    one, other = agent.learner.checkpoint(), again.learner.checkpoint()
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_an_agents_file_is_a_runs_file(tmp_path):
    agent = Agent("ucls/RiverSwim-v0", seed=4).learn(120)
    run = Run.load(agent.save(tmp_path / "agent.safetensors"))
    assert np.array_equal(run.advance(80).rewards, agent.learn(80).history.rewards[120:])


def test_saved_agent_goes_on_in_a_foreign_environment(tmp_path):
    agent = Agent(Corridor(), seed=1, discount=0.9).learn(1000)
    path = agent.save(tmp_path / "agent.safetensors")
    again = Agent.load(path, Corridor())
    assert again.discount == 0.9
    assert again.predict(12, deterministic=True) == agent.predict(12, deterministic=True)
    again.learn(50)
    assert again.steps == 1050


def test_an_agent_without_its_environment_can_be_asked_and_given_one(tmp_path):
    agent = Agent(Corridor(), seed=1, discount=0.9).learn(500)
    alone = Agent.load(agent.save(tmp_path / "agent.safetensors"))
    assert alone.env is None
    assert alone.predict(12, deterministic=True) == agent.predict(12, deterministic=True)
    assert np.array_equal(alone.value_estimates(12), agent.value_estimates(12))
    assert np.array_equal(alone.history.rewards, agent.history.rewards)
    with pytest.raises(UserError, match=r"agent\.env = "):
        alone.learn(1)
    with pytest.raises(UserError, match="integer from 10 to 14"):
        alone.predict(5)
    with pytest.raises(UserError, match="2 actions and 1 observation components"):
        alone.env = Box([0, 0], [1, 1], [0, 0])
    alone.env = Corridor()
    assert alone.learn(20).steps == 520


def test_an_environment_by_its_id_serves_a_saved_agent(tmp_path):
    path = Agent("CliffWalking-v1", seed=1).learn(50).save(tmp_path / "agent.safetensors")
    assert Agent.load(path, "CliffWalking-v1").learn(10).steps == 60


def test_an_unfinished_episode_is_cut_off_where_it_cannot_go_on(tmp_path):
    agent = Agent(Corridor(), seed=1).learn(3)
    again = Agent.load(agent.save(tmp_path / "agent.safetensors"), Corridor())
    assert again.history.ends.tolist() == [0, 0, 2]


def test_a_file_without_a_history_is_read(tmp_path):
    about, arrays = checkpoint.load(Agent(Corridor(), seed=1).learn(30).save(tmp_path / "agent.safetensors"))
    del arrays["history.rewards"], arrays["history.ends"]
    again = Agent.load(checkpoint.save(tmp_path / "older.safetensors", about, arrays), Corridor())
    assert (again.steps, len(again.history.rewards)) == (30, 0)


@pytest.mark.parametrize("name", in_env("ucls/RiverSwim-v0", ("ucls-exact", "ucls", "sarsa")))
def test_predict_is_the_algorithms_own_rule_and_leaves_it_alone(name):
    agent = Agent("ucls/RiverSwim-v0", name, seed=2).learn(60)
    before = {key: array.copy() for key, array in agent.learner.checkpoint().items()}
    asked = {agent.predict([0.4])[0] for _ in range(100)}
    after = agent.learner.checkpoint()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert asked <= {0, 1}
    assert {agent.predict([0.4], deterministic=True)[0] for _ in range(5)} == {
        int(np.argmax(agent.learner.interval(np.array([0.4]))[0]))
    } or name == "ucbootstrap"


def test_epsilon_and_ties_are_drawn_and_the_first_of_the_best_is_not():
    fresh = Agent("ucls/RiverSwim-v0", "sarsa", epsilon=0)
    assert {fresh.predict([0.5])[0] for _ in range(60)} == {0, 1}
    assert {fresh.predict([0.5], deterministic=True)[0] for _ in range(60)} == {0}
    restless = Agent("ucls/RiverSwim-v0", "sarsa", epsilon=0.5, seed=1).learn(300)
    shares = np.mean([restless.predict([0.05])[0] for _ in range(400)])
    assert 0.15 < shares < 0.85


def test_optimism_without_a_known_best_return_is_refused():
    with pytest.raises(UserError, match="cannot be return_max here"):
        Agent(Corridor(), "sarsa", initial_value="return_max")
    assert Agent(Corridor(), "sarsa", initial_value=1).value_estimates(12)[0].tolist() == [1, 1]
    Agent("ucls/RiverSwim-v0", "sarsa", initial_value="return_max")


def test_what_users_of_other_libraries_write_works():
    assert Agent(Corridor(), gamma=0.5).discount == 0.5
    calls = []
    agent = Agent(Corridor(), sarsa, seed=np.int64(3)).learn(1e1, callback=[calls.append, lambda a: a.steps < 4])
    assert (agent.steps, len(calls), agent.learner.plan.agent, agent.learner.plan.seed) == (4, 4, "sarsa", 3)
    assert "sarsa" in repr(agent)
    assert "4 steps" in repr(agent)
    for steps in (1.5, -1, np.nan, "10", True):
        with pytest.raises(UserError, match="total_timesteps cannot be"):
            agent.learn(steps)
    for seed in (-1, 1.5, "0", True):
        with pytest.raises(UserError, match="seed cannot be"):
            Agent(Corridor(), seed=seed)
    with pytest.raises(UserError, match="unknown setting 'steps'"):
        Agent(Corridor(), steps=5)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_goes_on_by_itself(again):
    agent = Agent("ucls/RiverSwim-v0", seed=4).learn(50)
    other = again(agent)
    assert np.array_equal(agent.learn(50).history.rewards, other.learn(50).history.rewards)
    one, two = agent.learner.checkpoint(), other.learner.checkpoint()
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert other.learn(5).steps == agent.steps + 5


def test_the_package_shows_its_rooms():
    import ucls

    assert {"Agent", "Run", "make_run", "stats", "study"} <= set(dir(ucls))
    assert {name for name in dir(ucls) if name.startswith("_")} == {"__version__"}
    assert all(name in ucls.__all__ or getattr(ucls, name).__name__ == f"ucls.{name}" for name in dir(ucls))
    assert ucls.stats.__name__ == "ucls.stats"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ucls.nothing


def test_discount_is_the_environments_own_or_a_setting():
    def gammas(agent):
        seen = []
        advance = agent.learner.advance
        agent.learner.advance = lambda r, gamma, *rest: seen.append(gamma) or advance(r, gamma, *rest)
        agent.learn(5)
        return set(seen)

    assert gammas(Agent(Corridor())) == {0.99}
    assert gammas(Agent(Corridor(), discount=0.5)) == {0.5}
    assert gammas(Agent("ucls/SparseMountainCar-v0", tilings=2)) == {0.998}
    with pytest.raises(UserError, match="from 0 to 1"):
        Agent(Corridor(), discount=1.5)


def test_observations_are_taken_as_float64():
    agent = Agent(Box([0, 0], [1, 1], [0.1, 0.7]), tilings=4).learn(3)
    assert agent._stage.observed.read(np.array([0.1, 0.7], np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("env", "options", "words"),
    [
        (Corridor(actions=gymnasium.spaces.Box(-1, 1)), {}, "only Discrete"),
        (Box([0, 0], [1, 1], [0, 0]), {"low": [0]}, "must have 2 numbers each, not 1"),
        (Box([0, 0], [1, 1], [0, 0]), {"low": [0, 2]}, "below its number in high"),
        (Box([0, 0], [1, 1], [0, np.nan]), {}, "observations must be finite"),
        (Corridor(reward=np.nan), {}, "rewards must be finite"),
        (Corridor(), {"prior_visits": 0}, "'prior_visits' cannot be 0: give a number and > 0"),
        (Corridor(), {"algorithm": "ucls", "beta": 1}, "'beta' cannot be 1"),
        (Corridor(), {"settings": {"lambda": 1.5}}, "'lambda' cannot be 1.5"),
        (Corridor(), {"algorithm": "nobody"}, "unknown algorithm 'nobody'"),
    ],
)
def test_bad_input_is_refused_in_one_clear_line(env, options, words):
    with pytest.raises(UserError) as error:
        Agent(env, **options).learn(50)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_given_bounds_serve_where_the_space_has_none():
    agent = Agent(Box([0, -np.inf], [1, np.inf], [0.3, 5.0]), low=[0, -10], high=[1, 10]).learn(20)
    assert agent.learner.plan.high == [1.0, 10.0]


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path):
    path = Agent(Corridor(), "ucls-exact", seed=1).learn(10).save(tmp_path / "agent.safetensors")
    with pytest.raises(UserError, match="2 actions and 1 observation components"):
        Agent.load(path, Box([0, 0], [1, 1], [0, 0]))
    about, arrays = checkpoint.load(path)
    del arrays["state.w"]
    about.pop("format")
    with pytest.raises(UserError, match=r"'state\.w' is missing"):
        Agent.load(checkpoint.save(tmp_path / "lacking.safetensors", about, arrays), Corridor())


@pytest.mark.parametrize("keep", [0, 5, 100, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(tmp_path, keep):
    path = Agent(Corridor(), seed=1).learn(10).save(tmp_path / "agent.safetensors")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep if keep >= 1 or keep == 0 else keep * len(whole))])
    with pytest.raises(UserError, match=r"corrupted or not a checkpoint|says nothing"):
        Agent.load(path, Corridor())


def test_loading_never_imports_a_module_that_a_file_names(tmp_path):
    about, arrays = checkpoint.load(Agent(Corridor()).learn(10).save(tmp_path / "agent.safetensors"))
    about.pop("format")
    about["plan"]["agent"] = "antigravity"
    path = checkpoint.save(tmp_path / "evil.safetensors", about, arrays)
    with pytest.raises(UserError, match="give its module"):
        Agent.load(path, Corridor())


def test_fortran_ordered_arrays_survive_a_checkpoint(tmp_path):
    A = np.arange(12.0).reshape(3, 4)
    path = checkpoint.save(tmp_path / "a.safetensors", {}, {"transposed": A.T, "strided": A[:, ::2]})
    _, arrays = checkpoint.load(path)
    assert np.array_equal(arrays["transposed"], A.T)
    assert np.array_equal(arrays["strided"], A[:, ::2])


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = checkpoint.save(tmp_path / "a.safetensors", {}, {"x": np.ones(3)})
    before = path.read_bytes()
    write = Path.write_bytes

    def fail(self, blob):
        write(self, blob[: len(blob) // 2])
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        checkpoint.save(path, {}, {"x": np.zeros(3)})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
