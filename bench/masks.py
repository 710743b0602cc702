"""Sarsa with and without action masks, in Taxi and where half of the actions are invalid: `python -m bench.masks`."""

import statistics
import warnings

import gymnasium
import numpy as np

import ucls

SEEDS = 10


class WithoutMask(gymnasium.Wrapper):
    """An environment that does not provide its masks."""

    def reset(self, **settings):
        return self.env.reset(**settings)[0], {}

    def step(self, action):
        *rest, _ = self.env.step(action)
        return *rest, {}


class Half(gymnasium.Env):
    """A row of 10 cells and 8 actions: one moves forward, three move back and four are invalid and do nothing."""

    observation_space, action_space = gymnasium.spaces.Discrete(10), gymnasium.spaces.Discrete(8)

    def _info(self):
        return {"action_mask": ((np.arange(8) + self.s) % 2 == 0).astype(np.int8)}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.t = 0, 0
        return self.s, self._info()

    def step(self, action):
        if self._info()["action_mask"][action]:
            self.s = self.s + 1 if action // 2 == self.s % 4 else max(0, self.s - 1)
        self.t += 1
        return self.s, float(self.s == 9), self.s == 9, self.t == 60, self._info()


def main():
    """Print the mean total reward of each, and its standard deviation over runs."""
    taxi = max(id for id in gymnasium.registry if id.startswith("Taxi-v"))
    for name, make, steps, settings in (
        (taxi, lambda: gymnasium.make(taxi), 20_000, {}),
        ("half of the actions invalid", Half, 5_000, {"initial_value": 1.0, "epsilon": 0.0}),
    ):
        for words, wrap in (("with masks", lambda env: env), ("without", WithoutMask)):
            agents = (ucls.Agent(wrap(make()), "sarsa", seed=seed, **settings) for seed in range(SEEDS))
            totals = [float(agent.learn(steps).history.rewards.sum()) for agent in agents]
            print(f"{name}, {steps:,} steps, {words}: {np.mean(totals):,.1f}, sd {statistics.stdev(totals):,.1f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
