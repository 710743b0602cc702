"""An environment is what it was when the agent was saved, with its wrappers and its time limit; or that is said."""

import copy
import json
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

from support import foreign
from support.commands import ucls as command
from ucls import Agent, UserError, evaluate_policy
from ucls.core.saving import checkpoint
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UclsWarning
from ucls.gym.copies import copy_of
from ucls.gym.identity import in_words
from ucls.gym.origin import origin_of
from ucls.gym.wrapping import own_builtin
from ucls.study import make_run_specs

RIVER = "ucls/RiverSwim-v0"
SMALL = {"features": "tiles", "tilings": 2, "tiles": 2, "table_size": 64}


class OrderEnforcing(gymnasium.Wrapper):
    """A wrapper with the name of one that changes nothing."""

    def step(self, action):
        s, r, *rest = super().step(action)
        return s, r + 1, *rest


class Subclass(wrappers.RecordEpisodeStatistics):
    pass


WRAPPERS = {
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda r: 2 * r),
    "NormalizeReward": wrappers.NormalizeReward,
    "TransformObservation": lambda env: wrappers.TransformObservation(env, lambda s: s / 2, env.observation_space),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.25),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 2),
    "max_episode_steps=7": lambda env: wrappers.TimeLimit(env, 7),
    "test_identity.OrderEnforcing": OrderEnforcing,
    "test_identity.Subclass": Subclass,
}


def river(wrap=lambda env: env, **settings):
    return Agent(wrap(gymnasium.make(RIVER, **settings)), "sarsa", seed=1, **SMALL)


def card_of(path):
    return path.with_suffix(".card.md").read_text()


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_built_in_environment_is_not_loaded_as_a_bare_one(tmp_path, name):
    agent = river(WRAPPERS[name]).learn(40)
    path = agent.save(tmp_path / "a.safetensors")
    assert agent.world is None
    assert name in card_of(path).replace("\\", "")
    with pytest.raises(UserError, match="give this environment again") as told:
        Agent.load(path)
    assert name in str(told.value)
    assert "\n" not in str(told.value)
    with pytest.warns(UclsWarning, match=r"continues with a new episode: the state of wrappers is not saved"):
        again = Agent.load(path, WRAPPERS[name](gymnasium.make(RIVER)))
    assert again.learn(5).steps == 45
    with pytest.warns(
        UclsWarning, match=r"the agent learned in ucls/RiverSwim-v0.*; it continues in ucls/RiverSwim-v0,"
    ):
        Agent.load(path, RIVER)


def test_wrappers_are_named_in_order(tmp_path):
    def wrap(env):
        return wrappers.TimeLimit(wrappers.ClipReward(wrappers.StickyAction(env, 0.5), 0.0, 0.5), 9)

    path = river(wrap).learn(20).save(tmp_path / "a.safetensors")
    found = [each["name"] for each in checkpoint.load(path)[0]["named"]["wrappers"]]
    assert found == ["StickyAction", "ClipReward", "TimeLimit"]
    assert "repeat_action_probability=0.5), ClipReward(" in card_of(path)
    assert "TimeLimit(max_episode_steps=9)" in card_of(path)


def test_wrappers_that_change_nothing_leave_a_run_bit_for_bit(tmp_path):
    env = wrappers.RecordEpisodeStatistics(gymnasium.make(RIVER))
    agent = Agent(env, "sarsa", seed=1, **SMALL).learn(40)
    path = agent.save(tmp_path / "a.safetensors")
    with warnings.catch_warnings(action="error"):
        again = Agent.load(path)
    ahead, resumed = agent.learn(60).checkpoint(), again.learn(60).checkpoint()
    assert all(np.array_equal(ahead[name], resumed[name]) for name in ahead)


def test_a_wrapped_built_in_environment_has_the_features_of_the_bare_one():
    agent = Agent(wrappers.TransformReward(gymnasium.make(RIVER), lambda r: r), "sarsa")
    assert agent.plan.feature_settings == Agent(RIVER, "sarsa").plan.feature_settings


def test_a_checkpoint_under_a_wrapper_begins_a_new_episode():
    agent = river(lambda env: wrappers.DelayObservation(env, 2)).learn(20)
    saved = agent.checkpoint()
    assert not any(name.startswith("world.") for name in saved)
    agent.learn(7)
    agent.restore(saved, 20)
    assert agent._stage.between_episodes


