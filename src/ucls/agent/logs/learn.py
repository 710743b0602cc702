"""Learning from a log: logged transitions go through the update of any algorithm, as if the agent had taken the logged
actions. Afterwards the agent can continue live, or provide a policy."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from ucls.agent import callback_list, inference
from ucls.agent.episode_log import EpisodeRecorder
from ucls.core.learner import FailedArithmetic, Learner, refuse_diverged
from ucls.errors import UserError, unknown
from ucls.evaluation import EpisodeLog, read_log
from ucls.gym.adapter import EnvAdapter

ATTITUDES = ("optimistic", "greedy", "cautious")


class LearnsFromLogs:
    """What an agent can do with a log."""

    learner: Learner
    _stage: EnvAdapter
    _diary: EpisodeRecorder
    diverged: bool

    def learn_from(
        self, log: Any, gamma: float | None = None, columns: Mapping[str, Any] = {}, ends: str | None = None
    ) -> Self:
        """Learn from the transitions of a log, in their order; see `ucls.evaluation.read_log` for its arguments.

        States must be observations of the agent's environment, and actions its integers. The log's discount is used,
        and a step whose next state is unknown, the last one before a truncation, is left out. The agent's own steps and
        history do not change; live, it begins a new episode.
        """
        callback_list.refuse_within(self, "learn_from")
        refuse_diverged(self.diverged)
        log = read_log(log, gamma, columns, ends)
        states, next_states, actions = _checked(log, self._stage, self.learner.plan.n_actions)
        usable = log.has_next | log.terminated
        begins = np.ones(log.n_steps, bool)
        begins[1:] = ~(log.follows[:-1] & usable[:-1])
        self._stage.between_episodes = True
        self._diary.cut_off()
        for t in np.flatnonzero(usable).tolist():
            if not self._learn_step(log, t, states[t], actions[t], next_states[t], bool(begins[t])):
                self.diverged = True
                break
        return self

    def _learn_step(
        self, log: EpisodeLog, t: int, s: np.ndarray, action: int, s_next: np.ndarray, begins: bool
    ) -> bool:
        """Learn from a row; false if the values have diverged."""
        terminated = bool(log.discount[t] == 0)
        try:
            if begins:
                self.learner.begin(s)
            self.learner.pending.a[0] = action
            gamma = log.gamma if terminated else float(log.discount[t])
            return bool(self.learner.advance(float(log.reward[t]), gamma, s if terminated else s_next, terminated))
        except FailedArithmetic:
            return False

    def policy(self, attitude: str = "greedy") -> Callable[[Any], np.ndarray]:
        """A policy as a function from a batch of observations to actions, by what it maximizes.

        "optimistic" takes the action with the highest upper bound, "greedy" that with the highest mean, and "cautious"
        that with the highest lower bound of its own value. The values are the same for all three: a cautious policy
        avoids actions that the agent knows little about, but does not plan for the worst case of what follows them.
        """
        if attitude not in ATTITUDES:
            raise unknown("attitude", attitude, ATTITUDES)
        sign = {"optimistic": 1.0, "greedy": 0.0, "cautious": -1.0}[attitude]

        def act(observations: Any) -> np.ndarray:
            refuse_diverged(self.diverged)
            points, _ = inference.read(self._stage.observed, np.atleast_1d(observations))
            mean, radius = self.learner.intervals(np.atleast_2d(points))
            return np.argmax(mean + sign * radius, axis=1) + self._stage.first_action

        return act


def _checked(log: EpisodeLog, stage: EnvAdapter, n_actions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states and next states as the learner takes them, and the actions numbered from 0."""
    if log.actions.dtype.kind not in "iu":
        raise UserError(f"the log's actions are {log.actions[:3].tolist()}: an agent takes integers; number them")
    numbers = log.actions - stage.first_action
    if numbers.min() < 0 or numbers.max() >= n_actions:
        limits = f"{stage.first_action} to {stage.first_action + n_actions - 1}"
        raise UserError(f"the log has actions from {log.actions[0]} to {log.actions[-1]}: the agent has {limits}")
    wide = log.states.shape[1]
    if wide != stage.observed.size:
        raise UserError(f"the log's states have {wide} numbers, but an observation has {stage.observed.size}")
    points = inference.read_batch(stage.observed, log.states)
    after = np.where(log.has_next[:, None], log.next_states, log.states)
    return points, inference.read_batch(stage.observed, after), numbers[log.action]
