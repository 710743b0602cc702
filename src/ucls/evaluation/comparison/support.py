"""Whether a log shows what a new policy would do: by region of the state space."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

REGIONS = 64  # at most
ROWS = 50  # of the log in a region, at least
RARE = 5  # rows of an action in a region below which it counts as rare


class Region(NamedTuple):
    """A box of states: its bounds, the fraction of the log's rows in it, how often the policies differ there, and how
    much of the new policy the log never shows there."""

    low: list[float]
    high: list[float]
    fraction: float
    difference: float
    never: float


class Support(NamedTuple):
    """The fraction of the new policy's actions that the log never (`never`) or rarely (`rare`) shows in their region,
    how often the new policy differs from the logged one, the actions concerned, and the regions."""

    never: float
    rare: float
    difference: float
    actions: list[Any]
    regions: list[Region]

    def where(self, names: Sequence[str]) -> str:
        """The region where most is missing, in words; empty if nothing is."""
        if not self.worst:
            return ""
        bounds = list(zip(names, self.worst[0].low, self.worst[0].high, strict=True))[:3]
        return "most of all where " + ", ".join(f"{name} {low:.4g} to {high:.4g}" for name, low, high in bounds)

    @property
    def worst(self) -> list[Region]:
        """The regions where most is missing, worst first."""
        missing = [each for each in self.regions if each.never * each.fraction > 0]
        return sorted(missing, key=lambda each: -each.never * each.fraction)[:3]


def support_of(log: EpisodeLog, policy: OnLog, region: np.ndarray) -> Support:
    """Compare a policy with the actions of the log, in regions numbered by row."""
    count = region.max() + 1
    shown = np.zeros((count, len(log.actions)))
    np.add.at(shown, (region, log.action), 1.0)
    rows = shown.sum(axis=1)
    wanted = np.stack([np.bincount(region, policy.now[:, a], count) for a in range(len(log.actions))], axis=1)
    beyond = np.bincount(region, policy.outside, count)
    missing = (wanted * (shown == 0)).sum(axis=1) + beyond
    rare = (wanted * (shown < RARE)).sum(axis=1) + beyond
    apart = 0.5 * np.abs(wanted / rows[:, None] - shown / rows[:, None]).sum(axis=1) + 0.5 * beyond / rows
    regions = []
    for i in range(count):
        inside = log.states[region == i]
        low, high = inside.min(axis=0).tolist(), inside.max(axis=0).tolist()
        regions.append(Region(low, high, float(rows[i] / rows.sum()), float(apart[i]), float(missing[i] / rows[i])))
    lacking = [log.actions[a].item() for a in np.flatnonzero((wanted * (shown == 0)).sum(axis=0) > 0)]
    total = rows.sum()
    return Support(
        float(missing.sum() / total), float(rare.sum() / total), float((apart * rows).sum() / total), lacking, regions
    )


def regions_of(log: EpisodeLog) -> np.ndarray:
    """Number the rows by region: boxes of about equally many rows, from medians along one component after the other."""
    region = np.zeros(log.n_steps, np.int64)
    wide = [k for k in range(log.states.shape[1]) if np.ptp(log.states[:, k]) > 0]
    most = min(REGIONS, log.n_steps // ROWS)
    place = 0
    while wide and 2 * (region.max() + 1) <= most:
        column = log.states[:, wide[place % len(wide)]]
        halves = np.zeros(log.n_steps, np.int64)
        for i in range(region.max() + 1):
            inside = region == i
            middle = np.median(column[inside])
            above = column[inside] > middle
            halves[inside] = above if above.any() else column[inside] >= middle
        _, region = np.unique(2 * region + halves, return_inverse=True)
        region = region.reshape(-1)
        place += 1
        if place > 4 * len(wide) + 8:
            break
    return region