def test_other_settings_of_a_built_in_environment_begin_a_new_episode_with_a_notice(tmp_path):
    path = river(noise_std=0.0).learn(20).save(tmp_path / "a.safetensors")
    with pytest.warns(UclsWarning, match=r"learned in ucls/RiverSwim-v0\(noise_std=0.0\); it continues in ucls/"):
        agent = Agent.load(path, RIVER)
    assert agent._stage.between_episodes
    with warnings.catch_warnings(action="error"):
        assert not Agent.load(path, gymnasium.make(RIVER, noise_std=0.0))._stage.between_episodes


def test_a_time_limit_belongs_to_an_environment(tmp_path):
    agent = Agent(gymnasium.make("FrozenLake-v1", max_episode_steps=4), "sarsa", seed=1).learn(50)
    path = agent.save(tmp_path / "a.safetensors")
    assert origin_of(agent.env) == {"env": "FrozenLake-v1", "settings": {"max_episode_steps": 4}}
    assert "FrozenLake-v1, max_episode_steps=4" in card_of(path)
    assert 'gymnasium.make("FrozenLake-v1", max_episode_steps=4)' in card_of(path)
    told = json.loads(command("evaluate", path, "--episodes", 20, "--json").stdout)
    assert max(told["lengths"]) <= 4
    with pytest.warns(UclsWarning, match=r"learned in FrozenLake-v1\(max_episode_steps=4\)"):
        Agent.load(path, "FrozenLake-v1")
    words = ["train", "FrozenLake-v1", "--algo", "sarsa", "--steps", 5, "--resume", path]
    with pytest.raises(UserError, match=r"with env.max_episode_steps=4: give the same with --set"):
        command(*words)
    assert "55" in command(*words, "--set", "env.max_episode_steps=4", "--json").stdout
    assert max(evaluate_policy(agent, n_eval_episodes=20).lengths) <= 4


def test_a_time_limit_outside_another_wrapper_is_not_the_one_inside_it():
    inside = wrappers.MaxAndSkipObservation(gymnasium.make(RIVER, max_episode_steps=3), 2)
    bare = wrappers.MaxAndSkipObservation(gymnasium.make(RIVER), 2)
    outside = wrappers.TimeLimit(wrappers.OrderEnforcing(bare), 3)
    assert origin_of(inside) != origin_of(outside)
    assert origin_of(copy_of(outside)) == origin_of(outside)


def test_no_time_limit_is_a_time_limit_too(tmp_path):
    env = gymnasium.make("FrozenLake-v1", max_episode_steps=-1)
    assert origin_of(env)["settings"] == {"max_episode_steps": -1}
    assert origin_of(copy_of(env)) == origin_of(env)


def test_the_tighter_of_two_time_limits_holds_in_a_copy():
    env = wrappers.TimeLimit(gymnasium.make("FrozenLake-v1", max_episode_steps=3), 80)
    assert evaluate_policy(Agent(env, "sarsa"), n_eval_episodes=20).lengths.max() <= 3


def test_an_id_with_another_entry_point_is_another_environment():
    spec = copy.deepcopy(gymnasium.spec("FrozenLake-v1"))
    spec.entry_point = lambda **kwargs: gymnasium.make("FrozenLake-v1").unwrapped
    assert "entry_point" in origin_of(gymnasium.make(spec))
    assert "entry_point" not in origin_of(gymnasium.make("FrozenLake-v1"))


def test_arrays_and_spaces_in_wrappers_are_compared():
    def origin(low):
        bounds = np.array([low], np.float64), np.array([1.0], np.float64)
        return origin_of(wrappers.RescaleObservation(gymnasium.make(RIVER), *bounds))

    assert origin(0.0) == origin(0.0) != origin(-1.0)


