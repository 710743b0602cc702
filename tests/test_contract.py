"""What every algorithm promises, by discovery: each in ALGORITHMS on every environment."""

import inspect

import gymnasium
import numpy as np
import pytest

from conftest import small_run, small_settings
from ucls import Agent
from ucls.algorithms import ALGORITHMS, CONTRACT, Algorithm, Extras, algorithm_module
from ucls.envs import ENVIRONMENTS, Environment, module_of
from ucls.errors import UserError
from ucls.features import FEATURES, Features, features_module
from ucls.runs.history import join
from ucls.runs.loop import Run
from ucls.settings import Choice, describe

STEPS = 600

PAIRS = [
    pytest.param(agent, env, id=f"{agent}-{env[5:-3]}", marks=pytest.mark.xdist_group(f"{agent}-{env}"))
    for agent in ALGORITHMS
    for env in ENVIRONMENTS
]
on_every_pair = pytest.mark.parametrize(("agent", "env"), PAIRS)
on_every_agent = pytest.mark.parametrize("agent", ALGORITHMS)


def assert_same_learner(one, other):
    mine, theirs = one.checkpoint(), other.checkpoint()
    assert mine.keys() == theirs.keys()
    for name in mine:
        assert np.array_equal(mine[name], theirs[name]), name


@on_every_pair
def test_a_run_is_exactly_its_budget_and_finite(agent, env):
    run = small_run(env, agent)
    happened = run.advance(STEPS)
    assert not happened.diverged
    assert len(happened.rewards) == len(happened.ends) == run.steps == STEPS
    assert happened.episode_steps.sum() <= STEPS
    assert np.isfinite(happened.rewards).all()
    for name, array in run.learner.checkpoint().items():
        assert np.isfinite(array).all(), name
    mean, radius = run.learner.interval(run.s)
    assert np.isfinite(mean).all()
    assert (radius >= 0).all()
    assert np.isfinite(radius).all()


@on_every_pair
def test_same_seed_same_run_and_other_seed_other_run(agent, env):
    runs = [small_run(env, agent, seed=seed) for seed in (5, 5, 6)]
    rewards = [run.advance(STEPS).rewards for run in runs]
    assert np.array_equal(rewards[0], rewards[1])
    assert_same_learner(runs[0].learner, runs[1].learner)
    mine, other = runs[0].learner.checkpoint(), runs[2].learner.checkpoint()
    assert any(not np.array_equal(mine[name], other[name]) for name in mine if name != "rng")


@on_every_pair
def test_the_number_of_calls_does_not_matter(agent, env):
    whole, parts = small_run(env, agent, seed=2), small_run(env, agent, seed=2)
    expected = whole.advance(STEPS)
    happened = join([parts.advance(n) for n in (1, 250, STEPS - 251)])
    assert np.array_equal(expected.rewards, happened.rewards)
    assert_same_learner(whole.learner, parts.learner)


@on_every_pair
def test_a_saved_run_goes_on_bit_for_bit(agent, env, tmp_path):
    run = small_run(env, agent, seed=9)
    run.advance(333)
    path = run.save(tmp_path / "run.safetensors")
    rest = run.advance(STEPS)
    again = Run.load(path)
    assert again.steps == 333
    resumed = again.advance(STEPS)
    assert np.array_equal(rest.rewards, resumed.rewards)
    assert np.array_equal(rest.ends, resumed.ends)
    assert_same_learner(run.learner, again.learner)


@on_every_pair
def test_loop_and_gymnasium_shell_are_the_same_run(agent, env):
    run = small_run(env, agent, seed=11)
    happened = run.advance(STEPS)
    world = {name: value for name, value in small_settings(env).items() if name in run.world.settings}
    shell = Agent(gymnasium.make(env, **world), agent, seed=11, **run.learner.plan.feature_settings).learn(STEPS)
    assert np.array_equal(happened.rewards, shell.history.rewards)
    assert np.array_equal(happened.ends, shell.history.ends)
    assert_same_learner(run.learner, shell.learner)


@on_every_agent
def test_every_setting_has_a_sentence_and_refuses_nonsense(agent):
    for setting in describe(algorithm_module(agent).Hyper):
        assert setting.doc, setting.name
        for nonsense in ("nan", "nothing", True):
            if not isinstance(setting.check, Choice) or nonsense not in setting.check.names:
                with pytest.raises(UserError, match="cannot be"):
                    small_run("ucls/RiverSwim-v0", agent, **{setting.name: nonsense})


@on_every_agent
def test_the_file_says_what_it_is_and_how_it_departs(agent):
    text = algorithm_module(agent).__doc__
    assert len(text.splitlines()[0]) < 120
    assert "Departures" in text.strip().split("\n\n")[-1]


MODULES = [
    *((Algorithm, algorithm_module(name)) for name in [*ALGORITHMS, "my_agent"]),
    *((Features, features_module(name)) for name in FEATURES),
    *((Environment, module_of(id)) for id in ENVIRONMENTS),
]


def members(protocol):
    """The names that a protocol asks for, with the names of the arguments of functions."""
    names: dict[str, list[str] | None] = dict.fromkeys(inspect.get_annotations(protocol))
    for name, member in vars(protocol).items():
        if isinstance(member, property):
            names[name] = None
        elif inspect.isfunction(member) and not name.startswith("_"):
            names[name] = [*inspect.signature(member).parameters][1:]
    return names


def arguments(function):
    return [*inspect.signature(getattr(function, "py_func", function)).parameters]


@pytest.mark.parametrize(("protocol", "module"), MODULES, ids=lambda part: part.__name__)
def test_every_module_has_the_signatures_of_its_contract(protocol, module):
    for name, asked in members(protocol).items():
        assert hasattr(module, name), name
        assert asked is None or arguments(getattr(module, name)) == asked, name
    if protocol is Algorithm:
        for name, asked in members(Extras).items():
            assert asked is None or not hasattr(module, name) or arguments(getattr(module, name)) == asked, name


def test_the_signatures_are_those_that_a_module_is_refused_without():
    assert {*members(Algorithm)} - {"__name__"} == {*CONTRACT}


def test_a_new_environment_needs_no_line_in_the_tests(monkeypatch):
    for name, module in (("ucls/New-v0", "puddle_world"), ("ucls/Other-v0", "deep_sea")):
        monkeypatch.setitem(ENVIRONMENTS, name, (module, {}))
        assert small_run(name, "sarsa").learner.coder.size < 1000
