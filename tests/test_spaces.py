"""Observations of every space that is made of numbers: flattened, bounded, saved, refused where they are not theirs."""

from collections import OrderedDict

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import ucls
from support.foreign import newest
from ucls import Agent, UserError
from ucls.algorithms import MATRIX, TABLE, algorithm_module
from ucls.core.saving import checkpoint
from ucls.gym import observations
from ucls.gym.layout import layout_of, leaves
from ucls.gym.spaces import describe

SMALL = {"features": "tiles", "tilings": 2, "tiles": 2, "table_size": 64}
NESTED = spaces.Dict(
    {
        "speed": spaces.Box(-1.0, 1.0, (2,), np.float32),
        "gear": spaces.Discrete(5, start=-1),
        "lamps": spaces.MultiBinary((2, 2)),
        "arm": spaces.Tuple((spaces.MultiDiscrete([3, 4], start=[1, 0]), spaces.Box(0, 9, (), np.int64))),
    }
)


class Shown(gymnasium.Env):
    """Shows samples of a space, but `instead` at the fifth step; action 1 pays."""

    def __init__(self, space, instead=None, limit=10):
        self.observation_space, self.action_space = space, spaces.Discrete(2)
        self.instead, self.limit = instead, limit

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.t += 1
        s = self.instead if self.instead is not None and self.t == 5 else self.observation_space.sample()
        return s, float(action), False, self.t == self.limit, {}


EVERY = [
    (spaces.Box(-1.0, 1.0, (3,)), "tiles", 3),
    (spaces.Box(0, 1, (), np.float64), "tiles", 1),
    (spaces.Box(0, 255, (2, 3, 1), np.uint8), "tiles", 6),
    (spaces.Box(-3, 3, (2,), np.int32), "tiles", 2),
    (spaces.Box(np.array([0.0, 2.0]), np.array([1.0, 2.0]), dtype=np.float64), "tiles", 2),
    (spaces.Discrete(7, start=-3), "one_hot", 1),
    (spaces.MultiDiscrete([3, 4, 2]), "one_hot", 3),
    (spaces.MultiDiscrete([[3, 4], [2, 2]], start=[[1, 0], [-5, 9]]), "one_hot", 4),
    (spaces.MultiDiscrete([100, 100]), "tiles", 2),
    (spaces.MultiDiscrete([100, 100, 1]), "tiles", 3),
    (spaces.MultiBinary(4), "one_hot", 4),
    (spaces.MultiBinary((2, 3)), "one_hot", 6),
    (spaces.MultiBinary(40), "tiles", 40),
    (spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2))), "one_hot", 3),
    (spaces.Tuple((spaces.Discrete(3), spaces.Box(0, 1, (2,)))), "tiles", 3),
    (spaces.Dict(a=spaces.Discrete(3), b=spaces.Tuple((spaces.Discrete(1), spaces.MultiBinary(2)))), "one_hot", 4),
    (NESTED, "tiles", 10),
]


@pytest.mark.parametrize(("space", "features", "size"), EVERY, ids=str)
def test_every_space_of_numbers_is_learned_saved_and_gone_on_with(space, features, size, tmp_path):
    settings = SMALL if features == "tiles" else {}
    agent = Agent(Shown(space), "sarsa", seed=1, **settings).learn(60)
    assert (agent.plan.features, len(agent.plan.low)) == (features, size)
    path = agent.save(tmp_path / "a.safetensors")
    alone, again = Agent.load(path), Agent.load(path, Shown(space))
    for _ in range(5):
        s = space.sample()
        flat = agent._stage.observed.read(s)
        assert (flat >= agent.plan.low).all()
        assert (flat <= agent.plan.high).all()
        for other in (alone, again):
            assert np.array_equal(agent.value_estimates(s), other.value_estimates(s))
        assert np.array_equal(agent.value_estimates(s)[0], agent.value_estimates(flat)[0].ravel())
    assert again.learn(20).steps == 80
    with pytest.raises(UserError, match="was saved for"):
        Agent.load(path, Shown(spaces.Tuple((space, spaces.Discrete(2)))))


def test_the_parts_of_a_nested_observation_come_in_gymnasiums_order():
    kind = observations.Observed(layout_of(describe(NESTED)), [0] * 10, [9] * 10)
    names = ["arm", "gear", "lamps", "speed"]
    assert list(NESTED.spaces) == names
    s = {"speed": [0.1, 0.2], "gear": 2, "lamps": [[1, 0], [1, 1]], "arm": ([3, 1], 7)}
    assert kind.read(s).tolist() == [3, 1, 7, 2, 1, 0, 1, 1, 0.1, 0.2]
    assert kind.names()[:4] == [
        "observation['arm'][0][0]",
        "observation['arm'][0][1]",
        "observation['arm'][1]",
        "observation['gear']",
    ]
    assert kind.names()[4] == "observation['lamps'][0, 0]"
    own = leaves(kind.layout)
    assert [(leaf.low, leaf.high) for leaf in own][:3] == [([1.0, 0.0], [3.0, 3.0]), ([0.0], [9.0]), ([-1.0], [3.0])]


