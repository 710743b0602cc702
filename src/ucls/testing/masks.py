"""The requirements of every algorithm where some actions are invalid."""

from types import ModuleType
from typing import Any, cast

import numpy as np

from ucls.agent.agent import Agent
from ucls.algorithms import needs_discrete
from ucls.features import features_module
from ucls.gym.registry import make_env
from ucls.testing.requirement import insist
from ucls.testing.small import small_run, small_settings

STEPS = 150


class Masked:
    """An environment in which one action is invalid, by its state; "all" are valid, or there is "no" mask."""

    def __init__(self, env: Any, masks: str = "some") -> None:
        self.env, self.masks, self.n_invalid = env, masks, 0
        self.action_space, self.observation_space = env.action_space, env.observation_space
        self._valid = np.ones(int(env.action_space.n), np.int8)

    def reset(self, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        s, info = self.env.reset(**settings)
        return s, self._with_mask(s, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action, and count it if it is invalid."""
        self.n_invalid += int(self._valid[action] == 0)
        s, r, terminated, truncated, info = self.env.step(action)
        return s, r, terminated, truncated, self._with_mask(s, info)

    def _with_mask(self, s: Any, info: dict[str, Any]) -> dict[str, Any]:
        self._valid = np.ones_like(self._valid)
        if self.masks == "some":
            self._valid[int(abs(np.sum(s)) * 10) % len(self._valid)] = 0
        return info if self.masks == "no" else {**info, "action_mask": self._valid}


def takes_no_invalid_action(module: ModuleType, env: str) -> None:
    agent = _agent(module, env, "some").learn(STEPS)
    insist(agent.env.n_invalid == 0, "it takes invalid actions: let `act` return a row of the xs that it is given")
    insist(not agent.diverged, "its values diverge where actions are invalid: identify an action by its features")
    same = [_agent(module, env, masks).learn(STEPS) for masks in ("all", "no")]
    one, other = (agent.learner.checkpoint() for agent in same)
    equal = np.array_equal(same[0].history.rewards, same[1].history.rewards)
    equal = equal and all(np.array_equal(one[name], other[name]) for name in other)
    insist(equal, "masks that allow everything change its run: let `act` and `update` read their arguments only")


def _agent(module: ModuleType, env: str, masks: str) -> Agent:
    """Return an agent in a small environment with masks, with the settings that it has without them."""
    plan, world = small_run(env, module).plan, small_run(env, module).world
    settings = {name: value for name, value in plan.settings.items() if value == value}
    made = make_env(env, {name: value for name, value in small_settings(env).items() if name in world.settings})
    discrete = needs_discrete(module) or getattr(features_module(plan.features), "DISCRETE", False)
    features = plan.features if discrete else None  # which `Masked` hides
    both = {**settings, **plan.feature_settings}
    return Agent(cast(Any, Masked(made, masks)), module, seed=4, features=features, settings=both)
