"""A verdict in words: which condition of the Optimistic Values Theorem a run violates, with the numbers that show
it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

NEAR_OPTIMAL, PESSIMISTIC, WIDE = "near-optimal", "not optimistic", "radius stays wide"
WRONG, DIVERGED = "inaccurate values", "diverged"

SMALL = 0.1  # a regret of at most this part of the optimal value is small
LATE = 0.2  # the verdict is on the last fifth of the steps


class Verdict(NamedTuple):
    """A word, the sentence that explains it, and the late measurements (medians) behind it."""

    word: str
    because: str
    late: dict[str, float]


def verdict(readings: Mapping[str, np.ndarray], diverged: bool = False) -> Verdict:
    """Judge a run by its measurements (see `probe_run`).

    A late regret within a tenth of |E[Q*]| is near-optimal; violated conditions of the theorem are then reported.
    Otherwise the largest part of regret = radius + value error - optimism is to blame.

    >>> one = {"step": [0, 10], "optimism": [9.0, -18.0], "radius": [30.0, 0.1], "value_error": [0.0, 1.0]}
    >>> one |= {"regret": [20.0, 19.0], "optimum": [20.0, 20.0], "widest": [30.0, 0.2]}
    >>> found = verdict({name: np.array(values) for name, values in one.items()})
    >>> found.word, found.because
    ('not optimistic', 'its bounds lie 18 below the optimal 20 since step 10; radius 0.1, at most 0.2 anywhere')
    """
    steps = readings["step"]
    late = steps >= (1 - LATE) * steps[-1]
    now = {name: _number(values[late]) for name, values in readings.items() if name != "step"}
    optimum, regret, radius, error = (now[name] for name in ("optimum", "regret", "radius", "value_error"))
    if diverged:
        return Verdict(DIVERGED, f"its values mean nothing after step {steps[-1]:,}", now)
    loses = f"it loses {regret:.2g} of the optimal {optimum:.3g}"
    below = f"its bounds lie {-now['optimism']:.3g} below the optimal {optimum:.3g}{_since(readings)}"
    small = SMALL * abs(optimum)
    if regret <= small:
        tested = [(-now["optimism"], below), (radius, f"its radius is {radius:.3g}")]
        tested.append((abs(error), f"its values err by {error:.3g}"))
        unmet = " and ".join(text for number, text in tested if number > small)
        return Verdict(NEAR_OPTIMAL, f"{loses}, though {unmet}" if unmet else loses, now)
    blame = max((-now["optimism"], PESSIMISTIC), (radius, WIDE), (abs(error), WRONG))[1]
    if blame == PESSIMISTIC:
        return Verdict(blame, f"{below}; radius {radius:.2g}, at most {now['widest']:.2g} anywhere", now)
    if blame == WIDE:
        return Verdict(blame, f"{loses}; its radius is {radius:.3g}, its error {error:.3g}", now)
    side = "above" if error > 0 else "below"
    wrong = f"its values lie {abs(error):.3g} {side} those of its own policy, its radius is {radius:.3g}"
    return Verdict(blame, f"{loses}; {wrong}", now)


def _since(readings: Mapping[str, np.ndarray]) -> str:
    """Return since when the run has not been optimistic in any measurement; empty if it is at the end."""
    held = np.flatnonzero(readings["optimism"] >= 0)
    if len(held) == 0:
        return ", and always did"
    return "" if held[-1] == len(readings["step"]) - 1 else f" since step {readings['step'][held[-1] + 1]:,}"


def _number(values: np.ndarray) -> float:
    """Return the median, with values within planning's tolerance of 0 as 0."""
    median = float(np.median(values))
    return 0.0 if abs(median) < 1e-6 else median
