"""Features of a person's own: a function of the observation, an array with a row for each state, a module."""

import pickle
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import ucls
from ucls import Agent, evaluate_policy
from ucls.errors import UserError
from ucls.features import features_module, scaled


def corners(observation):
    x, y = observation
    return [1.0, x, y, x * y]


class Words(gymnasium.Env):
    """Observations that are words: no space of numbers."""

    observation_space = gymnasium.spaces.Text(8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.word = "yes" if self.np_random.random() < 0.5 else "no"
        return self.word, {}

    def step(self, action):
        reward = float(action == (self.word == "yes"))
        return self.reset()[0], reward, False, False, {}


def test_a_function_is_asked_with_the_observation_as_it_is():
    agent = Agent("ucls/PuddleWorld-v0", features=corners).learn(300)
    assert (agent.plan.features, len(agent.plan.low)) == ("precomputed", 4)
    point = np.array([0.2, 0.7])
    mean, radius = agent.value_estimates(point)
    means, radii = agent.value_estimates(np.array([point, [0.5, 0.5]]))
    np.testing.assert_array_equal([mean, radius], [means[0], radii[0]])


def test_a_function_makes_any_observation_readable():
    agent = Agent(Words(), features=lambda word: [word == "yes", word == "no"], discount=0.0).learn(400)
    assert [agent.predict(word, deterministic=True)[0] for word in ("yes", "no")] == [1, 0]
    assert agent.history.rewards[-50:].mean() > 0.95


def test_an_array_has_a_row_for_each_state_and_one_hot_rows_are_one_hot_features():
    """Both take the same steps: the numbering of states differs, which no value depends on, and so do defaults."""
    same = {"prior_visits": 1.0, "lambda": 0.0}
    ways = [
        Agent("FrozenLake-v1", "ucls-exact", features=features, seed=3, settings=same).learn(500).history
        for features in (np.eye(16), "one_hot")
    ]
    np.testing.assert_array_equal(ways[0].rewards, ways[1].rewards)
    np.testing.assert_array_equal(ways[0].ends, ways[1].ends)


def test_a_saved_agent_needs_its_function_again_but_for_questions_about_features(tmp_path):
    agent = Agent("ucls/PuddleWorld-v0", features=corners).learn(300)
    path = agent.save(tmp_path / "agent.safetensors")
    point = np.array([0.2, 0.7])
    again = Agent.load(path, features=corners)
    np.testing.assert_array_equal(again.value_estimates(point), agent.value_estimates(point))
    np.testing.assert_array_equal(again.learn(50).history.rewards, agent.learn(50).history.rewards)
    with pytest.raises(UserError, match=r"give it again, load\(features=...\)"):
        Agent.load(path)
    lake = Agent("FrozenLake-v1", features=np.eye(16)).learn(50)
    stored = Agent.load(lake.save(tmp_path / "lake.safetensors"))
    np.testing.assert_array_equal(stored.value_estimates(np.eye(16)[3]), lake.value_estimates(3))


def test_an_agent_with_features_of_its_own_is_evaluated_where_it_was_and_elsewhere(tmp_path):
    agent = Agent("FrozenLake-v1", features=np.eye(16), settings={"env.is_slippery": False}).learn(2000)
    mean, _ = evaluate_policy(agent, n_eval_episodes=3)
    assert mean == 1.0
    path = agent.save(tmp_path / "agent.safetensors")
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    again = Agent.load(path, features=lambda state: np.eye(16)[state])
    assert evaluate_policy(again, lake, n_eval_episodes=3).mean == 1.0


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (lambda observation: observation[7], "the features function '<lambda>' failed for .*: IndexError"),
        (lambda observation: [np.nan], r"returned \[nan\] for .*: return a one-dimensional array of finite numbers"),
        (lambda observation: [[1.0]], r"returned \[\[1.0\]\] for .*: return a one-dimensional array of finite numbers"),
        (lambda observation: [], "returned 0 numbers for .*: return from 1 to 100,000"),
        (np.eye(3), "features with 3 rows need as many discrete states"),
        (np.ones(3), "give a name, a module, a function, or an array of rows"),
        ("tlies", "unknown features 'tlies': did you mean 'tiles'"),
        ("json", "module 'json' is not a features module: it lacks Settings"),
    ],
)
def test_features_that_cannot_be_are_refused_in_one_line(features, message):
    with pytest.raises(UserError, match=message):
        Agent("ucls/PuddleWorld-v0", features=features)


