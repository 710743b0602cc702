"""Measurements of a run in a third-party environment, which need no optimum.

With Q-hat the learned means, Q~ what the agent maximizes, and G the discounted return that it earned itself from a
state and action on, over the visits since the last reading:

    margin       E[Q~ - G]           what it earns is at most the optimum: below 0, it is not optimistic
    held         P(Q~ >= G)          the part of the visits that earned no more than the bound
    radius       E[Q~ - Q-hat]       over the states that were visited, and the actions it would take there
    widest                           the largest radius in any of those states, of any action
    value_error  E[Q-hat - G]        what the means are off
    earned       E[G]                the rewards that were collected, without the agent's own values
    truncated                        the fraction of the returns that a time limit cut short
    collected                        the sum of the rewards, not discounted

A return is complete where the episode terminated, or where the discount leaves little of it beyond what was seen. Where
the episode was truncated before that, the agent's own value of the last state completes G in `margin`, `held` and
`value_error`, as it does in learning. Returns are of the rewards that the agent learns from, where it lowers them
(`reward_shift`).
"""

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ucls.agent.agent import Agent
from ucls.agent.trajectory import TrajectoryRecorder, Walked
from ucls.core.history import NOTHING, History, join
from ucls.diagnostics.internals import internals
from ucls.diagnostics.probe import refuse_boundless, reward_shift, stops_of
from ucls.diagnostics.verdict import DIVERGED, LATE, PESSIMISTIC, SMALL, WIDE, WRONG, Verdict

COLUMNS = ("margin", "held", "radius", "widest", "value_error", "earned", "truncated")
LEFT_OUT = "optimism against the optimum, regret and its bound f + g are left out: there is no known optimum of"
FAULTLESS, EXPLORING, UNSEEN = "no problem detected", "still exploring", "no return seen"
SAMPLE = 256  # visits that a reading looks at, evenly spread


class Measurement(NamedTuple):
    """The measurements at one moment; `size` is E[|G|]. NaN where no return is known."""

    margin: float
    held: float
    radius: float
    widest: float
    value_error: float
    earned: float
    size: float
    truncated: float
    collected: float


def visited(
    agent: Agent, steps: int, measurements: int, into: list[dict[str, float]] | None = None
) -> tuple[History, dict[str, np.ndarray]]:
    """Let an agent learn for some steps, measuring it along the way; return its history, and arrays by name.

    The run is the same as without. One that diverges has no reading after its last sound one. What is read inside the
    learner is added to `into`.
    """
    refuse_boundless(agent.learner)
    parts, when, readings = [NOTHING], [], []
    with TrajectoryRecorder(agent, reward_shift(agent.learner)) as trajectory:
        for now, then in itertools.pairwise(stops_of(steps, None, measurements)):
            parts.append(agent.advance(then - now))
            states, walked = trajectory.take()
            if agent.diverged:
                break
            when.append(agent.steps)
            readings.append(_read(agent.learner, states, walked, float(parts[-1].rewards.sum())))
            if into is not None:
                some = _some(states)
                into.append(internals(agent.learner, some, np.full(len(some), 1 / len(some))))
    columns = np.array(readings).reshape(-1, len(Measurement._fields)).T
    return join(parts), {"step": np.array(when, np.int64), **dict(zip(Measurement._fields, columns, strict=True))}


def _read(learner: Any, states: np.ndarray, walked: Walked, collected: float) -> Measurement:
    mean, top = learner.survey(_some(states))
    chosen = np.argmax(top, axis=1)[:, None]
    radius = float(np.mean(np.take_along_axis(top - mean, chosen, axis=1)))
    widest = float(np.max(top - mean))
    if not len(walked.returns):
        return Measurement(np.nan, np.nan, radius, widest, np.nan, np.nan, np.nan, np.nan, collected)
    some = Walked(*map(_some, walked))
    mean, top = learner.survey(some.s)
    upper, middle = (np.take_along_axis(values, some.a[:, None], axis=1)[:, 0] for values in (top, mean))
    g = _completed(learner, some)
    return Measurement(
        margin=float(np.mean(upper - g)),
        held=float(np.mean(upper >= g)),
        radius=radius,
        widest=widest,
        value_error=float(np.mean(middle - g)),
        earned=float(np.mean(some.returns)),
        size=float(np.mean(np.abs(some.returns))),
        truncated=float(np.mean(some.beyond > 0)),
        collected=collected,
    )


