"""A compact record of an agent's steps: rewards, ends of episodes, and time."""

import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ucls.core.history import TRUNCATED, History


class Last(NamedTuple):
    """The last finished episodes."""

    returns: np.ndarray
    lengths: np.ndarray


class EpisodeRecorder:
    """The history of an agent, recorded step by step; the last episodes are available without reading all of it."""

    def __init__(self) -> None:
        self.rewards, self.ends = array("d"), bytearray()
        self._returns, self._stops = array("d"), array("q", [0])  # of finished episodes; one begins at the last stop
        self._timed, self._seconds = 0, 0.0
        self._began: float | None = None

    @property
    def episodes(self) -> int:
        """The number of finished episodes."""
        return len(self._returns)

    def note(self, reward: float, end: int) -> None:
        """Record a step: its reward, and `TERMINATED`, `TRUNCATED` or 0 if the episode continues."""
        self.rewards.append(reward)
        self.ends.append(end)
        self._timed += 1
        if end:
            self._finish()

    def _finish(self) -> None:
        self._returns.append(sum(self.rewards[self._stops[-1] :]))
        self._stops.append(len(self.rewards))

    def cut_off(self) -> None:
        """Count an episode that cannot be continued as truncated."""
        if self.ends and not self.ends[-1]:
            self.ends[-1] = TRUNCATED
            self._finish()

    def recall(self, happened: History) -> None:
        """Replace the record by an earlier history."""
        self.__init__()
        self.rewards.extend(happened.rewards.tolist())
        self.ends.extend(happened.ends.tolist())
        self._returns.extend(happened.episode_returns.tolist())
        self._stops.extend((np.flatnonzero(happened.ends) + 1).tolist())

    def since(self, first: int, diverged: bool = False) -> History:
        """The history from a step on."""
        return History(np.array(self.rewards[first:], np.float64), np.array(self.ends[first:], np.uint8), diverged)

    def last(self, episodes: int) -> Last:
        """The last finished episodes, or as many as there are."""
        many = min(episodes, self.episodes)
        stops = np.array(self._stops[len(self._stops) - many - 1 :], np.int64)
        return Last(np.array(self._returns[self.episodes - many :], np.float64), np.diff(stops))

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the steps that are recorded meanwhile."""
        self._began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - self._began
            self._began = None

    @property
    def speed(self) -> float:
        """Steps per second of the timed steps; 0 if there are none."""
        seconds = self._seconds + (0.0 if self._began is None else time.perf_counter() - self._began)
        return self._timed / seconds if seconds else 0.0

    def metrics(self) -> dict[str, float]:
        """Statistics of the last 100 episodes and the speed, under the names that Stable-Baselines3 uses."""
        returns, lengths = self.last(100)
        means = {"rollout/ep_rew_mean": returns, "rollout/ep_len_mean": lengths}
        return {
            **{name: float(values.mean()) for name, values in means.items() if len(values)},
            "time/episodes": float(self.episodes),
            "time/fps": self.speed,
        }
