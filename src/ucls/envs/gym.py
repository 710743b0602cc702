"""Any built-in environment as a `gymnasium.Env`."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from ucls._util.randomness import from_words, to_words
from ucls.envs import make_builtin
from ucls.errors import UserError


class BuiltinGymEnv(gymnasium.Env[np.ndarray, np.int64]):
    """A built-in environment by its id, with settings by name; the state is the observation.

    >>> env = BuiltinGymEnv("ucls/RiverSwim-v0", noise_std=0.0)
    >>> s, info = env.reset(seed=3)
    >>> s_next, r, terminated, truncated, info = env.step(1)
    >>> info
    {'discount': 0.99}
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, id: str, render_mode: str | None = None, **settings: object) -> None:
        if render_mode not in (None, "rgb_array"):
            raise UserError(f"render_mode cannot be {render_mode!r}: give 'rgb_array' or None")
        self.world = make_builtin(id, settings)
        self.render_mode = render_mode
        low, high = self.world.bounds()
        self.observation_space = gymnasium.spaces.Box(np.array(low), np.array(high), dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(self.world.n_actions)
        self._s = np.array(low, dtype=np.float64)
        self._steps = 0
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode; a seed recreates the generator."""
        super().reset(seed=None if seed is None else int(seed), options=options)
        self.world.reset(self._s, self.np_random)
        self._steps = 0
        self._running = True
        return self._s.copy(), {}

    def step(self, action: int | np.integer[Any]) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take an action; `info["discount"]` is the discount of the transition, 0 on termination."""
        if not self._running:
            raise ResetNeeded("the episode is over or has not begun: call reset() before step()")
        if not self.action_space.contains(action):
            raise UserError(f"action cannot be {action!r}: give an integer from 0 to {self.world.n_actions - 1}")
        r, gamma, terminated = self.world.step(self._s, int(action), self.np_random)
        self._steps += 1
        truncated = not terminated and 0 < self.world.time_limit <= self._steps
        self._running = not (terminated or truncated)
        return self._s.copy(), r, terminated, truncated, {"discount": gamma}

    def render(self) -> np.ndarray | None:
        """An image of the state, 480 by 320 pixels."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing: make the environment with render_mode='rgb_array'")
            return None
        from ucls._util.canvas import Canvas

        canvas = Canvas()
        self.world.draw(self._s, canvas)
        return canvas.image()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Everything that the next steps depend on; a clock of 0 means that no episode is running."""
        clock = self._steps if self._running else 0
        return {"s": self._s.copy(), "clock": np.array([clock]), "rng": to_words(self.np_random)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Continue from a checkpoint as if nothing had happened since."""
        self.world.check_saved(saved)
        from_words(self.np_random, saved["rng"])
        self._s[:] = saved["s"]
        self._steps = int(saved["clock"][0])
        self._running = self._steps > 0