def _completed(learner: Any, walked: Walked) -> np.ndarray:
    """Return complete returns; truncated ones are completed by the value of the action that the agent would take
    next."""
    mean, top = learner.survey(walked.last)
    values = np.take_along_axis(mean, np.argmax(top, axis=1)[:, None], axis=1)[:, 0]
    return walked.returns + walked.beyond * values


def _some(values: np.ndarray) -> np.ndarray:
    """At most so many of the values, evenly spread."""
    if len(values) <= SAMPLE:
        return values
    return values[np.linspace(0, len(values) - 1, SAMPLE).astype(np.int64)]


def judge(readings: Mapping[str, np.ndarray], diverged: bool = False) -> Verdict:
    """Judge a run by the returns it collected: errors of more than a tenth of them in the final 20% of the steps count.

    >>> one = {"step": [10, 20], "margin": [1.0, -3.0], "radius": [2.0, 0.1], "widest": [2.0, 0.2], "held": [1, 0]}
    >>> one |= {"value_error": [-1.0, -3.1], "earned": [5.0, 10.0], "size": [5.0, 10.0]}
    >>> one |= {"truncated": [0.0, 0.0], "collected": [20.0, 40.0]}
    >>> found = judge({name: np.array(values, float) for name, values in one.items()})
    >>> found.word
    'not optimistic'
    >>> print(found.because)
    its bounds lie 3 below the 10 it earned; its radius went from 2 to 0.1, 1% of a mean |return| of 10
    """
    steps = readings["step"]
    if not len(steps):
        return Verdict(DIVERGED, "its values meant nothing before the first reading", dict.fromkeys(COLUMNS, np.nan))
    late = steps >= (1 - LATE) * steps[-1]
    now = {name: _median(values[late]) for name, values in readings.items() if name != "step"}
    if diverged:
        return Verdict(DIVERGED, f"its values mean nothing after step {int(steps[-1]):,}", now)
    radius, error, first = now["radius"], now["value_error"], float(readings["radius"][0])
    shrinks = f"its radius went from {first:.3g} to {radius:.3g}"
    if not np.isfinite(now["margin"]):
        total = f"it collected {float(np.sum(readings['collected'])):.3g} in {int(steps[-1]):,} steps"
        return Verdict(
            UNSEEN, f"no episode ended, so its bounds cannot be compared with a return; {shrinks}; {total}", now
        )
    shrinks = f"{shrinks}, {_compared(radius, now['size'])}{_cut_short(now['truncated'])}"
    small = SMALL * now["size"]
    if -now["margin"] > small:  # then the means err by more, but it is the bounds that should have held
        below = f"its bounds lie {-now['margin']:.3g} below the {now['earned']:.3g} it earned"
        return Verdict(PESSIMISTIC, f"{below}; {shrinks}", now)
    wide = radius, EXPLORING if radius < first / 2 else WIDE, f"it earned {now['earned']:.3g}; {shrinks}"
    wrong = abs(error), WRONG, f"its values err by {error:.3g} about the {now['earned']:.3g} it earned; {shrinks}"
    worst = max(wide, wrong)
    if worst[0] > small:
        return Verdict(worst[1], worst[2], now)
    return Verdict(FAULTLESS, f"its values are within a tenth of the {now['earned']:.3g} it earned; {shrinks}", now)


def _compared(radius: float, size: float) -> str:
    """The radius against the returns.

    >>> _compared(50.0, 2.0), _compared(0.1, 2.0), _compared(1.0, 0.0)
    ('25 times a mean |return| of 2', '5% of a mean |return| of 2', 'and every return was 0')
    """
    if size == 0:
        return "and every return was 0"
    times = f"{radius / size:.3g} times" if radius > size else f"{100 * radius / size:.2g}% of"
    return f"{times} a mean |return| of {size:.3g}"


def _cut_short(truncated: float) -> str:
    if not truncated > 0:
        return ""
    return f"; a time limit truncated {truncated:.0%} of the returns, which its own values complete"


def _median(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan
