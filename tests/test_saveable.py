"""An agent whose state can no longer be saved says so while it learns, once, and what to do."""

import warnings

import gymnasium
import numpy as np
import pytest

from support import foreign
from ucls import Agent
from ucls.core.run import make_run
from ucls.core.saving.saveable import Saveable
from ucls.errors import UclsWarning, UserError

GONE = "can no longer be saved: .* holds numbers that are not finite; start again, and scale the rewards or features"


class Huge(gymnasium.Env):
    """Four states in a circle, with rewards or observations as large as they are told to be."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, reward=1.0, observation=None):
        self.reward, self.observation, self.place = reward, observation, 0
        self.observation_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        self.place = 0
        return 0, {}

    def step(self, action):
        self.place += 1
        return self.place % 4, self.reward, self.place == 9, False, {}


@pytest.mark.parametrize(
    ("env", "features"),
    [(Huge(1e154), None), (Huge(), lambda s: np.array([1e200, 1.0 + s]))],
    ids=["rewards", "features"],
)
def test_an_agent_says_while_it_learns_that_it_can_no_longer_be_saved(tmp_path, env, features):
    agent, told = Agent(env, features=features), []

    def look(agent):
        told.append(len(heard))

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        agent.learn(200, callback=look)
        agent.learn(50)
    said = [str(each.message) for each in heard if each.category is UclsWarning]
    assert len([text for text in said if "can no longer be saved" in text]) == 1
    assert told[-1] > 0, "it was not said while the agent learned"
    with pytest.raises(UserError, match="holds numbers that are not finite; start again, and scale the rewards"):
        agent.save(tmp_path / "agent.safetensors")


def test_a_few_steps_are_enough_to_be_told():
    with pytest.warns(UclsWarning, match=GONE):
        Agent(Huge(1e154)).learn(20)


def test_an_agent_that_can_be_saved_says_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Agent(Huge(1e50)).learn(200).save(tmp_path / "agent.safetensors")


def test_a_compiled_run_says_after_a_chunk_that_it_can_no_longer_be_saved():
    run = make_run("ucls/RiverSwim-v0", "sarsa", settings={"tilings": 2, "tiles": 4})
    run.advance(5)
    run.learner._saveable = Saveable()
    run.learner.state.w[-1] = np.inf  # of a tile that is never met: no value diverges
    with pytest.warns(UclsWarning, match="after step 6 the agent can no longer be saved: 'state.w'"):
        run.advance(1)
    assert not run.diverged


def test_checks_cost_a_small_part_of_the_time(monkeypatch):
    class Slow:
        now = looked = 0

        def refuse_unsound(self):
            self.looked += 1
            self.now += 10

    slow, checks = Slow(), Saveable()
    monkeypatch.setattr("ucls.core.saving.saveable.time.perf_counter", lambda: slow.now)
    while slow.now < 300:
        checks.look(slow, 1, share=0.1)
        slow.now += 1
    assert slow.looked == 3


MODULE = """
import gymnasium

class Huge(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(4)
    place = 0

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        self.place += 1
        return self.place % 4, 1e154, False, False, {}
"""


def test_train_and_studies_say_it_too(tmp_path):
    (tmp_path / "huge.py").write_text(MODULE)
    trained = foreign.command(tmp_path, "train", "huge:Huge", "--algo", "ucls-exact", "--steps", "1000")
    assert "can no longer be saved: 'state." in trained.stderr
    assert "Traceback" not in trained.stderr
    study = 'name = "s"\nseeds = 1\n[[run]]\nalgorithm = "ucls-exact"\nenv = "huge:Huge"\nsteps = 100\n'
    (tmp_path / "s.toml").write_text(study)
    ran = foreign.command(tmp_path, "study", "run", "s.toml", "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    assert "its learner could not be saved: 'state." in ran.stderr + ran.stdout


def test_a_file_with_settings_of_an_earlier_version_says_what_to_do(tmp_path):
    saved = Agent("FrozenLake-v1", "sarsa", seed=0).save(tmp_path / "agent.safetensors")
    content = saved.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + size].replace(b"initial_value", b"optimistic")
    saved.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
    with pytest.raises(
        UserError, match=r"unknown setting 'optimistic'.* an earlier ucls needs that version, or train again"
    ):
        Agent.load(saved)
