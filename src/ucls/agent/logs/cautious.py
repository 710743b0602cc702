"""Cautious policies from logs: pessimistic value iteration (`ucls.evaluation.pessimism`) with the agent's features."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.core.learner import Learner
from ucls.errors import UserError
from ucls.evaluation import EpisodeLog
from ucls.evaluation.pessimism import PART, Rows, Transitions, iterate, matched, stacked, taken_near
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit

PRIOR = 0.03  # visits that the least possible return counts for
SHOWN = 4096  # rows that are saved for states that the log does not show
PREFIX = "cautious."


class Solution(NamedTuple):
    """The lower bounds: the features of all actions (those of action a from first[a] on), their weights, and all G_a;
    and the actions and states of some rows.

    `limits` are floor, ceiling, ridge, and CAUTION times sigma.
    """

    first: np.ndarray
    features: np.ndarray
    actions: np.ndarray
    weights: np.ndarray
    inverse: np.ndarray
    limits: np.ndarray
    states: np.ndarray

    def bounds(self, learner: Learner, points: np.ndarray) -> np.ndarray:
        """The lower bound of every action in many states."""
        return self._bounds(learner, points)[0]

    def _bounds(self, learner: Learner, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lower bounds, and whether the log shows any feature of a state."""
        floor, _, ridge, wide = self.limits
        parts, shown = [], []
        for index, value in encoded(learner, points):
            found, some = np.empty(index.shape[:2]), np.zeros(len(index), bool)
            for a in range(len(self.first) - 1):
                known, w, G = self._of_action(a)
                rows = matched(index[:, a], value[:, a], known)
                found[:, a] = floor + rows.known @ w - wide * np.sqrt(rows.squares(G, ridge))
                some |= np.diff(rows.known.indptr) > 0
            parts.append(found)
            shown.append(some)
        return np.concatenate(parts), np.concatenate(shown)

    def preferences(self, learner: Learner, points: np.ndarray) -> np.ndarray:
        """What the policy maximizes: the lower bounds; in states of which the log shows no feature, where all bounds
        are equal, how often it took every action in the rows with the nearest states."""
        found, shown = self._bounds(learner, points)
        lost = np.flatnonzero(~shown)
        if len(lost) and len(self.actions):
            states = self.states.reshape(len(self.actions), -1)
            found[lost] = taken_near(points[lost], states, self.actions, found.shape[1])
        return found

    def _of_action(self, a: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        begin, end = self.first[a : a + 2]
        before = int((np.diff(self.first[: a + 1]) ** 2).sum())
        k = end - begin
        return self.features[begin:end], self.weights[begin:end], self.inverse[before : before + k * k].reshape(k, k)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """For a file."""
        return {PREFIX + name: array for name, array in self._asdict().items()}


def from_arrays(arrays: Mapping[str, np.ndarray], learner: Learner) -> Solution | None:
    """The solution in a file, if it has one; a file that cannot be right is refused."""
    if PREFIX + "first" not in arrays:
        return None
    found = Solution(*(arrays.get(PREFIX + name, np.zeros(0)) for name in Solution._fields))
    whole = all(each.ndim == 1 and each.dtype == np.int64 for each in found[:3])
    real = all(each.ndim == 1 and each.dtype == np.float64 and np.isfinite(each).all() for each in found[3:])
    whole = whole and len(found.states) == len(found.actions) * len(learner.plan.low)
    whole = whole and ((found.actions >= 0) & (found.actions < learner.plan.n_actions)).all()
    if whole and real and len(found.first) == learner.plan.n_actions + 1 and len(found.limits) == 4:
        first, index = found.first, found.features
        steps = np.diff(first)
        sizes = first[0] == 0 and (steps >= 0).all() and first[-1] == len(index) == len(found.weights)
        if sizes and (steps.astype(np.float64) ** 2).sum() == len(found.inverse):
            begins = np.zeros(len(index), bool)
            begins[first[:-1][steps > 0]] = True
            ordered = (np.diff(index)[~begins[1:]] > 0).all()
            inside = ((index >= 0) & (index < learner.coder.size)).all()
            if ordered and inside and found.limits[0] <= found.limits[1] and found.limits[2] > 0:
                return found
    raise UserError("the checkpoint cannot be right: the cautious policy in it is corrupted")


def transitions(
    log: EpisodeLog, states: np.ndarray, action: np.ndarray, next_states: np.ndarray, masks: np.ndarray | None = None
) -> Transitions:
    """The usable transitions of a log, and the least and largest return that rewards like its own allow.

    `masks` says which actions were valid in the state of every row.
    """
    usable = log.has_next | log.terminated
    valid = None
    if masks is not None:
        valid = np.vstack([masks[1:], masks[-1:]]).astype(bool) | ~log.follows[:, None]
    most_steps = 1 / (1 - log.gamma) if log.gamma < 1 else float(log.lengths.max())
    least_steps = 1.0 if log.terminated.any() else most_steps  # episodes may terminate at once
    least, most = log.reward.min(), log.reward.max()
    limits = [min(least * most_steps, least * least_steps), max(most * most_steps, most * least_steps)]
    return Transitions(
        states[usable], action[usable], log.reward[usable], log.discount[usable], next_states[usable], np.array(limits),
        None if valid is None else valid[usable],
    )  # fmt: skip


def together(logs: Sequence[Transitions]) -> Transitions:
    """The transitions of several logs."""
    states, action, reward, discount, next_states, limits, valid = (list(parts) for parts in zip(*logs, strict=True))
    bounds = np.array([min(each[0] for each in limits), max(each[1] for each in limits)])
    masks = None
    if (wide := next((each.shape[1] for each in valid if each is not None), None)) is not None:
        counts = [len(each) for each in action]
        masks = np.concatenate(
            [np.ones((n, wide), bool) if one is None else one for n, one in zip(counts, valid, strict=True)]
        )
    whole = [np.concatenate(parts) for parts in (states, action, reward, discount, next_states)]
    return Transitions(whole[0], whole[1], whole[2], whole[3], whole[4], bounds, masks)


def solve(learner: Learner, logged: Transitions) -> Solution:
    """The lower bounds that follow from transitions."""
    actions = range(learner.plan.n_actions)
    known = [np.zeros(0, np.int64) for _ in actions]
    squares = 0.0
    for begin, (index, value) in enumerate(encoded(learner, logged.states)):
        action = logged.action[begin * PART : (begin + 1) * PART]
        for a in actions:
            mine = action == a
            known[a] = np.union1d(known[a], index[mine, a][value[mine, a] != 0])
            squares += float((value[mine, a] ** 2).sum())
    ridge = PRIOR * (squares / len(logged.action) / learner.coder.n_active or 1.0)
    here = [rows.known[logged.action == a] for a, rows in enumerate(_rows(learner, logged.states, known))]
    after = _rows(learner, logged.next_states, known)
    w, G, wide = iterate(here, after, logged, ridge)
    first = np.concatenate([[0], np.cumsum([len(each) for each in known])]).astype(np.int64)
    inverse = np.concatenate([g.ravel() for g in G])
    some = np.unique(np.linspace(0, len(logged.action) - 1, SHOWN).astype(np.int64))
    limits, states = np.array([*logged.limits, ridge, wide]), np.ascontiguousarray(logged.states[some], np.float64)
    return Solution(
        first, np.concatenate(known), logged.action[some].astype(np.int64), np.concatenate(w), inverse, limits,
        states.ravel(),
    )  # fmt: skip


def _rows(learner: Learner, points: np.ndarray, known: Sequence[np.ndarray]) -> list[Rows]:
    """The features of many states, for every action."""
    parts = [
        [matched(index[:, a], value[:, a], known[a]) for a in range(len(known))]
        for index, value in encoded(learner, points)
    ]
    return [stacked(mine) for mine in zip(*parts, strict=True)]


def encoded(learner: Learner, points: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The indices and values of the active features of every action, in parts of `PART` states."""
    run, xs = _lookup(learner.features.lookup), la.no_features(learner.plan.n_actions, learner.coder.n_active)
    for begin in range(0, len(points), PART):
        part = np.ascontiguousarray(points[begin : begin + PART])
        index, value = np.empty((len(part), *xs.index.shape), np.int64), np.empty((len(part), *xs.index.shape))
        run(learner.coder, part, xs, index, value)
        yield index, value


@functools.cache
def _lookup(lookup: Any) -> Any:
    @jit
    def run(coder, points, xs, index, value) -> None:
        for t in range(len(points)):
            lookup(coder, points[t], xs)
            for a in range(index.shape[1]):
                for i in range(index.shape[2]):
                    index[t, a, i] = xs.index[a, i]
                    value[t, a, i] = xs.value[a, i]

    return run
