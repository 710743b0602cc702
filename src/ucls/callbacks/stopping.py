"""Stop training early."""

import math

from ucls.agent.agent import Agent
from ucls.core.config import brief, whole
from ucls.errors import UserError


class StopOnReturn:
    """Stop training once the mean return of the last `episodes` episodes is at least `threshold`."""

    def __init__(self, threshold: float, episodes: int = 100) -> None:
        if isinstance(threshold, bool | str) or not math.isfinite(threshold):
            raise UserError(f"threshold cannot be {brief(threshold)}: give a number")
        self.threshold, self.episodes = float(threshold), whole("episodes", episodes, 1)
        self._seen = 0

    def __call__(self, agent: Agent) -> bool | None:
        """Check the returns after every episode."""
        if agent.episodes == self._seen:
            return None
        self._seen = agent.episodes
        if self._seen < self.episodes:
            return None
        return bool(agent.last_episodes(self.episodes).returns.mean() < self.threshold)
