"""Callbacks that act every so many steps: what they have in common."""

from abc import ABC, abstractmethod
from typing import Any

from ucls.agent.agent import Agent
from ucls.core.config import whole


class Periodic(ABC):
    """One that does `act(agent)` when the agent's steps reach a multiple of `every`; not once values have diverged."""

    def __init__(self, every: int) -> None:
        self.every = whole("every", every, 1)
        self._next = 0

    def begin(self, agent: Agent) -> None:
        """Look forward to the next multiple."""
        self._next = (agent.steps // self.every + 1) * self.every

    def __call__(self, agent: Agent) -> bool | None:
        """Act if it is time."""
        if agent.steps < self._next:
            return None
        self._next = (agent.steps // self.every + 1) * self.every
        return None if agent.diverged else self.act(agent)

    @abstractmethod
    def act(self, agent: Agent) -> Any:
        """Do what is to be done now and then; False stops the learning."""


class Log(Periodic):
    """One that writes the numbers that are new: `write(numbers, steps)`, each with the step that it was measured at.

    What `agent.note` noted is written once, though `agent.metrics` goes on to have it.
    """

    def __init__(self, every: int) -> None:
        super().__init__(every)
        self._last: int | None = None  # the step of the last writing
        self._seen: dict[str, int] = {}

    def begin(self, agent: Agent) -> None:
        """Take what is known already as written."""
        super().begin(agent)
        self._last = agent.steps
        self._seen = {name: step for name, (_, step) in agent.noted.items()}

    def act(self, agent: Agent) -> None:
        """Write what is new."""
        noted = {name: step for name, (_, step) in agent.noted.items()}
        fresh = {
            name: (value, noted.get(name, agent.steps))
            for name, value in agent.metrics.items()
            if name not in noted or noted[name] != self._seen.get(name)
        }
        self._last, self._seen = agent.steps, noted
        self.write(fresh, agent.steps)

    def end(self, agent: Agent) -> None:
        """Write what came since."""
        if agent.steps != self._last and not agent.diverged:
            self.act(agent)

    @abstractmethod
    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Write numbers, each with its step, after so many steps."""
