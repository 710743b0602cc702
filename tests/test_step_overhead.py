"""What a step costs beside its environment and its kernel: types are looked at once, plain numbers read fast."""

import copy

import gymnasium
import numpy as np
import pytest

from ucls import Agent, UserError
from ucls.algorithms import dgpq
from ucls.core.calls import binding
from ucls.gym import observations
from ucls.gym.adapter import EnvAdapter
from ucls.gym.layout import Leaf

NAN = float("nan")


def observed(shape, low, high, whole):
    return observations.Observed(Leaf((), shape, low, high, whole), low, high)


WHOLE = observed((), [3.0], [5.0], True)
BOX, GRID = observed((2,), [0.0] * 2, [1.0] * 2, False), observed((1, 2), [0.0] * 2, [1.0] * 2, False)


@pytest.fixture
def looks(monkeypatch):
    """How often types are looked at."""
    seen = []
    entry = binding.entry
    monkeypatch.setattr(binding, "entry", lambda kernel, arguments: seen.append(kernel) or entry(kernel, arguments))
    return seen


def river(agent="sarsa", **settings):
    return Agent("ucls/RiverSwim-v0", agent, seed=2, **settings)


def same(one, other):
    one, other = one.learner.checkpoint(), other.learner.checkpoint()
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_learner_looks_at_its_types_once(looks):
    agent = Agent("CliffWalking-v1", "sarsa", seed=1).learn(1)
    assert len(looks) == 2  # begin and advance
    agent.learn(300)
    assert agent.history.ends.any() or agent.steps == 301
    assert len(looks) == 2


def test_a_learner_looks_at_its_types_again_where_a_part_is_another(looks):
    agent, witness = river().learn(50), river().learn(100)
    before = agent.learner.state
    agent.learner.state = copy.deepcopy(before)
    old = copy.deepcopy(before)
    count = len(looks)
    agent.learn(50)
    assert len(looks) == count + 1
    assert same(agent, witness)
    assert all(np.array_equal(*pair) for pair in zip(np.atleast_1d(old.w), np.atleast_1d(before.w), strict=True))


def test_parts_of_another_type_are_compiled_for():
    agent, witness = river().learn(50), river().learn(100)
    state = agent.learner.state
    agent.learner.state = state._replace(w=np.stack([state.w, state.w], axis=1)[:, 0])  # strided
    agent.learn(50)
    assert same(agent, witness)


def test_a_learner_that_grows_goes_on_with_the_larger_arrays(looks, monkeypatch):
    monkeypatch.setattr(dgpq, "CAPACITY", 1)
    agent = river("dgpq").learn(400)
    grown = len(looks)
    assert grown > 2
    run = river("dgpq")
    for _ in range(4):
        run.learn(100)
        run.restore(run.checkpoint(), run.steps)
    assert same(agent, run)


@pytest.mark.parametrize("make", [copy.deepcopy, lambda agent: Agent("ucls/RiverSwim-v0", "sarsa", seed=2).learn(50)])
def test_a_copy_of_a_learner_does_not_touch_the_first(make):
    agent = river().learn(50)
    other = make(agent)
    other.learn(50)
    assert same(agent, river().learn(50))
    assert same(other, agent.learn(50))


def outcome(read, *given):
    try:
        return read(*given)
    except UserError as fault:
        return str(fault)


@pytest.mark.parametrize("kind", [BOX, GRID, WHOLE])
@pytest.mark.parametrize(
    "given",
    [
        np.array([0.1, 0.2]),
        np.array([0.1, 0.2], np.float32),
        np.array([[0.1, 0.2]], np.float32),
        np.array([0.1, 0.2], np.float16),
        np.array([1, 2]),
        np.array([True, False]),
        np.array([0.1, NAN]),
        np.array([-np.inf, 0.0], np.float32),
        np.array([1e308, 1e308]),
        np.array(["a", "b"]),
        np.array([0.1, 0.2, 0.3]),
        np.array([0.1, 0.2], ">f8"),
        np.arange(4.0)[::2],
        np.array(4.0),
        np.array(6.0),
        np.array(4.5),
        np.float64(4),
        4,
        [0.1, 0.2],
        None,
        {},
    ],
    ids=repr,
)
def test_the_short_way_to_read_an_observation_says_what_the_long_way_says(kind, given):
    short, long = outcome(kind.read, given), outcome(kind._read_any, given)
    assert type(short) is type(long)
    assert np.array_equal(short, long)
    if isinstance(short, np.ndarray):
        assert short.dtype == np.float64
        assert short.flags.c_contiguous
        assert not np.shares_memory(short, given)


class Gives(gymnasium.Env):
    """Gives one answer to every step."""

    observation_space = gymnasium.spaces.Box(np.zeros(2), np.ones(2), dtype=np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, **answer):
        usual = {"obs": np.array([0.1, 0.2]), "reward": 1.0, "terminated": False, "truncated": False, "info": {}}
        self.answer = tuple((usual | answer).values())

    def reset(self, *, seed=None, options=None):
        return np.array([0.1, 0.2]), {}

    def step(self, action):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"reward": NAN}, "a reward cannot be nan: rewards must be finite"),
        ({"reward": np.float64("inf")}, r"a reward cannot be np.float64\(inf\): rewards must be finite"),
        ({"reward": "1"}, "a reward cannot be '1': it is one number"),
        ({"terminated": 2}, "terminated cannot be 2: it is True or False"),
        ({"truncated": None}, "truncated cannot be None: it is True or False"),
        ({"info": []}, "info cannot be"),
        ({"obs": np.array([NAN, 0.0])}, "observations must be finite"),
    ],
)
def test_what_cannot_be_read_is_still_refused_with_its_line(answer, line):
    with pytest.raises(UserError, match=line) as caught:
        Agent(Gives(**answer), "sarsa").learn(3)
    assert str(caught.value).startswith("the environment is at fault, at step 1: ")


@pytest.mark.parametrize("reward", [1, 1.0, np.float32(1), np.float64(1), np.array(1.0), True])
@pytest.mark.parametrize("flag", [False, np.False_, 0, np.array(False), 0.0])
def test_numbers_and_flags_of_every_kind_are_read_as_plain_ones(reward, flag):
    env = Gives(reward=reward, terminated=flag)
    agent = Agent(env, "sarsa")
    stage = EnvAdapter(env, agent.plan, discrete=False)
    stage.reset(0)
    step = stage.step(0, 1)
    assert (type(step.reward), step.reward, step.terminated) == (float, 1.0, False)
    assert type(step.terminated) is bool