def test_a_dict_in_an_order_of_its_own_is_another_space(tmp_path):
    one, two = spaces.Discrete(3), spaces.Discrete(3)
    agent = Agent(Shown(spaces.Dict(OrderedDict(b=one, a=two))), "sarsa")
    assert agent._stage.observed.read({"a": 0, "b": 2}).tolist() == [2, 0]
    path = agent.learn(20).save(tmp_path / "a.safetensors")
    assert Agent.load(path)._stage.observed.read({"a": 0, "b": 2}).tolist() == [2, 0]
    with pytest.raises(UserError, match="was saved for observations"):
        Agent.load(path, Shown(spaces.Dict(OrderedDict(a=one, b=two))))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"gear": 9}, "there observation['gear'] is an integer from -1 to 3"),
        ({"gear": 1.5}, "there observation['gear'] is an integer from -1 to 3"),
        ({"gear": "x"}, "['gear'] of an observation cannot be 'x': here it is one number"),
        ({"speed": [0.0, np.nan]}, "['speed'] of an observation cannot be [0.0, nan]: observations must be finite"),
        ({"speed": np.zeros(3)}, "['speed'] of an observation cannot be array([0., 0., 0.]): here it is 2 numbers"),
        ({"lamps": [[1, 0], [1, 2]]}, "there observation['lamps'][1, 1] is an integer from 0 to 1"),
        ({"arm": [1, 2, 3]}, "['arm'] of an observation cannot be [1, 2, 3]: here it is a tuple of 2 parts"),
        ({"arm": None}, "['arm'] of an observation cannot be None: here it is a tuple of 2 parts"),
        ({"arm": ([0, 0], 3)}, "there observation['arm'][0][0] is an integer from 1 to 3"),
        ({"arm": ([1, 0], None)}, "['arm'][1] of an observation cannot be None"),
        ({"more": 1}, "here it is a mapping with the keys 'arm', 'gear', 'lamps', 'speed'"),
    ],
)
def test_what_is_wrong_in_a_part_is_said_with_its_name(changed, words):
    s = {"speed": [0.1, 0.2], "gear": 2, "lamps": [[1, 0], [1, 1]], "arm": ([3, 1], 7), **changed}
    agent = Agent(Shown(NESTED, instead=s), "sarsa", **SMALL)
    with pytest.raises(UserError, match="the environment is at fault, at step 5: ") as error:
        agent.learn(20)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Text(5), "the observations are Text"),
        (spaces.Graph(spaces.Box(0, 1, (2,)), None), "the observations are Graph"),
        (spaces.Dict(a=spaces.Discrete(2), b=spaces.Tuple((spaces.Text(5),))), "the observations['b'][0] are Text"),
        (spaces.Tuple((spaces.Sequence(spaces.Discrete(3)),)), "the observations[0] are Sequence"),
        (spaces.OneOf((spaces.Discrete(2), spaces.Discrete(3))), "the observations are OneOf"),
        (spaces.Box(0, 1, (0,)), "the observations are empty, Box"),
        (spaces.Box(0, 1, (3, 0)), "the observations are empty, Box"),
        (spaces.Dict(), "the observations are empty, Dict"),
        (spaces.Tuple(()), "the observations are empty, Tuple"),
        (spaces.Dict({1: spaces.Discrete(2)}), "they must be strings"),
    ],
)
def test_what_is_not_numbers_is_refused_with_its_place_and_a_way_out(space, words):
    with pytest.raises(UserError) as error:
        Agent(Shown(space), "sarsa")
    assert words in str(error.value)
    assert "wrapper" in str(error.value) or "strings" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "space",
    [spaces.Box(0, 255, (84, 84, 3), np.uint8), spaces.MultiDiscrete([256] * 3000), spaces.MultiBinary((84, 84))],
)
def test_pixels_are_too_many_states_for_one_hot_features_and_others_are_chosen(space):
    with pytest.raises(UserError, match=r"for fewer states than those of .* numbers: leave") as error:
        Agent(Shown(space), "sarsa", features="one_hot")
    assert "\n" not in str(error.value)
    assert Agent(Shown(space), "sarsa").plan.features == "random_fourier"


def test_only_numbers_in_a_box_take_bounds():
    mixed = spaces.Tuple((spaces.Discrete(3), spaces.Box(-np.inf, np.inf, (2,))))
    plan = Agent(Shown(mixed), "sarsa", low=[None, -1, -2], high=[2, 1, 2], **SMALL).plan
    assert (plan.low, plan.high) == ([0.0, -1.0, -2.0], [2.0, 1.0, 2.0])
    with pytest.raises(UserError, match="integers have their bounds"):
        Agent(Shown(mixed), "sarsa", low=[-1, -1, -2], high=[2, 1, 2])
    learned = Agent(Shown(mixed), "sarsa", **SMALL).plan
    assert (learned.low[0], learned.high[0]) == (0.0, 2.0)
    assert learned.low[1] < -2
    assert learned.high[2] > 2