def test_evaluation_uses_the_statistics_of_a_normalizing_wrapper_and_leaves_them_alone():
    env = wrappers.NormalizeObservation(gymnasium.make("MountainCar-v0"))
    agent = Agent(env, "sarsa", low=[-5, -5], high=[5, 5], **SMALL).learn(300)
    made, before = copy_of(agent.env), env.obs_rms.mean.copy()
    assert np.array_equal(made.obs_rms.mean, before)
    made.reset(seed=1)
    made.step(0)
    evaluate_policy(agent, n_eval_episodes=1, max_steps=50)
    assert np.array_equal(made.obs_rms.mean, before)
    assert np.array_equal(env.obs_rms.mean, before)


def test_evaluations_while_learning_use_the_statistics_of_that_time(tmp_path):
    from ucls.callbacks import Evaluate

    env = wrappers.NormalizeObservation(gymnasium.make("MountainCar-v0"))
    evaluate = Evaluate(every=100, n_eval_episodes=1, save_path=None, max_steps=20)
    agent = Agent(env, "sarsa", low=[-5, -5], high=[5, 5], **SMALL)
    means = []
    agent.learn(200, callback=[evaluate, lambda _: means.append(evaluate._place.obs_rms.mean.copy())])
    assert not np.array_equal(means[150], means[50])


@pytest.mark.parametrize(
    "named",
    [{"env": RIVER, "settings": 3}, {"env": 3}, {"returns": 4}, {"env": "a\nb", "settings": {"x\ny": 1}}, [[1]], "x"],
)
def test_any_description_in_a_file_is_read_or_refused_in_one_line(tmp_path, named):
    path = Agent("FrozenLake-v1", "sarsa").learn(5).save(tmp_path / "a.safetensors")
    about, arrays = checkpoint.load(path)
    deep = {"env": "x", "settings": {}}
    for _ in range(200):
        deep = {"env": "x", "returns": deep}
    for wrong in (named, deep):
        checkpoint.save(path, {**about, "named": wrong}, arrays)
        for use in (lambda: Agent.load(path), lambda: Agent.load(path, "FrozenLake-v1"), lambda: resume(path)):
            assert "\n" not in error_of(use)


def error_of(use):
    try:
        use()
    except UserError as error:
        return str(error)
    return ""


def resume(path):
    return command("train", "FrozenLake-v1", "--algo", "sarsa", "--steps", 2, "--resume", path)


def test_unsaved_statistics_of_a_wrapper_are_told(tmp_path):
    env = wrappers.NormalizeReward(gymnasium.make("FrozenLake-v1"))
    path = Agent(env, "sarsa").learn(5).save(tmp_path / "a.safetensors")
    with pytest.warns(UclsWarning, match="the statistics of NormalizeReward are not saved"):
        Agent.load(path, env)


class Unregistered(gymnasium.Env):
    """Pays 1 for each of three steps."""

    observation_space = gymnasium.spaces.Discrete(4)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, part=None):
        self.part = part

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        return self.t, 1.0, self.t == 3, False, {}


class Shared(Unregistered):
    def __deepcopy__(self, memo):
        return self


def test_an_unregistered_environment_is_evaluated_in_a_copy():
    agent = Agent(wrappers.TransformReward(Unregistered(), lambda r: 5 * r), "sarsa").learn(4)
    before = agent.env.unwrapped.t
    assert evaluate_policy(agent, n_eval_episodes=2).mean == 15
    assert evaluate_policy(agent, agent.env, n_eval_episodes=2).mean == 15
    assert agent.env.unwrapped.t == before


def test_an_unregistered_environment_that_cannot_be_copied_is_one_line():
    with pytest.raises(UserError, match="Shared cannot be copied, because copies share their state") as shared:
        evaluate_policy(Agent(Shared(), "sarsa").learn(4))
    with (
        Path(__file__).open() as file,
        pytest.raises(UserError, match="Unregistered cannot be copied") as open_file,
    ):
        evaluate_policy(Agent(Unregistered(file), "sarsa").learn(4))
    assert "\n" not in str(shared.value) + str(open_file.value)


def test_a_subclass_of_a_built_in_environment_is_not_that_environment():
    class Other(BuiltinGymEnv):
        pass

    assert own_builtin(BuiltinGymEnv(RIVER)) is not None
    assert own_builtin(Other(RIVER)) is None


