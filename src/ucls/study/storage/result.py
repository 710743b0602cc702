"""The stored result of a run: its episodes, binned rewards and metrics, and its provenance."""

import hashlib
import zlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ucls.core.history import TRUNCATED, History
from ucls.core.metrics import Metrics, compute_metrics
from ucls.core.saving import checkpoint
from ucls.errors import UserError

CPU = "cpu_seconds"  # an array that is measured, so that it differs between equal runs
UNPACKED = 1 << 31  # bytes: a corrupted file must not fill memory


class Result(NamedTuple):
    """The result of a run; arrays are `episode_steps`, `episode_returns`, `truncated`, `curve`, and a probe's.

    If the greedy policy was evaluated, also `greedy_steps`, `greedy_returns` and `cpu_seconds` (of training).
    """

    steps: int
    diverged: bool
    metrics: Metrics
    arrays: dict[str, np.ndarray]
    learner: bytes | None = None


class Circumstance(NamedTuple):
    """Provenance of a result: nothing here affects its numbers."""

    seconds: float
    speed: float
    machine: str
    versions: str
    finished: str


def summarize(history: History, resolution: int, more: Mapping[str, np.ndarray] = {}) -> Result:
    """Reduce a history to what a study stores.

    >>> kept = summarize(History(np.array([0.0, 1.0, 0.0, 1.0, 5.0]), np.array([0, 1, 0, 1, 0])), resolution=2)
    >>> kept.metrics.episodes, kept.metrics.mean_return, kept.arrays["curve"]
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
    return Result(steps, history.diverged, compute_metrics(history), {**arrays, **more})


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as compressed bytes; equal arrays give equal bytes, and reading them never executes code."""
    return zlib.compress(checkpoint.to_bytes(arrays), 6)


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """A digest of the arrays, the same for equal runs."""
    arrays = {name: array for name, array in arrays.items() if name != CPU}
    return hashlib.sha256(checkpoint.to_bytes(arrays)).hexdigest()[:24]


def unpack(blob: bytes) -> dict[str, np.ndarray]:
    """Read the output of `pack`, or raise a one-line error."""
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(blob, UNPACKED)
        if not reader.eof:
            raise UserError("arrays that are truncated or too large")
        return checkpoint.from_bytes(content)[1]
    except UserError:
        raise
    except Exception as error:  # whatever corrupted bytes do to a parser
        raise UserError(f"corrupted arrays: {error}") from None
