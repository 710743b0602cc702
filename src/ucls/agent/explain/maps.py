"""An agent's estimates at the points of its maps, now or at moments along a run, and the states it visited."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucls.agent.explain.views import View, views_of
from ucls.features import is_discrete

SAMPLES = 4000  # states of a run that are recorded, at even distances
MOMENTS = 12
UNSURE = 8  # visited states that are listed


class Explained(Protocol):
    """A run or an agent that maps can be made of; `s` is its current state."""

    learner: Any
    steps: int
    s: Any

    def advance(self, steps: int) -> Any:
        """Take some more steps and return their history, with `ends` that are 0 where an episode continued."""


class Thought(NamedTuple):
    """The estimates at the points of a view: for every action the mean and the two terms of the radius; the chosen
    action (with the highest upper bound); and the number of recorded visits nearby.

    `share` is the prior's remaining weight in the value, from 0 to 1. It and `unknown`, the prior term, are None if the
    algorithm does not separate prior and noise uncertainty: `noisy` is then the whole radius. `valid` says which
    actions are valid by the masks met so far; None without masks.
    """

    mean: np.ndarray
    unknown: np.ndarray | None
    share: np.ndarray | None
    noisy: np.ndarray
    action: np.ndarray
    visits: np.ndarray
    valid: np.ndarray | None = None


class Moment(NamedTuple):
    """A moment of a run: the number of steps, and the estimates in each view."""

    step: int
    thoughts: list[Thought]


class Unsure(NamedTuple):
    """A visited state with a wide interval: the chosen action, and the estimates for every action.

    `views` are planes through it, if there are more than two dimensions, and `thoughts` the estimates there.
    """

    state: np.ndarray
    action: int
    mean: np.ndarray
    unknown: np.ndarray | None
    share: np.ndarray | None
    noisy: np.ndarray
    valid: np.ndarray | None
    views: list[View]
    thoughts: list[Thought]

    @property
    def radius(self) -> np.ndarray:
        """The radius of every action."""
        return self.noisy if self.unknown is None else self.noisy + self.unknown


class Maps(NamedTuple):
    """Maps of an agent at some moments, its algorithm, and the visited states with the widest intervals at the end."""

    agent: str
    views: list[View]
    moments: list[Moment]
    unsure: list[Unsure]


def look(
    run: Explained, views: Sequence[View], states: np.ndarray | None = None, ended: np.ndarray | None = None
) -> Maps:
    """The maps of a run or an agent as it is now; `states` are some that it has visited, if they are known, and
    `ended` says for each whether an episode ended there."""
    states = _no_states(run) if states is None else states
    moment, went_on = _moment(run, views, states), states if ended is None else states[~ended]
    return Maps(run.learner.plan.agent, list(views), [moment], _unsure(run.learner, views, states, went_on))


def record(
    run: Explained,
    steps: int,
    moments: int = MOMENTS,
    views: Sequence[View] | None = None,
    watch: Callable[[int], Any] = lambda done: None,
) -> Maps:
    """Advance a run, and map it before, at some moments in between (more of them early), and after.

    Recording does not change the run. States are recorded at even distances, a few thousand in all. `watch` is called
    with the number of steps taken.
    """
    plan, begun = run.learner.plan, run.steps
    views = views_of(plan.low, plan.high, is_discrete(run.learner.features)) if views is None else views
    every = max(1, steps // SAMPLES)
    states, ended, taken = _no_states(run), [], [_moment(run, views, _no_states(run))]
    stops = sorted({round(steps * (i / moments) ** 2) for i in range(1, moments + 1)} - {0})
    for stop in stops:
        noted = []
        while run.steps - begun < stop and not getattr(run, "diverged", False):
            part = run.advance(min(every, stop - (run.steps - begun)))
            noted.append(np.array(run.s, np.float64))
            ended.append(bool(part.ends[-1]))
            watch(run.steps - begun)
        states = np.concatenate([states, np.reshape(noted, (-1, len(plan.low)))])
        if stop != stops[-1]:
            taken.append(_moment(run, views, states))
    maps = look(run, views, states, np.array(ended, bool))
    return maps._replace(moments=taken + maps.moments) if stops else maps


def _no_states(run: Explained) -> np.ndarray:
    return np.zeros((0, len(run.learner.plan.low)))


def _moment(run: Explained, views: Sequence[View], states: np.ndarray) -> Moment:
    return Moment(run.steps, [_thought(run.learner, view, states) for view in views])


def _thought(learner: Any, view: View, states: np.ndarray) -> Thought:
    mean, top = learner.survey(view.points)
    unknown, noisy, share = (
        learner.split(view.points) if hasattr(learner.algorithm, "radius_terms") else (None, None, None)
    )
    valid = None if learner.masks is None else np.isfinite(top)
    noisy = np.where(np.isfinite(top), top - mean, 0.0) if noisy is None else noisy
    share = None if share is None or np.isnan(share).any() else share
    visits = np.bincount(view.place(states), minlength=len(view.points)) if len(states) else np.zeros(len(view.points))
    return Thought(mean, unknown, share, noisy, np.argmax(top, axis=1), visits.astype(np.float64), valid)


def _unsure(learner: Any, views: Sequence[View], states: np.ndarray, went_on: np.ndarray) -> list[Unsure]:
    """The visited states, except those where an episode ended, whose chosen action has the largest radius, without
    near duplicates, and planes through them."""
    if not len(went_on):
        return []
    low, high = np.array(learner.plan.low), np.array(learner.plan.high)
    span = np.where(high > low, high - low, 1.0)
    cells = np.unique(np.rint((went_on - low) / span * 20), axis=0, return_index=True)[1]
    points = went_on[np.sort(cells)]
    mean, top = learner.survey(points)
    radius = (top - mean)[np.arange(len(points)), np.argmax(top, axis=1)]
    return [_doubt(learner, views, states, points[i]) for i in np.argsort(-radius, kind="stable")[:UNSURE]]


def _doubt(learner: Any, views: Sequence[View], states: np.ndarray, state: np.ndarray) -> Unsure:
    here = View("a state", state[None], 1, 1, None, None, ())
    mean, unknown, share, noisy, action, _, valid = _thought(learner, here, states[:0])
    unknown, share, valid = (None if part is None else part[0] for part in (unknown, share, valid))
    planes = [view.moved(state) for view in views if view.through is not None]
    thoughts = [_thought(learner, view, states) for view in planes]
    return Unsure(state, int(action[0]), mean[0], unknown, share, noisy[0], valid, planes, thoughts)
