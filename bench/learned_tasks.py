"""Environments for learned features: Deep Sea with coordinates or images, and a ball to catch, in pixels."""

from typing import Any

import gymnasium
import numpy as np


def place(cell: Any) -> tuple[int, int]:
    """Row and column of a cell of Deep Sea, whose cells are numbered row by row in a triangle."""
    number = int(np.asarray(cell).item())
    row = int((np.sqrt(8 * number + 1) - 1) // 2)
    return row, number - row * (row + 1) // 2


class Coordinates(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Deep Sea, observed as row and column."""

    def __init__(self, env: gymnasium.Env[Any, Any], size: int) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(0.0, float(size), (2,))

    def observation(self, observation: Any) -> np.ndarray:
        """Row and column."""
        return np.array(place(observation), np.float32)


class Picture(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Deep Sea, observed as in bsuite: a square of zeros with a one at the diver."""

    def __init__(self, env: gymnasium.Env[Any, Any], size: int) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size, size))

    def observation(self, observation: Any) -> np.ndarray:
        """The square."""
        assert self.observation_space.shape is not None
        square = np.zeros(self.observation_space.shape, np.float32)
        square[place(observation)] = 1.0
        return square


class Catch(gymnasium.Env[Any, Any]):
    """A ball falls through 10 rows of pixels with three channels: the ball, the paddle, and where the ball was before.

    The ball starts in a random column, and moves sideways by -1, 0 or 1 per step, the same in all of an episode,
    bouncing off the walls. The paddle, one pixel in the last row, moves left, stays, or moves right. The episode ends
    when the ball reaches the last row: 1 if the paddle is there, -1 if not.
    """

    SIZE = 10

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, (self.SIZE, self.SIZE, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Drop a new ball."""
        super().reset(seed=seed)
        self.row, self.column, self.paddle = 0, int(self.np_random.integers(self.SIZE)), self.SIZE // 2
        self.before = self.row, self.column
        self.drift = int(self.np_random.integers(-1, 2))
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Move the paddle, and let the ball fall by a row."""
        self.paddle = min(max(self.paddle + int(action) - 1, 0), self.SIZE - 1)
        if not 0 <= self.column + self.drift < self.SIZE:
            self.drift = -self.drift
        self.before = self.row, self.column
        self.row, self.column = self.row + 1, self.column + self.drift
        over = self.row == self.SIZE - 1
        reward = (1.0 if self.column == self.paddle else -1.0) if over else 0.0
        return self._seen(), reward, over, False, {}

    def _seen(self) -> np.ndarray:
        pixels = np.zeros((self.SIZE, self.SIZE, 3), np.uint8)
        pixels[self.row, self.column, 0] = pixels[self.SIZE - 1, self.paddle, 1] = 255
        pixels[*self.before, 2] = 255
        return pixels
