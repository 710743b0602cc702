"""The trajectory of an agent in Gymnasium: visited states, actions, and the returns that followed."""

from collections import deque
from typing import NamedTuple

import numpy as np

from ucls.agent.agent import DISCOUNT, Agent
from ucls.core.history import TERMINATED, TRUNCATED
from ucls.errors import UserError
from ucls.gym.observations import Step

UNSEEN = 0.05  # a return is known if at most this fraction of its weight lies beyond the recorded steps
WAITING = 10_000  # visits at most that wait until their return is known; older ones are dropped


class Visit(NamedTuple):
    """A state, the action taken in it, and the result; `end` is 0 if the episode continued.

    `last` is the next state if the episode was truncated: the agent's value there replaces the rest of the return.
    """

    s: np.ndarray
    a: int
    r: float
    gamma: float
    end: int
    last: np.ndarray | None = None


class Walked(NamedTuple):
    """The states and actions of some visits, and the discounted return from each, as far as it was collected.

    If the episode was truncated too early, `beyond` is the remaining discount, and `last` the state it ended in.
    """

    s: np.ndarray
    a: np.ndarray
    returns: np.ndarray
    beyond: np.ndarray
    last: np.ndarray


class TrajectoryRecorder:
    """Record the visits of an agent within a `with` block, its rewards lowered by `shift`; its run does not change."""

    def __init__(self, agent: Agent, shift: float = 0.0) -> None:
        if agent.vector is not None:
            raise UserError("diagnosis needs a single environment: set agent.env = ...")
        self._shift = shift
        self._agent, self._s = agent, agent.s
        self._visits: deque[Visit] = deque()
        self._waiting: deque[Visit] = deque(maxlen=WAITING)

    def __enter__(self) -> "TrajectoryRecorder":
        self._agent._stage.observers.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self._agent._stage.observers.remove(self)

    def on_reset(self, s: np.ndarray) -> None:
        """Note the first state of an episode."""
        self._s = s

    def on_step(self, action: int, step: Step) -> None:
        """Note a visit: the state that the agent was in, its action, and the result."""
        own = self._agent.discount
        gamma = own if own is not None else DISCOUNT if step.discount is None else step.discount
        end = TERMINATED if step.terminated else TRUNCATED if step.truncated else 0
        last = step.s if end == TRUNCATED else None
        self._visits.append(Visit(self._s, action, step.reward - self._shift, gamma, end, last))
        self._s = step.s

    def take(self) -> tuple[np.ndarray, Walked]:
        """The states since the last call, and the visits whose episodes ended or whose returns became known."""
        new, size = list(self._visits), len(self._agent.s)
        self._visits.clear()
        visits = [*self._waiting, *new]
        returns, beyond, last = returns_of(visits)
        ended = (beyond == 0) | np.array([state is not None for state in last], bool)
        self._waiting = deque((visit for visit, done in zip(visits, ended, strict=True) if not done), WAITING)
        chosen = np.flatnonzero(ended)
        ends = np.array([visits[i].s if last[i] is None else last[i] for i in chosen], np.float64).reshape(-1, size)
        a = np.array([visits[i].a for i in chosen], np.int64)
        some = [visits[i] for i in chosen]
        return _states(new, size), Walked(_states(some, size), a, returns[ended], beyond[ended], ends)


def _states(visits: list[Visit], size: int) -> np.ndarray:
    return np.array([visit.s for visit in visits], np.float64).reshape(-1, size)


def returns_of(visits: list[Visit]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray | None]]:
    """The discounted return from every visit on as far as recorded, the discount beyond that, and the state there.

    The discount is 0 if the episode terminated or if at most `UNSEEN` is left; the state is None unless the episode
    was truncated.

    >>> some = [Visit(np.zeros(1), 0, 1.0, 0.5, 0), Visit(np.zeros(1), 0, 4.0, 0.5, TERMINATED)]
    >>> returns_of([*some, Visit(np.zeros(1), 0, 1.0, 0.5, TRUNCATED, np.ones(1))])
    (array([3., 4., 1.]), array([0. , 0. , 0.5]), [None, None, array([1.])])
    """
    returns, beyond, states = np.zeros(len(visits)), np.zeros(len(visits)), []
    g, left, last = 0.0, 1.0, None
    for i in range(len(visits) - 1, -1, -1):
        visit = visits[i]
        if visit.end:
            g, left, last = 0.0, float(visit.end == TRUNCATED), visit.last
        g, left = visit.r + visit.gamma * g, visit.gamma * left
        returns[i], beyond[i] = g, left if left > UNSEEN else 0.0
        states.append(last)
    return returns, beyond, states[::-1]
