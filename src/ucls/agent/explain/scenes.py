"""The scenes of an episode, step by step: an image, the interval of every action, and the chosen action."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RELATIVE = 0.35  # of the whole range of values: what the intervals of a state take of it, if they can be read


class Picture(NamedTuple):
    """The pixels of an image, compressed: hundreds of them are stored until the episode is over."""

    shape: tuple[int, ...]
    packed: bytes

    @classmethod
    def of(cls, pixels: np.ndarray) -> "Picture":
        """Pack pixels, of shape (height, width, 3)."""
        return cls(pixels.shape, zlib.compress(np.ascontiguousarray(pixels, np.uint8).tobytes(), 1))

    def pixels(self) -> np.ndarray:
        """The pixels again."""
        return np.frombuffer(zlib.decompress(self.packed), np.uint8).reshape(self.shape)


class Scene(NamedTuple):
    """A moment of an episode, before its chosen action, or the end of the episode, without one.

    `reward` is the reward collected so far. `unknown` is None if the algorithm does not separate prior and noise
    uncertainty: `noisy` is then the whole radius. The mean of an invalid action is NaN. `ending` says how an episode
    ended.
    """

    picture: Picture
    episode: int
    step: int
    reward: float
    mean: np.ndarray
    unknown: np.ndarray | None
    noisy: np.ndarray
    action: int | None
    ending: str = ""

    @property
    def radius(self) -> np.ndarray:
        """How far the interval of every action extends to either side."""
        return self.noisy if self.unknown is None else self.noisy + self.unknown


class Scale(NamedTuple):
    """The values between which intervals are drawn, the same in all scenes, with marks at round numbers.

    On a relative one they are what a value has more or less than the best mean in its state.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    relative: bool

    def place(self, value: float) -> float:
        """Return the position of a value, from 0 to 1 on the scale."""
        return (value - self.low) / (self.high - self.low)

    def origin(self, scene: Scene) -> float:
        """The value that is 0 in a scene."""
        return float(np.nanmax(scene.mean)) if self.relative else 0.0


def scale_of(scenes: Sequence[Scene], most_ticks: int = 5) -> Scale:
    """A scale for all scenes, so that they can be compared.

    It is relative where values change so much along the way that intervals would be points. An interval that is far
    wider than most, where the agent has hardly ever been, would do the same: one in twenty may reach over the edge.
    """
    mean = np.array([scene.mean for scene in scenes])
    radius = np.array([scene.radius for scene in scenes])
    low, high = _reach(mean, radius)
    widths = np.nanmax(mean + radius, axis=1) - np.nanmin(mean - radius, axis=1)
    relative = float(np.median(widths)) < RELATIVE * (high - low)
    if relative:
        low, high = _reach(mean - np.nanmax(mean, axis=1, keepdims=True), radius)
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - margin, high + margin
    return Scale(low, high, _round_numbers(low, high, most_ticks), relative)


def _reach(mean: np.ndarray, radius: np.ndarray) -> tuple[float, float]:
    """Return the range that nearly all intervals cover, and the best means of all states."""
    best, valid = np.nanmax(mean, axis=1), ~np.isnan(mean)
    low, high = np.quantile((mean - radius)[valid], 0.05), np.quantile((mean + radius)[valid], 0.95)
    return min(float(best.min()), float(low)), max(float(best.max()), float(high))


def _round_numbers(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most so many multiples of 1, 2 or 5 times a power of ten between two values."""
    power = 10.0 ** np.floor(np.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        unit = factor * power
        first, last = int(np.ceil(low / unit)), int(np.floor(high / unit))
        if last - first < most:
            return tuple(float(k * unit) for k in range(first, last + 1))
    raise AssertionError("unreachable: 20 times the power leaves at most half as many")


def rows_of(scenes: Sequence[Scene], most: int) -> list[int]:
    """Return the actions to show: all, or as many as fit, those that were taken or have the highest bounds."""
    n_actions = len(scenes[0].mean)
    taken = np.bincount([scene.action for scene in scenes if scene.action is not None], minlength=n_actions)
    top = np.max([np.nan_to_num(scene.mean + scene.radius, nan=-np.inf) for scene in scenes], axis=0)
    order = np.lexsort((-top, -taken))
    return sorted(int(a) for a in order[:most])
