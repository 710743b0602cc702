"""Environments with action masks, given in the three ways that are read."""

import gymnasium
import numpy as np


class Corridor(gymnasium.Env):
    """Six cells in a row, a reward of 1 at the right end. Actions 0 and 3 are invalid, and so is 1 (left) at the left
    end: taking one is an error. `how` is the way masks are given: info, method, observation, or none."""

    observation_space = gymnasium.spaces.Discrete(6)

    def __init__(self, how="info", broken=None, render_mode=None):
        self.how, self.broken, self.render_mode = how, broken, render_mode
        self.action_space = gymnasium.spaces.Discrete(4)
        self.t = 0
        if how == "observation":
            parts = {"action_mask": gymnasium.spaces.MultiBinary(4), "observation": gymnasium.spaces.Discrete(6)}
            self.observation_space = gymnasium.spaces.Dict(parts)
        if how == "method":
            self.action_masks = self.mask

    def mask(self):
        mask = np.array([0, self.s > 0, 1, 0], np.int8)
        if self.broken == "empty":
            return mask * 0
        if self.broken == "short":
            return mask[:3]
        if self.broken == "fraction":
            return mask * 0.5
        return mask

    def _given(self):
        observation = {"action_mask": self.mask(), "observation": self.s} if self.how == "observation" else self.s
        self.given = self.mask()
        late = (self.broken == "late" and self.t == 0) or (self.broken == "missing" and self.t > 0)
        return observation, {"action_mask": self.given} if self.how == "info" and not late else {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.s, self.t = 0, 0
        return self._given()

    def step(self, action):
        assert self.how == "none" or self.mask()[action], f"action {action} is invalid in cell {self.s}"
        self.s += {0: 0, 1: -1, 2: 1, 3: 0}[int(action)]
        self.s, self.t = max(self.s, 0), self.t + 1
        over = self.s == 5
        observation, info = self._given()
        if over and info:
            info["action_mask"] = np.zeros(4, np.int8)  # nothing is left to do
        return observation, float(over), over, self.t == 30, info

    def render(self):
        picture = np.full((20, 120, 3), 255, np.uint8)
        picture[:, 20 * self.s : 20 * self.s + 20] = 0
        return picture


class Padded(gymnasium.Wrapper):
    """An environment with more actions, which are always invalid: `where` has a 1 for those of the environment."""

    def __init__(self, env, where):
        super().__init__(env)
        self.where = np.array(where)
        self.action_space = gymnasium.spaces.Discrete(len(where))

    def reset(self, **settings):
        observation, info = self.env.reset(**settings)
        return observation, {**info, "action_mask": self.where}

    def step(self, action):
        assert self.where[action]
        *rest, info = self.env.step(int(self.where[:action].sum()))
        return *rest, {**info, "action_mask": self.where}