def test_a_factory_that_wraps_is_resumed_only_as_it_was(tmp_path):
    code = "import gymnasium\nfrom gymnasium import wrappers\ndef make():\n    return wrappers.{}\n"
    river = f"gymnasium.make('{RIVER}')"
    file = tmp_path / "rivers.py"
    file.write_text(code.format(f"ClipReward({river}, 0, 0.5)"))
    words = ["train", "rivers:make", "--algo", "sarsa", "--steps", 20, "--out", "run"]
    assert foreign.command(tmp_path, *words).returncode == 0
    card = (tmp_path / "run" / "agent.card.md").read_text()
    assert f"| which returns | {RIVER} in ClipReward(max_reward=0.5, min_reward=0) |" in card
    for name, option in (("evaluate", "--json"), ("explain", "--steps=0"), ("record-video", "--every=1")):
        told = foreign.command(tmp_path, name, "run", option)
        assert (told.returncode, told.stderr.count("\n")) == (2, 1)
        assert "rivers:make, which returns ucls/RiverSwim-v0 in ClipReward" in told.stderr
    told = foreign.command(tmp_path, "evaluate", "run", "--env", "rivers:make", "--episodes", 1, "--max-steps", 9)
    assert told.returncode == 0, told.stderr
    assert foreign.command(tmp_path, *words, "--resume", "run").returncode == 0
    bare = foreign.command(tmp_path, "train", RIVER, "--algo", "sarsa", "--resume", "run")
    assert (bare.returncode, bare.stderr.count("\n")) == (2, 1)
    assert "ClipReward" in bare.stderr
    file.write_text(code.format(f"ClipReward({river}, 0, 0.25)"))
    other = foreign.command(tmp_path, *words, "--resume", "run")
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    assert "ClipReward(max_reward=0.5, min_reward=0), not in rivers:make" in other.stderr


def test_cells_in_other_wrappers_or_with_other_limits_are_other_cells(tmp_path, monkeypatch):
    def cell(env, **settings):
        return make_run_specs(env, "sarsa", steps=10, seeds=[0], settings=settings)[0].id

    make = "gymnasium.wrappers.ClipReward(gymnasium.make('FrozenLake-v1'), 0, {})"
    code = f"import gymnasium\ndef make():\n    return {make}\n"
    for name, limit in (("one_lake", 1), ("other_lake", 2)):
        (tmp_path / f"{name}.py").write_text(code.format(limit))
    monkeypatch.syspath_prepend(tmp_path)
    limited = cell("FrozenLake-v1", **{"env.max_episode_steps": 5})
    ids = {cell("FrozenLake-v1"), limited, cell("one_lake:make"), cell("other_lake:make")}
    assert len(ids) == 4


def test_a_description_from_a_file_is_one_short_line():
    for wrong in (
        None,
        3,
        {},
        {"env": "a\nb" * 200, "settings": 3, "wrappers": [1, {"x": 2}]},
        {"returns": 1},
        {"returns": {}},
    ):
        assert "\n" not in in_words(wrong)
        assert len(in_words(wrong)) <= 200


@pytest.mark.parametrize(("given", "made"), [("x", "x.safetensors"), ("x.safetensors", "x.safetensors")])
def test_a_name_without_a_suffix_gets_one_and_is_found_again(tmp_path, given, made):
    path = Agent("FrozenLake-v1", "sarsa").learn(3).save(tmp_path / given)
    assert path == tmp_path / made
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.card.md", "x.safetensors"]
    assert Agent.load(tmp_path / given).steps == 3
    assert json.loads(command("evaluate", tmp_path / given, "--episodes", 1, "--json").stdout)["steps"] == 3


@pytest.mark.parametrize("name", ["x.zip", "x.card.md", "x.pkl"])
def test_a_wrong_suffix_is_refused_with_the_right_name(tmp_path, name):
    from ucls.callbacks import Checkpoint, Evaluate
    from ucls.core.run import make_run

    agent, path = Agent("FrozenLake-v1", "sarsa"), tmp_path / name
    uses = (agent.save, Checkpoint, lambda keep: Evaluate(save_path=keep), make_run(RIVER, "sarsa").save)
    for use in uses:
        with pytest.raises(UserError, match=r"name it .*x(\.card)?\.safetensors"):
            use(path)
    assert list(tmp_path.iterdir()) == []
