"""Base classes of periodic callbacks."""

from abc import ABC, abstractmethod
from typing import Any

from ucls.agent.agent import Agent
from ucls.core.config import whole


class Periodic(ABC):
    """Call `act(agent)` when the agent's steps reach a multiple of `every`, unless its values have diverged."""

    def __init__(self, every: int) -> None:
        self.every = whole("every", every, 1)
        self._next = 0

    def begin(self, agent: Agent) -> None:
        """Find the next multiple."""
        self._next = (agent.steps // self.every + 1) * self.every

    def __call__(self, agent: Agent) -> bool | None:
        """Call `act` if it is due."""
        if agent.steps < self._next:
            return None
        self._next = (agent.steps // self.every + 1) * self.every
        return None if agent.diverged else self.act(agent)

    @abstractmethod
    def act(self, agent: Agent) -> Any:
        """Perform the periodic action; return False to stop training."""


class Log(Periodic):
    """Write new metrics with `write(numbers, steps)`, each with the step at which it was measured.

    Metrics from `agent.log_metrics` are written once, although they stay in `agent.metrics`.
    """

    def __init__(self, every: int) -> None:
        super().__init__(every)
        self._last: int | None = None  # step of the last write
        self._seen: dict[str, int] = {}

    def begin(self, agent: Agent) -> None:
        """Treat existing metrics as written."""
        super().begin(agent)
        self._last = agent.steps
        self._seen = {name: step for name, (_, step) in agent.noted.items()}

    def act(self, agent: Agent) -> None:
        """Write new metrics."""
        noted = {name: step for name, (_, step) in agent.noted.items()}
        fresh = {
            name: (value, noted.get(name, agent.steps))
            for name, value in agent.metrics.items()
            if name not in noted or noted[name] != self._seen.get(name)
        }
        self._last, self._seen = agent.steps, noted
        self.write(fresh, agent.steps)

    def end(self, agent: Agent) -> None:
        """Write the last metrics."""
        if agent.steps != self._last and not agent.diverged:
            self.act(agent)

    @abstractmethod
    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Write metrics, each with its step, after `steps` steps in total."""
