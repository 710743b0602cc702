"""What an agent thinks at the points of its maps, now or at moments along a run, and where it has been."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ucls.explain.views import View, views_of

SAMPLES = 4000  # states of a run that are noted, at even distances
MOMENTS = 12
UNSURE = 8  # visited states that are listed


class Explained(Protocol):
    """What can be looked at, and recorded if it can be advanced: `s` is the state that it is in."""

    learner: Any
    steps: int
    s: Any

    def advance(self, steps: int) -> Any:
        """Go on for some steps."""


class Thought(NamedTuple):
    """What is thought at the points of a view: for every action the mean and the two parts of the radius; the action
    that would be taken (the upper bound's, or the algorithm's own rule); and how often the agent was noted nearby.

    `share` is the part of the value that no data have overruled, from 0 to 1. It and `unknown` are None where the
    algorithm does not tell what is not known from what is noisy: `noisy` is then the whole radius.
    """

    mean: np.ndarray
    unknown: np.ndarray | None
    share: np.ndarray | None
    noisy: np.ndarray
    action: np.ndarray
    visits: np.ndarray


class Moment(NamedTuple):
    """A moment of a run: after how many steps, and what was thought in each view."""

    step: int
    thoughts: list[Thought]


class Maps(NamedTuple):
    """Maps of an agent at some moments, what it is, and the visited states that it is least sure of at the end."""

    agent: str
    views: list[View]
    moments: list[Moment]
    unsure: list[dict[str, Any]]


def look(run: Explained, views: Sequence[View], states: np.ndarray | None = None) -> Maps:
    """The maps of a run or an agent as it is now; `states` are some that it has visited, if anybody knows them."""
    learner = run.learner
    states = np.zeros((0, len(learner.plan.low))) if states is None else states
    moment = Moment(run.steps, [_thought(learner, view, states) for view in views])
    return Maps(learner.plan.agent, list(views), [moment], _unsure(learner, states))


def record(
    run: Explained,
    steps: int,
    moments: int = MOMENTS,
    views: Sequence[View] | None = None,
    watch: Callable[[int], Any] = lambda done: None,
) -> Maps:
    """Advance a run, and look at it before, at some moments on the way (more of them early), and after.

    The run is the same as without. States are noted at even distances, some thousand in all. `watch` is told how many
    steps are done.
    """
    plan, begun = run.learner.plan, run.steps
    views = views_of(plan.low, plan.high, plan.features == "one_hot") if views is None else views
    every = max(1, steps // SAMPLES)
    states = np.zeros((0, len(plan.low)))
    maps = look(run, views)
    taken = list(maps.moments)
    for stop in sorted({round(steps * (i / moments) ** 2) for i in range(1, moments + 1)} - {0}):
        noted = []
        while run.steps - begun < stop and not getattr(run, "diverged", False):
            run.advance(min(every, stop - (run.steps - begun)))
            noted.append(np.array(run.s, np.float64))
            watch(run.steps - begun)
        states = np.concatenate([states, np.reshape(noted, (-1, len(plan.low)))])
        maps = look(run, views, states)
        taken += maps.moments
    return maps._replace(moments=taken)


def _thought(learner: Any, view: View, states: np.ndarray) -> Thought:
    mean, top = learner.survey(view.points)
    unknown, noisy, share = learner.split(view.points) if hasattr(learner.algorithm, "parts") else (None, None, None)
    noisy = top - mean if noisy is None else noisy
    share = None if share is None or np.isnan(share).any() else share
    visits = np.bincount(view.place(states), minlength=len(view.points)) if len(states) else np.zeros(len(view.points))
    return Thought(mean, unknown, share, noisy, np.argmax(top, axis=1), visits.astype(np.float64))


def _unsure(learner: Any, states: np.ndarray) -> list[dict[str, Any]]:
    """The visited states whose best action has the largest radius, no two of them alike."""
    if not len(states):
        return []
    low, high = np.array(learner.plan.low), np.array(learner.plan.high)
    span = np.where(high > low, high - low, 1.0)
    cells = np.unique(np.rint((states - low) / span * 20), axis=0, return_index=True)[1]
    states = states[np.sort(cells)]
    mean, top = learner.survey(states)
    action = np.argmax(top, axis=1)
    rows = np.arange(len(states))
    radius = (top - mean)[rows, action]
    order = np.argsort(-radius, kind="stable")[:UNSURE]
    return [
        {
            "state": states[i].tolist(),
            "action": int(action[i]),
            "mean": float(mean[i, action[i]]),
            "radius": float(radius[i]),
        }
        for i in order
    ]
