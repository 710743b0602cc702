"""Where in the state space a new policy differs from the logged one, and where the log lacks its actions."""

from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

LINE, SQUARE = 24, 12  # cells along one dimension, or along each of two


class Grid(NamedTuple):
    """Cells over one or two components of the state: the edges along each, and for every cell the number of rows, the
    fraction of actions in which the policies differ, and the fraction of the new policy's actions never shown there."""

    names: list[str]
    edges: list[np.ndarray]
    rows: np.ndarray
    difference: np.ndarray
    never: np.ndarray


def grid_of(log: EpisodeLog, policy: OnLog) -> Grid:
    """A grid over the (up to) two components along which the new policy's actions vary most."""
    wide = [k for k in range(log.states.shape[1]) if np.ptp(log.states[:, k]) > 0]
    wide = sorted(wide, key=lambda k: -_variation(log.states[:, k], policy.now))[:2] or [0]
    wide.sort()
    sides = [_edges(log.states[:, k], LINE if len(wide) == 1 else SQUARE) for k in wide]
    cell = np.zeros(log.n_steps, np.int64)
    for k, edges in zip(wide, sides, strict=True):
        cell = cell * (len(edges) - 1) + np.clip(
            np.searchsorted(edges, log.states[:, k], "right") - 1, 0, len(edges) - 2
        )
    count = int(np.prod([len(edges) - 1 for edges in sides]))
    shown = np.zeros((count, len(log.actions)))
    np.add.at(shown, (cell, log.action), 1.0)
    rows = shown.sum(axis=1)
    some = np.maximum(rows, 1.0)[:, None]
    wanted = np.stack([np.bincount(cell, policy.now[:, a], count) for a in range(len(log.actions))], axis=1)
    outside = np.bincount(cell, policy.outside, count) / some[:, 0]
    difference = 0.5 * np.abs(wanted / some - shown / some).sum(axis=1) + 0.5 * outside
    never = (wanted * (shown == 0)).sum(axis=1) / some[:, 0] + outside
    return Grid([log.columns.state[k] for k in wide], sides, rows, difference, never)


def _variation(column: np.ndarray, now: np.ndarray) -> float:
    """How much of the variation of a policy's actions quantiles of a column explain."""
    order = np.array_split(np.argsort(column, kind="stable"), 10)
    means = np.array([now[rows].mean(axis=0) for rows in order if len(rows)])
    return float(means.var(axis=0).sum())


def _edges(column: np.ndarray, cells: int) -> np.ndarray:
    values = np.unique(column)
    if len(values) <= cells:
        half = np.diff(values).min() / 2 if len(values) > 1 else 0.5
        return np.append(values - half, values[-1] + half)
    return np.linspace(values[0], values[-1], cells + 1)


def shares(log: EpisodeLog, policy: OnLog) -> list[tuple[str, float, float]]:
    """Every action, the fraction of the log's rows that took it, and the new policy's probability of it in the log."""
    taken = np.bincount(log.action, minlength=len(log.actions)) / log.n_steps
    found = [(str(log.actions[a]), float(taken[a]), float(policy.now[:, a].mean())) for a in range(len(log.actions))]
    return [*found, ("never logged", 0.0, float(policy.outside.mean()))] if policy.outside.any() else found
