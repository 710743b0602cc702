"""Learning in a vector of environments: one learner, and a stream of transitions for each environment.

Transitions are learned from one after the other, in the order of the environments, so that it does not matter in which
processes these run.
"""

from collections import deque
from typing import Any

from ucls.core.calls.streams import Streams
from ucls.core.history import TERMINATED, TRUNCATED
from ucls.core.learner import Learner
from ucls.gym.observations import Step
from ucls.gym.vector import Outcome, VectorAdapter


class VectorLearning:
    """A learner in a vector of environments, one transition at a time."""

    def __init__(self, learner: Learner, adapter: VectorAdapter) -> None:
        self.adapter, self._learner = adapter, learner
        self.restart()

    def restart(self) -> None:
        """Begin new episodes everywhere with the next step."""
        self._streams: Streams | None = None
        self._waiting: deque[Outcome] = deque()
        self._episodes: list[list[tuple[float, int]]] = [[] for _ in range(self.adapter.n)]

    def take(self) -> tuple[Step, Outcome]:
        """The next transition to learn from; environments take a step if none is left."""
        while True:
            if not self._waiting:
                self._advance()
            outcome = self._waiting.popleft()
            if outcome.step is not None:
                return outcome.step, outcome
            self._begin(outcome)

    def _advance(self) -> None:
        if self._streams is None:
            self._streams = Streams(self._learner, self.adapter.n)
            self._waiting.extend(self.adapter.reset())
        else:
            actions = [self._streams.action(i) for i in range(self.adapter.n)]
            self._waiting.extend(self.adapter.step(actions))

    def _begin(self, outcome: Outcome) -> None:
        assert self._streams is not None
        assert outcome.first is not None
        self._streams.switch(outcome.stream)
        self._learner.begin(outcome.first, outcome.mask)

    def learn(self, outcome: Outcome, gamma: float) -> bool | None:
        """Learn from a transition, as `Learner.advance` does."""
        step = outcome.step
        assert step is not None
        assert self._streams is not None
        return self._streams.advance(outcome.stream, step.reward, gamma, step.s, step.terminated, outcome.mask)

    def record(self, diary: Any, outcome: Outcome) -> None:
        """Record a finished episode as a whole: those of the environments are not mixed."""
        step = outcome.step
        assert step is not None
        end = TERMINATED if step.terminated else TRUNCATED if step.truncated else 0
        steps = self._episodes[outcome.stream]
        steps.append((step.reward, end))
        if end:
            for reward, last in steps:
                diary.note(reward, last)
            steps.clear()
