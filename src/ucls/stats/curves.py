"""Learning curves of runs that differ in length and in number of episodes, and the band around many of them.

A run says what it knows and no more: before its first episode ends it has no episode to show, and after its own last
step (a diverged run stops early) it has nothing. `Band.runs` is the number of runs behind every place: where it falls,
the curve is of the survivors.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ucls.errors import UserError
from ucls.stats.resampling import RESAMPLES, SOUND_BELOW, bootstrap


class Curves(NamedTuple):
    """A curve for each run (rows) at common places (columns); `heights` mean something only where `known`."""

    at: np.ndarray
    heights: np.ndarray
    known: np.ndarray


class Band(NamedTuple):
    """The center of many curves with a pointwise interval, and how many runs are behind it, at each place.

    Places that no run knows are left out, so `runs` is at least 1. Where it is 1 there is no interval: `low` and `high`
    are NaN there.
    """

    at: np.ndarray
    center: np.ndarray
    low: np.ndarray
    high: np.ndarray
    runs: np.ndarray


def moving_mean(values: ArrayLike, window: int) -> np.ndarray:
    """The mean over the last `window` values at every place, over fewer at the beginning.

    >>> moving_mean(np.array([1.0, 3.0, 5.0]), 2)
    array([1., 2., 4.])
    """
    values = np.asarray(values, np.float64)
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return (total[ends] - total[starts]) / (ends - starts)


def over_steps(
    episode_steps: Sequence[ArrayLike],
    measures: Sequence[ArrayLike],
    steps: Sequence[int],
    at: ArrayLike,
    window: int = 20,
) -> Curves:
    """The mean measure of each run's last `window` episodes finished by each of the steps `at`.

    For each run, `episode_steps` are the lengths of its finished episodes, `measures` one number for each of them (its
    return, say, or its length), `steps` all the steps it took.

    >>> over_steps([[3, 2], []], [[-3.0, -2.0], []], [6, 6], at=[2, 3, 6])
    Curves(at=array([2, 3, 6]), heights=array([[ 0. , -3. , -2.5],
           [ 0. ,  0. ,  0. ]]), known=array([[False,  True,  True],
           [False, False, False]]))
    """
    at = np.asarray(at)
    heights, known = np.zeros((len(steps), len(at))), np.zeros((len(steps), len(at)), bool)
    for i, (lengths, measure, taken) in enumerate(zip(episode_steps, measures, steps, strict=True)):
        ends = np.cumsum(np.asarray(lengths, np.int64))
        recent = moving_mean(measure, window)
        if len(recent) != len(ends):
            raise UserError(f"run {i} has {len(ends)} episodes but {len(recent)} measures: give one for each episode")
        done = np.searchsorted(ends, at, side="right")
        known[i] = (done > 0) & (at <= taken)
        heights[i, known[i]] = recent[done[known[i]] - 1]
    return Curves(at, heights, known)


def over_episodes(measures: Sequence[ArrayLike], window: int = 1) -> Curves:
    """The mean measure of the last `window` episodes at each episode, from 1 to the most that any run finished.

    >>> over_episodes([[5.0, 3.0], [4.0], []]).known.sum(axis=0)
    array([2, 1])
    """
    return _stacked([moving_mean(measure, window) for measure in measures])


def reward_rate(rewards: Sequence[ArrayLike], resolution: int, steps: Sequence[int]) -> Curves:
    """The mean reward per step in each bin of `resolution` steps, placed at the bin's last step.

    `rewards` are the sums over each run's bins and `steps` all the steps it took. The last bin may be shorter; a run
    that stopped inside a bin (it diverged) does not know that bin.

    >>> reward_rate([[2.0, 4.0, 1.0], [2.0, 9.0]], 2, steps=[5, 3])
    Curves(at=array([2, 4, 5]), heights=array([[1., 2., 1.],
           [1., 0., 0.]]), known=array([[ True,  True,  True],
           [ True, False, False]]))
    """
    curves = _binned(rewards, resolution, steps)
    return curves._replace(heights=curves.heights / np.diff(curves.at, prepend=0))


def cumulative_reward(rewards: Sequence[ArrayLike], resolution: int, steps: Sequence[int]) -> Curves:
    """The reward of each run so far at the end of each bin; the arguments are those of `reward_rate`.

    >>> cumulative_reward([[2.0, 4.0, 1.0]], 2, steps=[5]).heights
    array([[2., 6., 7.]])
    """
    curves = _binned(rewards, resolution, steps)
    return curves._replace(heights=np.where(curves.known, np.cumsum(curves.heights, axis=1), 0.0))


def band(
    curves: Curves,
    statistic: str = "mean",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Band:
    """The mean, median or interquartile mean ("iqm") at each place of the runs that know it, with a bootstrap band.

    >>> band(over_episodes([[5.0, 3.0], [5.0]]))
    Band(at=array([1, 2]), center=array([5., 3.]), low=array([ 5., nan]), high=array([ 5., nan]), runs=array([2, 1]))
    """
    known = curves.known & (np.abs(curves.heights) < SOUND_BELOW)
    runs = known.sum(axis=0)
    center, low, high = np.zeros((3, len(runs)))
    # Which runs have a value changes at few places only: long stretches of places share one resampling.
    patterns, pattern_of = np.unique(known, axis=1, return_inverse=True)
    for i, knows in enumerate(patterns.T):
        if knows.any():
            places = np.flatnonzero(pattern_of == i)
            columns = curves.heights[np.ix_(knows, places)]
            ends = bootstrap(columns, statistic, None, confidence, resamples, seed)
            center[places], low[places], high[places] = ends
    some = runs > 0
    return Band(curves.at[some], center[some], low[some], high[some], runs[some])


def _stacked(rows: Sequence[ArrayLike]) -> Curves:
    """Rows of different lengths as one matrix, at places 1, 2, ..."""
    rows = [np.asarray(row, np.float64) for row in rows]
    lengths = np.array([len(row) for row in rows], int)
    at = np.arange(1, lengths.max(initial=0) + 1)
    known = at <= lengths[:, np.newaxis]
    heights = np.zeros(known.shape)
    heights[known] = np.concatenate([np.zeros(0), *rows])
    return Curves(at, heights, known)


def _binned(rewards: Sequence[ArrayLike], resolution: int, steps: Sequence[int]) -> Curves:
    """The sums of bins, placed at the steps where bins end."""
    curves, taken = _stacked(rewards), np.asarray(steps, np.int64)
    if (curves.known.sum(axis=1) != -(-taken // resolution)).any():
        raise UserError(f"a run of n steps has n / {resolution} bins of reward, rounded up: give each run as many sums")
    at = np.minimum(curves.at * resolution, taken.max(initial=0))
    known = at <= taken[:, np.newaxis]
    return Curves(at, np.where(known, curves.heights, 0.0), known)
