"""Wrappers around an environment: what ends an episode, what is paid and what is shown mean the same under them."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces, wrappers

from support.foreign import newest
from ucls import Agent, DiscreteActions, UserError

SMALL = {"features": "tiles", "tilings": 2, "tiles": 2, "table_size": 64}


class Ending(gymnasium.Env):
    """Pays 1 a step and ends after some: by itself, or cut off."""

    action_space = spaces.Discrete(2)

    def __init__(self, space, steps, terminates):
        self.observation_space, self.steps, self.terminates = space, steps, terminates

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(1)
        self.shown, self.t = self.observation_space.sample(), 0
        return self.shown, {}

    def step(self, action):
        self.t += 1
        over = self.t == self.steps
        return self.shown, 1.0, over and self.terminates, over and not self.terminates, {}


SPACES = [
    spaces.Box(0.0, 1.0, (2,)),
    spaces.MultiDiscrete([3, 2]),
    spaces.Tuple((spaces.Discrete(3), spaces.Box(0.0, 1.0, (1,)))),
    spaces.Dict(a=spaces.Discrete(3), b=spaces.MultiBinary(2)),
]


def value(env, steps=3000):
    settings = SMALL if Agent(env, "lstd-sm").plan.features == "tiles" else {}
    agent = Agent(env, "lstd-sm", discount=0.9, **settings).learn(steps)
    return agent.value_estimates(env.unwrapped.shown)[0].max()


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_what_is_cut_off_would_go_on_and_what_terminates_would_not(space):
    # One state forever is worth 1 / (1 - 0.9) = 10. Cut off after 2 steps it still is; ended there, it is not.
    cut, ended = Ending(space, 2, False), Ending(space, 2, True)
    limited = wrappers.TimeLimit(Ending(space, 10**9, True), 2)
    assert value(cut) == pytest.approx(10, rel=0.05)
    assert value(limited) == pytest.approx(10, rel=0.05)
    assert value(ended) < 2.5


def learned(env, steps=60, **settings):
    return Agent(env, "sarsa", seed=3, **settings).learn(steps)


@pytest.mark.parametrize(
    ("wrap", "features", "size"),
    [
        (lambda: wrappers.FlattenObservation(gymnasium.make("Blackjack-v1")), "tiles", 45),
        (lambda: wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 2), "tiles", 8),
        (lambda: wrappers.NormalizeObservation(gymnasium.make("CartPole-v1")), "tiles", 4),
        (lambda: wrappers.TimeAwareObservation(gymnasium.make("MountainCar-v0"), flatten=False), "tiles", 3),
        (lambda: wrappers.TimeAwareObservation(gymnasium.make("FrozenLake-v1"), flatten=False), "tiles", 2),
        (lambda: wrappers.DtypeObservation(gymnasium.make("CartPole-v1"), np.float64), "tiles", 4),
        (lambda: wrappers.ReshapeObservation(gymnasium.make("CartPole-v1"), (2, 2)), "tiles", 4),
        (lambda: wrappers.ClipReward(gymnasium.make("Blackjack-v1"), -0.5, 0.5), "one_hot", 3),
        (lambda: wrappers.Autoreset(gymnasium.make("Blackjack-v1")), "one_hot", 3),
        (lambda: wrappers.RecordEpisodeStatistics(gymnasium.make(newest("Taxi"))), "one_hot", 1),
        (lambda: DiscreteActions(wrappers.RescaleAction(gymnasium.make("Pendulum-v1"), -1, 1)), "tiles", 3),
        (lambda: wrappers.StickyAction(gymnasium.make("Acrobot-v1"), 0.2), "tiles", 6),
    ],
)
def test_an_agent_learns_under_gymnasiums_wrappers_and_repeats_under_its_seed(wrap, features, size):
    settings = SMALL if features == "tiles" else {}
    agent, again = learned(wrap(), **settings), learned(wrap(), **settings)
    assert (agent.plan.features, len(agent.plan.low), agent.steps) == (features, size, 60)
    one, other = agent.learner.checkpoint(), again.learner.checkpoint()
    assert all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("id", ["Blackjack-v1", "CartPole-v1"])
def test_transformed_rewards_of_any_scale_lead_to_the_same_actions(id):
    def actions(scale):
        env = wrappers.TransformReward(gymnasium.make(id), lambda r: r * scale)
        taken = []
        settings = SMALL if id == "CartPole-v1" else {}
        Agent(env, seed=1, **settings).learn(150, callback=lambda agent: taken.append(agent.learner.action))
        return taken

    assert actions(1.0) == actions(1024.0) == actions(1 / 1024)


def test_the_scout_does_not_count_as_episodes_of_the_run():
    env = wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))
    agent = Agent(env, "sarsa", **SMALL)
    assert (agent.steps, len(agent.history.episode_steps), agent.metrics["time/episodes"]) == (0, 0, 0)
    assert agent.learn(100).steps == 100


@pytest.mark.parametrize("env", [None, 3, gymnasium.Env, [], gymnasium.spaces.Discrete(2)])
def test_what_is_no_environment_is_refused_in_one_line(env):
    for use in (Agent, DiscreteActions):
        with pytest.raises(UserError, match="an environment cannot be") as error:
            use(env)
        assert "\n" not in str(error.value)


def test_a_vector_that_is_not_made_of_environments_is_refused_in_one_line():
    vector = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="vector_entry_point")
    for use, words in ((Agent, "an agent cannot learn in"), (DiscreteActions, "is a vector of environments")):
        with pytest.raises(UserError, match=words):
            use(vector)
