"""Gymnasium environments of the benchmark that are not built in: another map, another order of actions, a swing-up."""

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.registration import EnvSpec
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

from ucls.errors import UserError

CART, POLE, LENGTH, FORCE, GRAVITY, SECONDS = 1.0, 0.1, 0.5, 10.0, 9.8, 0.01
EXCESS = 1.25  # how many times its steps an object may take
EDGE, FAST, SPINNING, SLOW, SPREAD = 3.0, 10.0, 15.0, 1.0, 0.05


class Recorded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that records every episode of its first steps, and ends a run that takes many more."""

    def __init__(self, env: gymnasium.Env[Any, Any], steps: int, bins: int, seed: int) -> None:
        super().__init__(env)
        self.budget, self.taken, self.first_seed = steps, 0, seed
        self.lengths, self.returns = [], []
        self.rewards = np.zeros(bins)
        self._length, self._return = 0, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the first one has the seed of the run, whatever seed is passed."""
        seed, self.first_seed = self.first_seed, None
        self._length, self._return = 0, 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        if self.taken >= EXCESS * self.budget:
            raise UserError(f"it takes more than the {self.budget:,} steps it was given")
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self.taken < self.budget:
            size = -(-self.budget // len(self.rewards))
            self.rewards[self.taken // size] += float(reward)
            self._length, self._return = self._length + 1, self._return + float(reward)
            if terminated or truncated:
                self.lengths.append(self._length)
                self.returns.append(self._return)
        self.taken += 1
        return observation, reward, terminated, truncated, info


class Reordered(gymnasium.ActionWrapper[Any, Any, Any]):
    """An environment whose actions have other numbers."""

    def __init__(self, env: gymnasium.Env[Any, Any], order_seed: int) -> None:
        super().__init__(env)
        actions: Any = env.action_space
        self.order = np.random.default_rng(order_seed).permutation(int(actions.n))

    def action(self, action: Any) -> int:
        """The action that a number stands for."""
        return int(self.order[int(action)])


def reordered(id: str, order_seed: int) -> gymnasium.Env[Any, Any]:
    """An environment by its id, with its actions in an order that is drawn from a seed."""
    return Reordered(gymnasium.make(id), order_seed)


def lake(size: int, map_seed: int, order_seed: int, is_slippery: bool = True) -> gymnasium.Env[Any, Any]:
    """FrozenLake with a map and an order of actions that are drawn from seeds."""
    desc = generate_random_map(size, seed=map_seed)
    limit = 25 * size
    return Reordered(
        gymnasium.make("FrozenLake-v1", desc=desc, is_slippery=is_slippery, max_episode_steps=limit), order_seed
    )


class SwingUp(gymnasium.Env[Any, Any]):
    """CartPole swing-up with a sparse reward: swing a hanging pole up and balance it, where moving costs.

    The observation is the cart's position and velocity, the sine and cosine of the pole's angle (cosine 1 is upright)
    and its angular velocity. Pushing costs `move_cost` per step. A step yields 1 if the cosine is above
    `height_threshold`, the angular velocity below 1 and the cart within `x_reward_threshold` of the middle. An episode
    ends if the cart is farther than 3 from the middle (cartpole_swingup of bsuite, whose constants these are).

    Deviations: the end after ten seconds is a truncation, not a termination. bsuite also shows the time and whether
    position and angular velocity are within their thresholds; velocities are clipped here, at 10 and 15.
    """

    def __init__(self, height_threshold: float = 0.5, x_reward_threshold: float = 1.0, move_cost: float = 0.1) -> None:
        self.height_threshold, self.x_reward_threshold = height_threshold, x_reward_threshold
        self.move_cost = move_cost
        high = np.array([EDGE, FAST, 1.0, 1.0, SPINNING])
        self.observation_space = gymnasium.spaces.Box(-high, high, dtype=np.float64)
        self.action_space = gymnasium.spaces.Discrete(3)
        self.spec = EnvSpec("SwingUp-v0", max_episode_steps=1000)
        self.state, self.steps = (0.0, 0.0, math.pi, 0.0), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start at rest, nearly, with the pole hanging down."""
        super().reset(seed=seed)
        x, v, angle, spin = self.np_random.uniform(-SPREAD, SPREAD, 4)
        self.state, self.steps = (x, v, math.pi + angle, spin), 0
        return self._observed(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Push to the left, not at all, or to the right."""
        self.state = moved(*self.state, int(action) - 1)
        x, _, angle, spin = self.state
        self.steps += 1
        up = math.cos(angle) > self.height_threshold and abs(spin) < SLOW and abs(x) < self.x_reward_threshold
        reward = float(up) - self.move_cost * abs(int(action) - 1)
        terminated = abs(x) > EDGE
        return self._observed(), reward, terminated, not terminated and self.steps >= 1000, {}

    def _observed(self) -> np.ndarray:
        x, v, angle, spin = self.state
        space: Any = self.observation_space
        return np.clip(np.array([x, v, math.sin(angle), math.cos(angle), spin]), space.low, space.high)


def moved(x: Any, v: Any, angle: Any, spin: Any, push: Any) -> tuple[Any, Any, Any, Any]:
    """Cart and pole after one step, by Euler's rule; numbers, or arrays of many at once."""
    sine, cosine, total = np.sin(angle), np.cos(angle), CART + POLE
    pushed = (push * FORCE + POLE * LENGTH * spin * spin * sine) / total
    turned = (GRAVITY * sine - cosine * pushed) / (LENGTH * (4.0 / 3.0 - POLE * cosine * cosine / total))
    fast = v + SECONDS * (pushed - POLE * LENGTH * turned * cosine / total)
    spun = np.clip(spin + SECONDS * turned, -SPINNING, SPINNING)
    return x + SECONDS * v, np.clip(fast, -FAST, FAST), angle + SECONDS * spin, spun


def swung(state: np.ndarray, action: int) -> np.ndarray:
    """The state of Gymnasium's Acrobot after an action, by its own physics."""
    env = AcrobotEnv()
    env.state = state
    env.step(action)
    return np.array(env.state)


class Balancing(SwingUp):
    """CartPole of bsuite: the pole starts upright, every step yields 1, and the episode ends when it falls."""

    def __init__(self) -> None:
        super().__init__(height_threshold=0.8, x_reward_threshold=EDGE, move_cost=0.0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start at rest, nearly, with the pole upright."""
        super().reset(seed=seed)
        x, v, angle, spin = self.state
        self.state = (x, v, angle - math.pi, spin)
        return self._observed(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Push to the left, not at all, or to the right."""
        self.state = moved(*self.state, int(action) - 1)
        self.steps += 1
        up = math.cos(self.state[2]) > self.height_threshold and abs(self.state[0]) < EDGE
        return self._observed(), float(up), not up, up and self.steps > 1000, {}


class Bandit(gymnasium.Env[Any, Any]):
    """Eleven arms whose rewards are 0, 0.1, ..., 1 in an order drawn from a seed (bandit of bsuite)."""

    def __init__(self, mapping_seed: int = 0) -> None:
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(1), gymnasium.spaces.Discrete(11)
        order = np.random.RandomState(mapping_seed).choice(range(11), size=11, replace=False)
        self.rewards = np.linspace(0, 1, 11)[order]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Pull an arm, which ends the episode."""
        return 0, float(self.rewards[int(action)]), True, False, {}


class Catch(gymnasium.Env[Any, Any]):
    """Move a paddle under a falling ball (catch of bsuite); shows the ball's column and row and the paddle's column."""

    ROWS, COLUMNS = 10, 5

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.MultiDiscrete([self.COLUMNS, self.ROWS, self.COLUMNS])
        self.action_space = gymnasium.spaces.Discrete(3)
        self.state = np.zeros(3, np.int64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Let a ball fall."""
        super().reset(seed=seed)
        self.state = np.array([self.np_random.integers(self.COLUMNS), 0, self.COLUMNS // 2])
        return self.state.copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Move to the left, not at all, or to the right."""
        ball, row, paddle = self.state
        self.state = np.array([ball, row + 1, min(self.COLUMNS - 1, max(0, paddle + int(action) - 1))])
        over = row + 1 == self.ROWS - 1
        reward = 0.0 if not over else 1.0 if self.state[2] == ball else -1.0
        return self.state.copy(), reward, bool(over), False, {}


class DiscountingChain(gymnasium.Env[Any, Any]):
    """The first action chooses when a reward comes, and one of the five is larger (discounting_chain of bsuite)."""

    STEPS, TIMES = 100, (1, 3, 10, 30, 100)

    def __init__(self, mapping_seed: int = 0) -> None:
        self.observation_space = gymnasium.spaces.MultiDiscrete([6, self.STEPS + 1])
        self.action_space = gymnasium.spaces.Discrete(5)
        self.rewards = [1.0 + 0.1 * (i == mapping_seed % 5) for i in range(5)]
        self.state = np.zeros(2, np.int64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode, before any choice."""
        super().reset(seed=seed)
        self.state = np.zeros(2, np.int64)
        return self.state.copy(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Choose in the first step, and wait in all others."""
        chosen, time = self.state
        chosen = int(action) + 1 if time == 0 else chosen
        self.state = np.array([chosen, time + 1])
        reward = self.rewards[chosen - 1] if time + 1 == self.TIMES[chosen - 1] else 0.0
        return self.state.copy(), reward, bool(time + 1 == self.STEPS), False, {}
