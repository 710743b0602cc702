"""What is wrong or suspicious in a log: `ucls check-log`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ucls.errors import printable
from ucls.evaluation.logs.cells import Problem
from ucls.evaluation.logs.episodes import EpisodeLog, scan_log

DRIFT = 0.01  # p-value below which a change over time is reported
FEW = 20  # episodes below which drift is not tested


def check_log(
    source: Any, gamma: float | None = None, columns: Mapping[str, Any] = {}, ends: str | None = None
) -> tuple[EpisodeLog | None, list[Problem]]:
    """Read a log and list its problems, errors first; the log is None if it has errors."""
    log, problems, _ = scan_log(source, gamma, columns, ends)
    if log is not None:
        checks: tuple[Callable[[EpisodeLog], Iterator[Problem]], ...] = (_constant, _identifiers, _outcomes, _untaken)
        for check in (*checks, _short, drift):
            problems.extend(check(log))
    return log, sorted(problems, key=lambda problem: not problem.error)


def _warning(kind: str, text: str, row: int | None = None) -> Problem:
    return Problem(kind, row, 1, text, False)


def _constant(log: EpisodeLog) -> Iterator[Problem]:
    for name, column in zip(log.columns.state, log.states.T, strict=True):
        if log.n_steps > 1 and (column == column[0]).all():
            yield _warning("constant", f"the state column {printable(name[:100])!r} is {column[0]:g} in every row")
    if log.n_steps > 1 and (log.reward == log.reward[0]).all():
        yield _warning("constant", f"the reward is {log.reward[0]:g} in every row")
    if len(log.actions) == 1:
        yield _warning("constant", f"only the action {log.actions[0]} was taken: no other policy can be evaluated")
    if log.probability is not None and log.n_steps > 1 and (log.probability == 1).all():
        yield _warning(
            "constant", "the probability is 1 in every row: a deterministic policy shows only its own actions"
        )


def _identifiers(log: EpisodeLog) -> Iterator[Problem]:
    """State columns that only name the episode leak across episodes: no two episodes share a value."""
    if log.n_episodes < 5 or log.n_steps < 2 * log.n_episodes:
        return
    for name, column in zip(log.columns.state, log.states.T, strict=True):
        starts = column[log.first[:-1]]
        if (column == np.repeat(starts, log.lengths)).all() and len(np.unique(starts)) == log.n_episodes:
            yield _warning("leakage", f"the state column {printable(name[:100])!r} identifies its episode")


def _outcomes(log: EpisodeLog) -> Iterator[Problem]:
    """A state must not contain the result of the action that it comes with."""
    for name, column in zip(log.columns.state, log.states.T, strict=True):
        shown = printable(name[:100])
        if len(np.unique(column[:100])) > 1:
            if np.array_equal(column, log.reward):
                yield _warning("leakage", f"the state column {shown!r} equals the reward of the same row")
            elif np.array_equal(column, log.action):
                yield _warning("leakage", f"the state column {shown!r} equals the action of the same row")


def _untaken(log: EpisodeLog) -> Iterator[Problem]:
    if log.actions.dtype.kind not in "iu":
        return
    low, high = int(log.actions[0]), int(log.actions[-1])
    missing = [a for a in range(min(low, 0) if low <= 1 else low, min(high, low + 10_000)) if a not in set(log.actions)]
    if missing:
        listed = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        yield _warning("action", f"never taken: action {listed}; policies that take it cannot be evaluated")
    counts = np.bincount(log.action, minlength=len(log.actions))
    for a in np.flatnonzero(counts < 10):
        yield _warning("action", f"action {log.actions[a]} was taken in only {counts[a]} of {log.n_steps:,} rows")


def _short(log: EpisodeLog) -> Iterator[Problem]:
    """Truncated episodes that end long before the discount makes the rest unimportant."""
    cut = log.truncated
    if cut.any() and log.gamma < 1:
        rest = float(np.mean(log.gamma ** log.lengths[cut]))
        if rest > 0.1:
            yield _warning("horizon", f"{cut.sum():,} of {log.n_episodes:,} episodes were truncated while the discount "
                           f"was still {rest:.2g} on average: what follows comes from the fitted values")  # fmt: skip
    if cut.any() and log.gamma == 1 and not log.terminated.any():
        yield _warning("horizon", "no episode terminates and gamma is 1: values are infinite; give a smaller gamma")


def drift(log: EpisodeLog) -> Iterator[Problem]:
    """Changes from the first half of the episodes to the second one, in their order in the log."""
    from scipy import special

    if log.n_episodes < FEW:
        return
    half = log.n_episodes // 2
    series = {"the return": log.returns, "the length of an episode": log.lengths.astype(np.float64)}
    series |= {f"the first {name}": column for name, column in zip(log.columns.state, log.starts.T, strict=True)}
    for a, value in enumerate(log.actions[:20]):
        share = np.add.reduceat((log.action == a).astype(np.float64), log.first[:-1]) / log.lengths
        series[f"the fraction of action {value}"] = share
    for name, values in series.items():
        early, late = values[:half], values[half:]
        error = np.sqrt(early.var(ddof=1) / len(early) + late.var(ddof=1) / len(late))
        change = late.mean() - early.mean()
        if error > 0 and 2 * special.ndtr(-abs(change / error)) * len(series) < DRIFT:
            yield _warning("drift", f"{printable(name)} changes over time: {early.mean():.4g} in the first half of the "
                           f"episodes, {late.mean():.4g} in the second")  # fmt: skip
