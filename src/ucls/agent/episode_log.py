"""What an agent notes of its steps, in little memory: their rewards, where episodes ended, and how long they took."""

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
    """The history of an agent while it is written: to ask for the last episodes does not read all of it."""

    def __init__(self) -> None:
        self.rewards, self.ends = array("d"), bytearray()
        self._returns, self._stops = array("d"), array("q", [0])  # of finished episodes; one begins at the last stop
        self._timed, self._seconds = 0, 0.0
        self._began: float | None = None

    @property
    def episodes(self) -> int:
        """How many episodes are finished."""
        return len(self._returns)

    def note(self, reward: float, end: int) -> None:
        """Note a step: its reward and how it ended, 0 if it did not."""
        self.rewards.append(reward)
        self.ends.append(end)
        self._timed += 1
        if end:
            self._finish()

    def _finish(self) -> None:
        self._returns.append(sum(self.rewards[self._stops[-1] :]))
        self._stops.append(len(self.rewards))

    def cut_off(self) -> None:
        """Let an episode that cannot be gone on with end where it is."""
        if self.ends and not self.ends[-1]:
            self.ends[-1] = TRUNCATED
            self._finish()

    def recall(self, happened: History) -> None:
        """Begin with what happened before."""
        self.__init__()
        self.rewards.extend(happened.rewards.tolist())
        self.ends.extend(happened.ends.tolist())
        self._returns.extend(happened.episode_returns.tolist())
        self._stops.extend((np.flatnonzero(happened.ends) + 1).tolist())

    def since(self, first: int, diverged: bool = False) -> History:
        """What happened from a step on."""
        return History(np.array(self.rewards[first:], np.float64), np.array(self.ends[first:], np.uint8), diverged)

    def last(self, episodes: int) -> Last:
        """The last finished episodes, or as many as there are."""
        many = min(episodes, self.episodes)
        stops = np.array(self._stops[len(self._stops) - many - 1 :], np.int64)
        return Last(np.array(self._returns[self.episodes - many :], np.float64), np.diff(stops))

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the steps that are noted meanwhile."""
        self._began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - self._began
            self._began = None

    @property
    def speed(self) -> float:
        """Steps a second of those that were timed, also while they are; 0 if none were."""
        seconds = self._seconds + (0.0 if self._began is None else time.perf_counter() - self._began)
        return self._timed / seconds if seconds else 0.0

    def metrics(self) -> dict[str, float]:
        """Numbers on the last 100 episodes and the speed, under the names that other libraries use."""
        returns, lengths = self.last(100)
        means = {"rollout/ep_rew_mean": returns, "rollout/ep_len_mean": lengths}
        return {
            **{name: float(values.mean()) for name, values in means.items() if len(values)},
            "time/episodes": float(self.episodes),
            "time/fps": self.speed,
        }
