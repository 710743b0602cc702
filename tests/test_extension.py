"""Features, environments and observers are added by what they declare, without naming them anywhere else."""

import re
import sys
import types
from typing import NamedTuple

import gymnasium
import numba
import numpy as np
import pytest

import my_agent
from ucls import Agent, make_run
from ucls.agent.maps import component_names
from ucls.envs import ENVIRONMENTS, module_of
from ucls.errors import UserError
from ucls.features import one_hot, scaled
from ucls.gym import registry, spaces

LAKE = "FrozenLake-v1"


@pytest.fixture
def numbered(monkeypatch):
    """Discrete features outside the package: those of `one_hot` under another name."""
    module = types.ModuleType("numbered_states", "Another numbering of discrete states.")
    for name in ("Settings", "Coder", "allocation", "make", "encode", "lookup", "DISCRETE", "FACTS"):
        setattr(module, name, getattr(one_hot, name))
    monkeypatch.setitem(sys.modules, "numbered_states", module)
    return module


def test_discrete_features_outside_the_package_learn_as_one_hot_does(numbered):
    own, other = (Agent(LAKE, "sarsa", features=features).learn(300) for features in ("one_hot", numbered))
    assert (other.plan.low, other.plan.high) == (own.plan.low, own.plan.high) == ([0.0], [15.0])
    assert np.array_equal(other.history.rewards, own.history.rewards)
    assert np.array_equal(other.learner.state.w, own.learner.state.w)


def test_discrete_features_outside_the_package_have_no_states_beyond_their_bounds(numbered):
    agent = Agent(LAKE, "sarsa", features=numbered).learn(10)
    with pytest.raises(UserError, match="0 to 15"):
        agent.learner.interval(np.array([16.0]))
    with pytest.raises(UserError, match="an observation cannot be"):
        agent.value_estimates(0.5)


def test_discrete_features_are_refused_where_states_are_continuous(numbered):
    with pytest.raises(UserError, match="numbered_states features need states that are integers"):
        make_run("ucls/RiverSwim-v0", "sarsa", features="numbered_states")
    assert make_run("ucls/DeepSea-v0", "sarsa", features="numbered_states").advance(20).rewards.shape == (20,)


@pytest.mark.parametrize("id", ENVIRONMENTS)
def test_component_names_are_those_that_the_environment_declares(id):
    agent, declared = Agent(id, "sarsa"), getattr(module_of(id), "OBSERVATIONS", ())
    names = component_names(agent, agent._stage)
    assert len(names) == len(agent.plan.low)
    assert tuple(names) == declared or not declared


class Bare(NamedTuple):
    """A setting without its values."""

    alpha: float = 0.1


@pytest.mark.parametrize(
    ("example", "changes", "words"),
    [
        (my_agent, {"update": lambda *_: None}, "update of module 'broken_module' is not compiled: put @jit"),
        (scaled, {"encode": lambda *_: None}, "encode of module 'broken_module' is not compiled: put @exact"),
        (my_agent, {"Settings": Bare}, "setting 'alpha' does not declare its allowed values: declare it as in alpha: "),
    ],
)
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_mistakes_in_a_module_are_refused_in_one_line(monkeypatch, example, changes, words):
    module = types.ModuleType("broken_module", "A mistake.")
    vars(module).update({**vars(example), **changes, "__name__": module.__name__})
    monkeypatch.setitem(sys.modules, "broken_module", module)
    chosen = {"features": module} if example is scaled else {"algorithm": module}
    with pytest.raises(UserError, match=re.escape(words)):
        Agent("ucls/PuddleWorld-v0", **{"algorithm": "sarsa", **chosen})


class Notes:
    """An observer that notes what it is called with."""

    def __init__(self):
        self.notes = []

    def on_reset(self, s):
        self.notes.append(("reset", s.tolist()))

    def on_step(self, action, step):
        self.notes.append((action, step.reward, step.s.tolist()))


def test_observers_are_called_after_every_reset_and_step_and_change_no_run():
    agent, alone, notes = Agent(LAKE, "sarsa"), Agent(LAKE, "sarsa"), Notes()
    agent._stage.observers.append(notes)
    agent.learn(50)
    alone.learn(50)
    steps = [note for note in notes.notes if note[0] != "reset"]
    assert [reward for _, reward, _ in steps] == agent.history.rewards.tolist() == alone.history.rewards.tolist()
    assert steps[-1][2] == agent.s.tolist()
    begun = agent.episodes + (not agent._stage.between_episodes)
    assert len(notes.notes) - len(steps) == begun > 1


def test_strings_become_environments_in_the_registry_alone():
    with pytest.raises(UserError, match="an environment cannot be"):
        spaces.with_discrete_actions(LAKE)
    assert isinstance(registry.as_env(LAKE), gymnasium.Env)
    env = gymnasium.make(LAKE)
    assert registry.as_env(env) is env


def test_an_agent_moves_to_an_environment_given_by_its_name():
    agent = Agent(LAKE, "sarsa").learn(20)
    agent.env = LAKE
    assert agent.learn(20).steps == 40
    with pytest.raises(UserError, match="the agent was saved for"):
        agent.env = "CartPole-v1"
