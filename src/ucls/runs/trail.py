"""The trail of an agent in Gymnasium: where it was, what it did there, and what it earned from there on."""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ucls.runs.agent import DISCOUNT, Agent
from ucls.runs.history import TERMINATED, TRUNCATED
from ucls.runs.inputs import Step

UNSEEN = 0.05  # a return is known if at most this part of its weight lies beyond what was seen
WAITING = 10_000  # visits whose return is not known yet: of those before, it will not be


class Visit(NamedTuple):
    """A state, the action taken in it, and what that led to; `end` is 0 where the episode went on."""

    s: np.ndarray
    a: int
    r: float
    gamma: float
    end: int


class Walked(NamedTuple):
    """The states and actions of some visits, and the discounted return from each."""

    s: np.ndarray
    a: np.ndarray
    returns: np.ndarray


class Trail:
    """What an agent does from now on, its rewards lowered by `shift`; to follow it changes nothing in its run."""

    def __init__(self, agent: Agent, shift: float = 0.0) -> None:
        self._shift = shift
        self._agent, self._stage = agent, agent._stage
        self._reset, self._step = self._stage.reset, self._stage.step
        self._s = agent.s
        self._visits: deque[Visit] = deque()
        self._waiting: deque[Visit] = deque(maxlen=WAITING)
        stage: Any = self._stage
        stage.reset, stage.step = self.reset, self.step

    def reset(self, after: int) -> np.ndarray:
        """Begin an episode, as a stage does."""
        self._s = self._reset(after)
        return self._s

    def step(self, action: int, number: int) -> Step:
        """Take an action, as a stage does."""
        step, own = self._step(action, number), self._agent.discount
        gamma = own if own is not None else DISCOUNT if step.discount is None else step.discount
        end = TERMINATED if step.terminated else TRUNCATED if step.truncated else 0
        self._visits.append(Visit(self._s, action, step.reward - self._shift, gamma, end))
        self._s = step.s
        return step

    def take(self) -> tuple[np.ndarray, Walked]:
        """The states since this was last asked, and the visits whose returns have become known since."""
        new, size = list(self._visits), len(self._agent.s)
        self._visits.clear()
        visits = [*self._waiting, *new]
        returns, known = known_returns(visits)
        open_end = 1 + max((i for i, visit in enumerate(visits) if visit.end), default=-1)
        self._waiting = deque((visits[i] for i in range(open_end, len(visits)) if not known[i]), WAITING)
        ended = [visits[i] for i in np.flatnonzero(known)]
        walked = Walked(_states(ended, size), np.array([visit.a for visit in ended], np.int64), returns[known])
        return _states(new, size), walked


def _states(visits: list[Visit], size: int) -> np.ndarray:
    return np.array([visit.s for visit in visits], np.float64).reshape(-1, size)


def known_returns(visits: list[Visit]) -> tuple[np.ndarray, np.ndarray]:
    """The discounted return from every visit on, as far as it was seen, and whether that is all but a small part.

    >>> some = [Visit(np.zeros(1), 0, 1.0, 0.5, 0), Visit(np.zeros(1), 0, 4.0, 0.5, TERMINATED)]
    >>> known_returns([*some, Visit(np.zeros(1), 0, 1.0, 0.5, TRUNCATED)])
    (array([3., 4., 1.]), array([ True,  True, False]))
    """
    returns, known = np.zeros(len(visits)), np.zeros(len(visits), bool)
    g, beyond = 0.0, 1.0
    for i in range(len(visits) - 1, -1, -1):
        visit = visits[i]
        if visit.end:
            g, beyond = 0.0, float(visit.end == TRUNCATED)
        gamma = 0.0 if visit.end == TERMINATED else visit.gamma
        g, beyond = visit.r + gamma * g, gamma * beyond
        returns[i], known[i] = g, beyond <= UNSEEN
    return returns, known
