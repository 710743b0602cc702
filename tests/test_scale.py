"""The size of rewards is of no account to `ucls-exact`: a power of two changes no bit but the exponent's."""

import gymnasium
import numpy as np
import pytest

from ucls import Agent

BOX = {"features": "tiles", "low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3], "tilings": 4, "tiles": 3}


class Scaled(gymnasium.RewardWrapper):
    """An environment whose rewards are of another size."""

    def __init__(self, env, scale):
        super().__init__(env)
        self.scale = scale

    def reward(self, reward):
        return self.scale * float(reward)


def actions_and_values(id, scale, steps, **settings):
    """What an agent does in an environment with scaled rewards, and what it thinks at the end, scaled back."""
    agent = Agent(Scaled(gymnasium.make(id), scale), "ucls-exact", seed=3, **settings)
    actions = []
    agent.learn(steps, callback=lambda learning: actions.append(learning.learner.action))
    return actions, agent.learner.state.w / scale, agent.learner.state.h


@pytest.mark.parametrize(
    ("id", "settings", "known"),
    [
        ("CartPole-v1", {}, "unknown"),
        ("CartPole-v1", BOX, "unknown"),
        ("FrozenLake-v1", {}, "unknown"),
        ("CliffWalking-v1", {}, "unknown"),
        ("ucls/RiverSwim-v0", {}, "unknown"),
        ("ucls/RiverSwim-v0", {}, 100.0),
    ],
)
def test_scaled_rewards_change_no_action(id, settings, known):
    def done(scale):
        return_max = known if known == "unknown" else known * scale
        return actions_and_values(id, scale, 600, return_max=return_max, **settings)

    plain = done(1.0)
    for scale in (1024.0, 1 / 1024):
        scaled = done(scale)
        assert scaled[0] == plain[0]
        for ours, theirs in zip(plain[1:], scaled[1:], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_world_whose_rewards_somebody_changes_is_not_believed_to_have_its_largest_return():
    plain, wrapped = gymnasium.make("ucls/RiverSwim-v0"), Scaled(gymnasium.make("ucls/RiverSwim-v0"), 8.0)
    assert Agent(plain).learner.hyper.return_max == 100.0
    assert np.isnan(Agent(wrapped).learner.hyper.return_max)
    assert Agent(gymnasium.wrappers.RecordEpisodeStatistics(plain)).learner.hyper.return_max == 100.0
