"""The results of the paper's runs: the numbers that figures draw and claims judge."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ucls import stats
from ucls.core.metrics import sign_of, signed
from ucls.envs import make_builtin
from ucls.paper.runs.domains import CLASSIC, DEEP_SEA, ONE_STATE, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import Group, Scale, cells_of
from ucls.study.storage.result import Result
from ucls.study.storage.store import Store

POINTS = 200
EPISODES, REWARD_STEPS = 20, 2000

# What is "final performance" in a domain.
FINAL = {
    RIVER: "final_reward_per_step",
    PUDDLE: "final_return",
    SPARSE: "final_episode_length",
    CLASSIC: "final_episode_length",
    ONE_STATE: "final_reward_per_step",
    DEEP_SEA: "final_return",
}


class Sample(NamedTuple):
    """A metric of a group's runs: by seed, minus infinity if a run diverged; `sign` is -1 if less is better."""

    seeds: np.ndarray
    scores: np.ndarray
    sign: int

    @property
    def mean(self) -> stats.Summary:
        """The mean of the non-diverged runs, in the unit of the metric."""
        summary = stats.summarize(self.scores)
        return stats.Summary(*signed(summary, self.sign), *summary[3:])


class Evidence:
    """The results in a store of the paper's groups, at a scale."""

    def __init__(self, store: Store, scale: Scale) -> None:
        self.store, self.scale = store, scale
        self._kept: dict[Group, list[tuple[int, Result]]] = {}

    def results(self, group: Group) -> list[tuple[int, Result]]:
        """The finished runs of a group with their seeds."""
        if group not in self._kept:
            runs = [(cell.seed, self.store.result(cell.id)) for cell in cells_of(group, self.scale)]
            self._kept[group] = [(seed, result) for seed, result in runs if result is not None]
        return self._kept[group]

    def sample(self, group: Group, metric: str) -> Sample:
        """Return a metric of the runs; without a finished episode, its length is that of the run and its return the
        total reward."""
        sign = sign_of(metric)
        otherwise: dict[str, Callable[[Result], float]] = {
            "final_episode_length": lambda r: float(r.steps),
            "best_episode_length": lambda r: float(r.steps),
            "final_return": lambda r: r.metrics.reward,
        }
        values, seeds, diverged = [], [], []
        for seed, result in self.results(group):
            value = getattr(result.metrics, metric)
            values.append(sign * (otherwise[metric](result) if value is None else value))
            seeds.append(seed)
            diverged.append(result.diverged)
        return Sample(np.array(seeds, np.int64), stats.scores(values, diverged), sign)

    def final(self, group: Group) -> Sample:
        """The final performance of the runs."""
        return self.sample(group, FINAL[group.env])

    def early(self, group: Group, part: float) -> Sample:
        """Return the reward of the first part of the steps; in episodic domains per episode begun.

        Where every step costs the same, the reward of some steps does not say whether they led anywhere.
        """
        runs = self.results(group)
        resolution = self.resolution(group) if runs else 0
        values = []
        for _, r in runs:
            curve = r.arrays["curve"]
            places = max(1, int(part * len(curve)))
            reward = float(curve[:places].sum())
            begun = int((np.cumsum(r.arrays["episode_steps"]) <= places * resolution).sum()) + 1
            values.append(reward / begun if group.env in (PUDDLE, CLASSIC) else reward)
        seeds = np.array([seed for seed, _ in runs], np.int64)
        return Sample(seeds, stats.scores(values, [r.diverged for _, r in runs]), 1)

    def pair(self, mine: Sample, theirs: Sample) -> stats.Paired | None:
        """Compare two samples on common seeds: the difference in the unit of the metric, and wins of the first."""
        at, other = stats.common_seeds(mine.seeds, theirs.seeds)
        pair = stats.paired(mine.scores[at], theirs.scores[other])
        if pair is None or pair.difference is None:
            return pair
        return pair._replace(difference=stats.Estimate(*signed(pair.difference, mine.sign)))

    def difference(self, mine: Sample, theirs: Sample) -> stats.Estimate | None:
        """Return the mean difference on common seeds with its interval; None without non-diverged pairs."""
        pair = self.pair(mine, theirs)
        return None if pair is None else pair.difference

    def steps(self, group: Group) -> int:
        """How many steps the runs of a group take at this scale."""
        return self.scale.steps_of(group)

    def resolution(self, group: Group) -> int:
        """Return over how many steps each number of a run's `curve` is a sum; the last may be over fewer."""
        return cells_of(group, self.scale)[0].resolution


@functools.cache
def optimum(env: str, **settings: Any) -> Any:
    """Return the performance of an optimal policy."""
    return make_builtin(env, settings).best()


def episode_band(results: list[tuple[int, Result]], steps: int, array: str, sign: int = 1) -> stats.Band:
    """The mean of the last 20 episodes' lengths or returns over the steps, with the number of runs that have one."""
    runs = [result for _, result in results]
    at = np.linspace(0, steps, POINTS + 1)[1:]
    lengths = [r.arrays["episode_steps"] for r in runs]
    values = [sign * r.arrays[array].astype(np.float64) for r in runs]
    return stats.band(stats.over_steps(lengths, values, [r.steps for r in runs], at, EPISODES), "median")


def episodes_band(results: list[tuple[int, Result]], array: str, sign: int = 1) -> stats.Band:
    """Return the same over episodes, up to the most that any run finished."""
    values = [sign * r.arrays[array].astype(np.float64) for _, r in results]
    return thinned(stats.band(stats.over_episodes(values, EPISODES), "median"))


def reward_band(results: list[tuple[int, Result]], resolution: int) -> stats.Band:
    """The reward per step over the last 2,000 steps, from curves of a resolution."""
    runs = [result for _, result in results]
    smooth = [stats.moving_mean(r.arrays["curve"], max(1, REWARD_STEPS // resolution)) for r in runs]
    return stats.band(stats.reward_rate(smooth, resolution, [r.steps for r in runs]), "mean")


def thinned(band: stats.Band) -> stats.Band:
    """Return a band at no more places than a figure shows."""
    keep = np.unique(np.linspace(0, len(band.at) - 1, POINTS).astype(int)) if len(band.at) else slice(None)
    return stats.Band(*(part[keep] for part in band))