def test_features_that_change_their_number_are_refused():
    agent = Agent("ucls/PuddleWorld-v0", features=lambda s: [1.0] * (3 if s[0] > 0.9 else 2))
    with pytest.raises(UserError, match=r"returned 3 numbers for .*, but 2 before: always return the same number"):
        agent.value_estimates([0.95, 0.5])


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([1.0, 2.0], "returned 2 numbers for array.*, but 3 before"),
        ([np.inf] * 3, "returned .*: return a one-dimensional array of finite numbers"),
        (None, "failed for array.*: TypeError"),
    ],
)
@pytest.mark.parametrize(("call", "when"), [(5, "at step 3"), (2, "after step 0")])
def test_the_culprit_is_the_features_function_and_not_the_environment(made, words, call, when):
    calls = []

    def my_features(observation):
        calls.append(observation)
        return [0.5] * 3 if len(calls) < call else [*made]  # the first two: when the agent is made, and at its reset

    agent = Agent("CartPole-v1", "sarsa", features=my_features)
    with pytest.raises(UserError, match=f"^{when}, the features function 'my_features' {words}") as error:
        agent.learn(20)
    assert "\n" not in str(error.value)


def test_a_module_of_features_is_taken_as_it_is_or_by_its_import_path(tmp_path, monkeypatch):
    (tmp_path / "my_features.py").write_text(Path(str(scaled.__file__)).read_text())
    monkeypatch.syspath_prepend(tmp_path)
    by_path = Agent("ucls/PuddleWorld-v0", "sarsa", features="my_features").learn(100)
    module = sys.modules["my_features"]
    assert features_module(module) is module
    as_it_is = Agent("ucls/PuddleWorld-v0", "sarsa", features=module).learn(100)
    ours = Agent("ucls/PuddleWorld-v0", "sarsa", features="scaled").learn(100)
    for agent in (by_path, as_it_is):
        np.testing.assert_array_equal(agent.history.rewards, ours.history.rewards)
    path = by_path.save(tmp_path / "agent.safetensors")
    with pytest.raises(UserError, match="needs the features 'my_features', which are not built in: give their module"):
        Agent.load(path)
    point = [0.2, 0.7]
    np.testing.assert_array_equal(Agent.load(path, features=module).value_estimates(point), ours.value_estimates(point))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(by_path.learner)).interval(np.array(point)), ours.value_estimates(point)
    )


def test_the_card_says_that_features_must_be_given_again(tmp_path):
    path = Agent("FrozenLake-v1", "sarsa", features=np.eye(16)).learn(20).save(tmp_path / "agent.safetensors")
    card = path.with_suffix(".card.md").read_text()
    assert "features = ...  # your own" in card
    assert 'ucls.Agent.load("agent.safetensors", "FrozenLake-v1", features=features)' in card


@pytest.mark.parametrize(
    ("dtype", "shape", "told"), [(np.uint8, (4, 4), True), (np.uint8, (4,), False), (np.float32, (4, 4), False)]
)
def test_images_get_a_notice_unless_features_are_given(dtype, shape, told):
    class Picture(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0, 255 if dtype is np.uint8 else 1.0, shape, dtype)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(shape, dtype), {}

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ucls.Agent(Picture(), "sarsa")
        default = [str(each.message) for each in caught if "images of shape (4, 4)" in str(each.message)]
        ucls.Agent(Picture(), "sarsa", features=lambda image: np.ones(2))
    assert len(default) == told
    assert sum("images" in str(each.message) for each in caught) == told
