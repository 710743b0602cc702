"""The history of a run: the reward of every step and where episodes ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucls._util.notebook import curve

TERMINATED, TRUNCATED = 1, 2
REWARDS, ENDS = "history.rewards", "history.ends"  # in a checkpoint


@dataclass(frozen=True)
class History:
    """The rewards of consecutive steps, how each step ended (0: it did not), and whether the values diverged."""

    rewards: np.ndarray
    ends: np.ndarray
    diverged: bool = False

    @property
    def episode_steps(self) -> np.ndarray:
        """The lengths of the finished episodes; an unfinished last one is not an episode."""
        return np.diff(np.flatnonzero(self.ends), prepend=-1)

    @property
    def episode_returns(self) -> np.ndarray:
        """The sums of rewards of the finished episodes."""
        total = np.concatenate([[0.0], np.cumsum(self.rewards)])
        return np.diff(total[np.flatnonzero(self.ends) + 1], prepend=0.0)

    def _repr_html_(self) -> str:
        """For notebooks: the returns of its episodes, or in words that there are none."""
        told = f"{len(self.rewards):,} steps, {len(self.episode_returns):,} episodes"
        returns = self.episode_returns
        return curve(returns.tolist(), f"return of each episode ({told})") if len(returns) else f"<p>{told}</p>"

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The history as a checkpoint contains it."""
        return {REWARDS: self.rewards, ENDS: self.ends}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], steps: int) -> "History":
        """The history in a checkpoint of some steps; an empty one if it contains none that is valid."""
        history = sound_history(arrays.get(REWARDS), arrays.get(ENDS))
        return history if history is not None and len(history.rewards) <= steps else NOTHING

    @property
    def final_reward_per_step(self) -> float:
        """The mean reward per step over the final 20% of the steps."""
        last = self.rewards[len(self.rewards) - max(1, len(self.rewards) // 5) :]
        return float(last.mean()) if len(last) else 0.0


def sound_history(rewards: Any, ends: Any) -> History | None:
    """Return the history from these arrays; None if they are not valid."""
    if not (isinstance(rewards, np.ndarray) and isinstance(ends, np.ndarray)):
        return None
    if rewards.dtype != np.float64 or ends.dtype != np.uint8 or rewards.ndim != 1 or rewards.shape != ends.shape:
        return None
    return History(rewards.copy(), ends.copy()) if np.isfinite(rewards).all() and (ends <= TRUNCATED).all() else None


NOTHING = History(np.zeros(0), np.zeros(0, np.uint8))


def join(parts: Sequence[History]) -> History:
    """The history of consecutive parts of one run.

    >>> parts = [History(np.array([0.0, 1.0]), np.array([0, 0])), History(np.array([2.0]), np.array([1]))]
    >>> join(parts).episode_returns
    array([3.])
    """
    rewards = np.concatenate([part.rewards for part in parts])
    ends = np.concatenate([part.ends for part in parts])
    return History(rewards, ends, any(part.diverged for part in parts))
