"""What is kept of a run: its episodes, its rewards at a resolution, and the numbers that runs are compared by."""

import hashlib
import zlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ucls import checkpoint
from ucls.errors import UserError
from ucls.runs.history import TRUNCATED, History

LAST_EPISODES = 20
UNPACKED = 1 << 31  # bytes: a damaged file must not fill memory


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


class Result(NamedTuple):
    """What is kept of a run; arrays are `episode_steps`, `episode_returns`, `truncated`, `curve`, and a probe's."""

    steps: int
    diverged: bool
    measures: Measures
    arrays: dict[str, np.ndarray]
    learner: bytes | None = None


def summarise(history: History, resolution: int, more: Mapping[str, np.ndarray] = {}) -> Result:
    """Keep of a history what a study needs.

    >>> kept = summarise(History(np.array([0.0, 1.0, 0.0, 1.0, 5.0]), np.array([0, 1, 0, 1, 0])), resolution=2)
    >>> kept.measures.episodes, kept.measures.mean_return, kept.arrays["curve"]
    (2.0, 2.3333333333333335, array([1., 1., 5.]))
    """
    steps = len(history.rewards)
    curve = np.add.reduceat(history.rewards, np.arange(0, steps, resolution)) if steps else np.zeros(0)
    ends = history.ends[np.flatnonzero(history.ends)]
    arrays = {
        "curve": curve,
        "episode_steps": history.episode_steps.astype(np.int32),
        "episode_returns": history.episode_returns,
        "truncated": (ends == TRUNCATED).astype(np.uint8),
    }
    return Result(steps, history.diverged, measure(history), {**arrays, **more})


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


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as compressed bytes; equal arrays give equal bytes, and reading them never executes code."""
    return zlib.compress(checkpoint.to_bytes(arrays), 6)


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """A digest of the arrays, the same for equal ones."""
    return hashlib.sha256(checkpoint.to_bytes(arrays)).hexdigest()[:24]


def unpack(blob: bytes) -> dict[str, np.ndarray]:
    """Read what `pack` wrote, or say in one line why that cannot be."""
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(blob, UNPACKED)
        if not reader.eof:
            raise UserError("arrays that are cut short, or larger than any of ours")
        return checkpoint.from_bytes(content)[1]
    except UserError:
        raise
    except Exception as error:  # whatever damaged bytes do to a parser
        raise UserError(f"arrays that cannot be read, they are damaged: {error}") from None