@pytest.mark.parametrize(("id", "features", "size"), [("Blackjack-v1", 1408, 3), (newest("Taxi"), 3000, 1)])
def test_gymnasiums_own_worlds_of_whole_numbers_are_one_hot(id, features, size, tmp_path):
    agent = Agent(id, "sarsa", seed=2).learn(200)
    assert (agent.plan.features, agent.learner.coder.size, len(agent.plan.low)) == ("one_hot", features, size)
    assert features <= MATRIX
    again = Agent.load(agent.save(tmp_path / "a.safetensors"), id)
    assert again.learn(50).steps == 250


@pytest.mark.parametrize("agent", ["ucls-plan", "oim", "ucb-q"])
def test_algorithms_without_a_matrix_have_one_hot_features_for_more_states(agent):
    many, more = spaces.MultiDiscrete([50, 50, 20]), spaces.MultiDiscrete([50, 50, 21])
    plan = Agent(Shown(many), agent).plan
    assert (plan.features, 50 * 50 * 20 * plan.n_actions) == ("one_hot", TABLE)
    assert Agent(Shown(many), "ucls-exact").plan.features == "tiles"
    if agent == "ucls-plan":
        assert Agent(Shown(more), agent).plan.features == "tiles"
        return
    with pytest.raises(UserError, match="with more than 100,000 pairs of a state and an action, give features=one_hot"):
        Agent(Shown(more), agent)
    assert Agent(Shown(more), agent, features="one_hot").plan.features == "one_hot"


@pytest.mark.parametrize("n_actions", [1, 2, 6])
@pytest.mark.parametrize("agent", ["ucls-plan", "oim", "r-max", "ucb-q", "psrl"])
def test_one_hot_features_by_default_take_at_most_as_much_memory_as_is_said(agent, n_actions):
    algorithm = algorithm_module(agent)
    used = algorithm.allocation(algorithm.Settings(), TABLE, n_actions, 1) + TABLE // n_actions
    assert used * 8 <= (37e6 if agent == "psrl" else 10e6)


def test_batches_of_nested_observations_are_answered_row_by_row():
    agent = Agent("Blackjack-v1", "sarsa", seed=2).learn(300)
    rows = [(12, 3, 0), (20, 10, 1), (4, 1, 0)]
    batch = tuple(np.array(part) for part in zip(*rows, strict=True))
    means = [agent.value_estimates(row)[0] for row in rows]
    for many in (batch, np.array(rows)):
        assert np.array_equal(agent.value_estimates(many)[0], means)
        assert agent.predict(many, deterministic=True)[0].tolist() == [int(np.argmax(mean)) for mean in means]
    with pytest.raises(UserError, match=r"\[1\] of an observation cannot be"):
        agent.value_estimates((np.zeros(3), np.zeros(2), np.zeros(3)))
    with pytest.raises(UserError, match=r"observation\[1\] is an integer from 0 to 10"):
        agent.value_estimates((np.zeros(2), np.array([3, 11]), np.zeros(2)))
    vector = gymnasium.make_vec("Blackjack-v1", num_envs=2)
    assert ucls.evaluate_policy(agent, vector, 6).returns.shape == (6,)


def test_maps_of_states_of_several_whole_numbers_are_planes_of_whole_numbers(tmp_path):
    agent = Agent("Blackjack-v1", seed=2, features="one_hot").learn(100)
    page = agent.explain(tmp_path / "maps.html", steps=50)
    assert "sum and usable ace" in page.read_text()
    nested = Agent(Shown(NESTED), "sarsa", **SMALL).learn(20).explain(tmp_path / "nested.html")
    assert "observation['arm'][0][1]" in nested.read_text()
    two = Agent(Shown(spaces.MultiDiscrete([3, 1])), "sarsa").learn(20)
    assert two.explain(tmp_path / "two.html", steps=20).exists()


def test_a_file_that_lies_about_its_space_is_refused(tmp_path):
    agent = Agent(Shown(NESTED), "sarsa", **SMALL).learn(20)
    about, arrays = checkpoint.load(agent.save(tmp_path / "a.safetensors"))
    deep = {"kind": "box", "low": [0], "high": [1]}
    for _ in range(200):
        deep = {"kind": "tuple", "parts": [deep]}
    whole = {"kind": "whole", "low": [0.0] * 10, "high": [1.0] * 10}
    lies = [
        *(3, [], "x", {}, {"kind": "box"}, {"kind": "tuple", "parts": []}, {"kind": "dict", "parts": [whole]}, deep),
        {"kind": "dict", "keys": ["a", "a"], "parts": [whole, whole]},
        {"kind": "dict", "keys": [["a"]], "parts": [whole]},
        {"kind": "box", "low": [0.0] * 9, "high": [1.0] * 9},
        {"kind": "box", "low": [0.0] * 10, "high": ["x"] * 10},
        *({**whole, "shape": shape} for shape in ([3], [-1, -10], [10.0], "10", [], [0])),
    ]
    for lie in lies:
        with pytest.raises(UserError, match="the checkpoint cannot be right: its observations are") as error:
            Agent.load(checkpoint.save(tmp_path / "b.safetensors", {**about, "space": lie}, arrays))
        assert "\n" not in str(error.value)
