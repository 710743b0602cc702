"""What every algorithm promises where some actions are invalid."""

from types import ModuleType
from typing import Any

import gymnasium
import numpy as np

from ucls.agent.agent import Agent
from ucls.gym.registry import make_env
from ucls.testing.requirement import insist
from ucls.testing.small import small_run, small_settings

STEPS = 150


class Masked(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment in which one action is invalid, by its state, or none if `everything` is valid."""

    def __init__(self, env: gymnasium.Env[Any, Any], everything: bool = False) -> None:
        super().__init__(env)
        self.everything, self.n_invalid = everything, 0
        self._valid = np.ones(int(env.action_space.n), np.int8)  # pyright: ignore[reportAttributeAccessIssue]

    def reset(self, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        s, info = self.env.reset(**settings)
        return s, {**info, "action_mask": self._mask(s)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action, and count it if it is invalid."""
        self.n_invalid += int(self._valid[action] == 0)
        s, r, terminated, truncated, info = self.env.step(action)
        return s, r, terminated, truncated, {**info, "action_mask": self._mask(s)}

    def _mask(self, s: Any) -> np.ndarray:
        self._valid = np.ones_like(self._valid)
        if not self.everything:
            self._valid[int(abs(np.sum(s)) * 10) % len(self._valid)] = 0
        return self._valid


def takes_no_invalid_action(module: ModuleType, env: str) -> None:
    agent = _agent(module, env, Masked).learn(STEPS)
    insist(agent.env.n_invalid == 0, "it takes invalid actions: let `act` return a row of the xs that it is given")
    insist(not agent.diverged, "its values diverge where actions are invalid: identify an action by its features")
    same = [_agent(module, env, wrap).learn(STEPS) for wrap in (lambda env: Masked(env, True), gymnasium.Wrapper)]
    one, other = (agent.learner.checkpoint() for agent in same)
    equal = np.array_equal(same[0].history.rewards, same[1].history.rewards)
    equal = equal and all(np.array_equal(one[name], other[name]) for name in other)
    insist(equal, "masks that allow everything change its run: let `act` and `update` read their arguments only")


def _agent(module: ModuleType, env: str, wrap: Any) -> Agent:
    """An agent in a small environment in a wrapper, with the settings that it has without one."""
    plan, world = small_run(env, module).plan, small_run(env, module).world
    settings = {name: value for name, value in plan.settings.items() if value == value}
    made = make_env(env, {name: value for name, value in small_settings(env).items() if name in world.settings})
    return Agent(wrap(made), module, seed=4, settings={**settings, **plan.feature_settings})
