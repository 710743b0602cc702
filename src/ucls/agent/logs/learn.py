"""Learning from a log: logged transitions go through the update of any algorithm, as if the agent had taken the logged
actions. Afterwards the agent can continue live, or provide a policy."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from ucls.agent import callback_list, inference
from ucls.agent.episode_log import EpisodeRecorder
from ucls.agent.logs import cautious
from ucls.agent.vector import VectorLearning
from ucls.core.config import brief
from ucls.core.learner import Learner, refuse_diverged
from ucls.core.queries import FailedArithmetic
from ucls.errors import UserError, unknown
from ucls.evaluation import EpisodeLog, read_log
from ucls.evaluation.logs.roles import MASK
from ucls.gym.action_masks import KEY, checked_mask
from ucls.gym.adapter import EnvAdapter

ATTITUDES = ("optimistic", "greedy", "cautious")


class LearnsFromLogs:
    """What an agent can do with a log."""

    learner: Learner
    _stage: EnvAdapter
    _diary: EpisodeRecorder
    diverged: bool
    _logged: list[cautious.Transitions]  # of all logs, until a cautious policy is needed
    _cautious: cautious.Solution | None
    vector: VectorLearning | None

    def learn_from(
        self, log: Any, gamma: float | None = None, columns: Mapping[str, Any] = {}, ends: str | None = None
    ) -> Self:
        """Learn from the transitions of a log, in their order; see `ucls.evaluation.read_log` for its arguments.

        States must be observations of the agent's environment, and actions its integers. The log's discount is used,
        and a step whose next state is unknown, the last one before a truncation, is left out. The columns
        `action_mask_0`, `action_mask_1` and so on say which actions were valid in the state of a row. The agent's own
        steps and history do not change; live, it begins a new episode.
        """
        callback_list.refuse_within(self, "learn_from")
        refuse_diverged(self.diverged)
        log = read_log(log, gamma, columns, ends)
        states, next_states, actions = _checked(log, self._stage, self.learner.plan.n_actions)
        masks = _masks(log, actions, self.learner.plan.n_actions)
        usable = log.has_next | log.terminated
        begins = np.ones(log.n_steps, bool)
        begins[1:] = ~(log.follows[:-1] & usable[:-1])
        self._stage.between_episodes = True
        if self.vector is not None:
            self.vector.restart()
        self._diary.cut_off()
        self._logged = [*self._logged, cautious.transitions(log, states, actions, next_states, masks)]
        self._cautious = None
        for t in np.flatnonzero(usable).tolist():
            ahead = None if masks is None else masks[t + 1] if log.follows[t] else np.ones_like(masks[t])
            around = (None, None) if masks is None else (masks[t], ahead)
            if not self._learn_step(log, t, states[t], actions[t], next_states[t], bool(begins[t]), *around):
                self.diverged = True
                break
        return self

    def _learn_step(
        self,
        log: EpisodeLog,
        t: int,
        s: np.ndarray,
        action: int,
        s_next: np.ndarray,
        begins: bool,
        mask: np.ndarray | None,
        mask_next: np.ndarray | None,
    ) -> bool:
        """Learn from a row, with the valid actions in its two states; false if the values have diverged."""
        terminated = bool(log.discount[t] == 0)
        try:
            if begins:
                self.learner.begin(s, mask)
            self.learner.pending.a[0] = action
            gamma = log.gamma if terminated else float(log.discount[t])
            step = float(log.reward[t]), gamma, s if terminated else s_next, terminated
            return bool(self.learner.advance(*step, mask_next))
        except FailedArithmetic:
            return False

    def policy(self, attitude: str = "greedy") -> Callable[[Any], np.ndarray]:
        """A policy as a function from a batch of observations to actions, by what it maximizes.

        "optimistic" takes the action with the highest upper bound, "greedy" that with the highest mean, and "cautious"
        that with the highest lower bound, from pessimistic value iteration on the logs that the agent has learned from
        (see `ucls.evaluation.pessimism`); steps in an environment do not change it. In a state of which the logs show
        nothing it takes the action that they took most often near it. Actions that are invalid by the masks met in
        training, or by the second argument, are not taken.
        """
        if attitude not in ATTITUDES:
            raise unknown("attitude", attitude, ATTITUDES)
        solution = self.cautious_solution() if attitude == "cautious" else None
        if attitude == "cautious" and solution is None:
            raise UserError("a cautious policy comes from a log: call learn_from(log) first")

        def act(observations: Any, action_masks: Any = None) -> np.ndarray:
            refuse_diverged(self.diverged)
            points = np.atleast_2d(inference.read(self._stage.observed, np.atleast_1d(observations))[0])
            masks = inference.masks_for(self.learner, points, observations, action_masks)
            if solution is not None:
                score = solution.preferences(self.learner, points)
            else:
                mean, radius = self.learner.intervals(points)
                score = mean + radius if attitude == "optimistic" else mean
            return np.argmax(inference.valid(score, masks, -np.inf), axis=1) + self._stage.first_action

        return act

    def cautious_solution(self) -> cautious.Solution | None:
        """The lower bounds behind the cautious policy; None without a log."""
        if self._cautious is None and self._logged:
            self._cautious = cautious.solve(self.learner, cautious.together(self._logged))
        return self._cautious


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


def _masks(log: EpisodeLog, actions: np.ndarray, n_actions: int) -> np.ndarray | None:
    """The valid actions in every row, by the columns action_mask_0 and so on; None without such columns."""
    names = [name for name in log.table if MASK.fullmatch(name)]
    if not names:
        return None
    wanted = [f"{KEY}_{a}" for a in range(n_actions)]
    if sorted(names) != sorted(wanted):
        raise UserError(
            f"the log has the columns {brief(names)}: give {wanted[0]} to {wanted[-1]}, one for each action"
        )
    rows = np.column_stack([log.table[name] for name in wanted])[log.row - 1]
    for t, row in enumerate(rows):
        try:
            valid = checked_mask(row, n_actions)[actions[t]]
        except UserError as fault:
            raise UserError(f"row {log.row[t]} of the log: {fault}") from None
        if not valid:
            raise UserError(f"row {log.row[t]} of the log: its action is invalid by its action mask")
    return rows != 0
