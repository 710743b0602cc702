"""Stop when the task is learned."""

import math

from ucls.agent.agent import Agent
from ucls.core.config import brief, whole
from ucls.errors import UserError


class StopOnReturn:
    """Stop the learning once the last so many episodes return at least `threshold` on average."""

    def __init__(self, threshold: float, episodes: int = 100) -> None:
        if isinstance(threshold, bool | str) or not math.isfinite(threshold):
            raise UserError(f"threshold cannot be {brief(threshold)}: give a number")
        self.threshold, self.episodes = float(threshold), whole("episodes", episodes, 1)
        self._seen = 0

    def __call__(self, agent: Agent) -> bool | None:
        """Look when an episode has ended."""
        if agent.episodes == self._seen:
            return None
        self._seen = agent.episodes
        if self._seen < self.episodes:
            return None
        return bool(agent.last_episodes(self.episodes).returns.mean() < self.threshold)
