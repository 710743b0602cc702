"""The numbers that runs are compared by, all taken from what happened in a run."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from ucls.core.history import History

LAST_EPISODES = 20

T = TypeVar("T", float, float | None)


class Measures(NamedTuple):
    """The numbers that runs are compared by; None where there is no episode to measure.

    `reward` is the sum over all steps and `last_reward` the mean of a step over the last fifth. `mean_return` is the
    reward of all steps over the number of episodes, the unfinished last one counted: few long episodes are not
    flattered by the step budget. `last_return` and `last_steps` are means over the last 20 episodes, `best_steps` is
    the least mean length of 20 consecutive ones (of all, where there are fewer).
    """

    reward: float
    last_reward: float
    episodes: float
    mean_return: float
    last_return: float | None
    last_steps: float | None
    best_steps: float | None


HIGHER_IS_BETTER = {name: name not in ("last_steps", "best_steps") for name in Measures._fields}


def sign_of(measure: str) -> int:
    """The sign that makes more of a measure better: -1 for the lengths of episodes."""
    return 1 if HIGHER_IS_BETTER[measure] else -1


def signed(estimate: Sequence[T], sign: int) -> tuple[T, T, T]:
    """A number and the ends of its interval, the first three of an estimate, for values times a sign.

    >>> signed((2.0, 1.0, 4.0), -1), signed((None, None, None), -1)
    ((-2.0, -4.0, -1.0), (None, None, None))
    """
    center, *ends = estimate[:3]
    if center is None:
        return estimate[0], estimate[1], estimate[2]
    low, high = sorted(sign * cast(Any, end) for end in ends)
    return sign * center, low, high


def measure(history: History) -> Measures:
    """Take the measures of a run."""
    lengths, returns, rewards = history.episode_steps, history.episode_returns, history.rewards
    last = slice(len(lengths) - min(LAST_EPISODES, len(lengths)), None)
    unfinished = len(rewards) > 0 and not history.ends[-1]
    total = float(rewards.sum())
    some = len(lengths) > 0
    return Measures(
        reward=total,
        last_reward=history.last_fifth_reward,
        episodes=float(len(lengths)),
        mean_return=total / max(1, len(lengths) + unfinished),
        last_return=float(returns[last].mean()) if some else None,
        last_steps=float(lengths[last].mean()) if some else None,
        best_steps=_best(lengths) if some else None,
    )


def _best(lengths: np.ndarray) -> float:
    window = min(LAST_EPISODES, len(lengths))
    total = np.concatenate([[0], np.cumsum(lengths)])
    return float((total[window:] - total[:-window]).min() / window)
