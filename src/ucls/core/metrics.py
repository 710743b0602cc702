"""Metrics: the numbers by which runs are compared, computed from their history."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from ucls.core.history import History

LAST_EPISODES = 20

T = TypeVar("T", float, float | None)


class Metrics(NamedTuple):
    """The metrics of a run; None where there is no episode to measure.

    `reward` is the sum over all steps and `final_reward_per_step` the mean over the final 20% of steps. `mean_return`
    is the total reward divided by the number of episodes, the unfinished last one included, so that the step budget
    does not favor few long episodes. `final_return` and `final_episode_length` are means over the last 20 episodes, and
    `best_episode_length` is the smallest mean length of 20 consecutive ones (of all, if there are fewer).
    """

    reward: float
    final_reward_per_step: float
    episodes: float
    mean_return: float
    final_return: float | None
    final_episode_length: float | None
    best_episode_length: float | None


HIGHER_IS_BETTER = {name: name not in ("final_episode_length", "best_episode_length") for name in Metrics._fields}


def sign_of(metric: str) -> int:
    """Return -1 for metrics of which less is better, the lengths of episodes, and 1 for all others."""
    return 1 if HIGHER_IS_BETTER[metric] else -1


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


def compute_metrics(history: History) -> Metrics:
    """Compute the metrics of a run."""
    lengths, returns, rewards = history.episode_steps, history.episode_returns, history.rewards
    last = slice(len(lengths) - min(LAST_EPISODES, len(lengths)), None)
    unfinished = len(rewards) > 0 and not history.ends[-1]
    total = float(rewards.sum())
    some = len(lengths) > 0
    return Metrics(
        reward=total,
        final_reward_per_step=history.final_reward_per_step,
        episodes=float(len(lengths)),
        mean_return=total / max(1, len(lengths) + unfinished),
        final_return=float(returns[last].mean()) if some else None,
        final_episode_length=float(lengths[last].mean()) if some else None,
        best_episode_length=_best(lengths) if some else None,
    )


def _best(lengths: np.ndarray) -> float:
    window = min(LAST_EPISODES, len(lengths))
    total = np.concatenate([[0], np.cumsum(lengths)])
    return float((total[window:] - total[:-window]).min() / window)
