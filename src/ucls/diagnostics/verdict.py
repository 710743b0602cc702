"""A verdict in words: which condition of the Optimistic Values Theorem a run fails, and the numbers that say so."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

SOUND, PESSIMISTIC, WIDE = "sound", "not optimistic", "radius never shrinks"
WRONG, DIVERGED = "values do not converge", "diverged"

SMALL = 0.1  # a regret of at most this part of the optimal value is small
LATE = 0.2  # the verdict is on the last fifth of the steps


class Verdict(NamedTuple):
    """A word, the sentence that explains it, and the late readings (medians) that it rests on."""

    word: str
    because: str
    late: dict[str, float]


def verdict(found: Mapping[str, np.ndarray], diverged: bool = False) -> Verdict:
    """Judge a run by its readings (see `probed`).

    A late regret within a tenth of |E[Q*]| is sound. Otherwise the largest part of regret = radius + value error -
    optimism is to blame.

    >>> one = {"step": [0, 10], "optimism": [9.0, -18.0], "radius": [30.0, 0.1], "value_error": [0.0, 1.0]}
    >>> one |= {"regret": [20.0, 19.0], "bound": [30.0, 1.1], "optimum": [20.0, 20.0]}
    >>> verdict({name: np.array(values) for name, values in one.items()}).because
    'it maximises values 18 below the optimal 20, and believes them: radius 0.1; not optimistic from step 10 on'
    """
    steps = found["step"]
    late = steps >= (1 - LATE) * steps[-1]
    now = {name: float(np.median(values[late])) for name, values in found.items() if name != "step"}
    optimum, regret, radius, error = (now[name] for name in ("optimum", "regret", "radius", "value_error"))
    if diverged:
        return Verdict(DIVERGED, f"its values mean nothing after step {steps[-1]:,}", now)
    lost = _lost(found)
    since = "" if lost is None else ("; never optimistic" if lost == 0 else f"; not optimistic from step {lost:,} on")
    if regret <= SMALL * abs(optimum):
        return Verdict(SOUND, f"it loses {regret:.3g} of the optimal {optimum:.3g}{since}", now)
    blame = max((-now["optimism"], PESSIMISTIC), (radius, WIDE), (abs(error), WRONG))[1]
    if blame == PESSIMISTIC:
        gap = f"it maximises values {-now['optimism']:.3g} below the optimal {optimum:.3g}"
        return Verdict(blame, f"{gap}, and believes them: radius {radius:.3g}{since}", now)
    loses = f"it loses {regret:.3g} of the optimal {optimum:.3g}"
    if blame == WIDE:
        return Verdict(blame, f"{loses}, and its radius is still {radius:.3g}, against an error of {error:.3g}", now)
    side = "above" if error > 0 else "below"
    wrong = f"its values lie {abs(error):.3g} {side} those of its own policy, its radius is {radius:.3g}"
    return Verdict(blame, f"{loses}, and {wrong}", now)


def _lost(found: Mapping[str, np.ndarray]) -> int | None:
    """The first step after which the run was never read as optimistic; None if it is optimistic at the end."""
    held = np.flatnonzero(found["optimism"] >= 0)
    if len(held) == 0:
        return 0
    return None if held[-1] == len(found["step"]) - 1 else int(found["step"][held[-1] + 1])
