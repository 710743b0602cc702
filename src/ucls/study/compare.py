"""Compare the labels of a study: what each achieved, and how it differs from a baseline on common seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ucls.envs import default_measure
from ucls.errors import unknown
from ucls.runs.measures import Measures, sign_of, signed
from ucls.stats import common_seeds, holm, paired, probability_of_improvement, scores, summarise_many
from ucls.study.records import Row


class Group(NamedTuple):
    """What the runs of one label achieved in one environment.

    `mean`, `median` and `iqm` are of the sound runs, each with a 95% bootstrap interval. Against the baseline:
    `difference` is the mean over common seeds, `p` its permutation test corrected (Holm) for all comparisons of the
    study, `better` the probability that a run of this label beats one of the baseline's.
    """

    env: str
    label: str
    measure: str
    runs: int
    diverged: int
    failed: int
    waiting: int
    damaged: int
    mean: tuple[float | None, float | None, float | None]
    median: tuple[float | None, float | None, float | None]
    iqm: tuple[float | None, float | None, float | None]
    baseline: str | None = None
    difference: tuple[float, float, float] | None = None
    p: float | None = None
    better: tuple[float, float, float] | None = None


def compare_study(rows: Sequence[Row], measure: str | None = None, baseline: str | None = None) -> list[Group]:
    """Compare all labels in each environment, the best first; lengths of episodes are better if less."""
    if measure is not None and measure not in Measures._fields:
        raise unknown("measure", measure, Measures._fields)
    if baseline is not None and baseline not in (labels := sorted({row.label for row in rows})):
        raise unknown("label", baseline, labels)
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.env, row.label), []).append(row)
    measures = {env: measure or default_measure(env) for env, _ in groups}
    samples = {key: _sample(members, measures[key[0]]) for key, members in groups.items()}
    values = [sample[1] for sample in samples.values()]
    summaries = [summarise_many(values, statistic=statistic) for statistic in ("mean", "median", "iqm")]
    compared = []
    for i, ((env, label), members) in enumerate(groups.items()):
        mean, median, iqm = (signed(summary[i][:3], sign_of(measures[env])) for summary in summaries)
        states = [row.status for row in members]
        diverged, failed, waiting, damaged = (states.count(s) for s in ("diverged", "failed", "waiting", "damaged"))
        runs = len(members) - failed - waiting - damaged
        group = Group(env, label, measures[env], runs, diverged, failed, waiting, damaged, mean, median, iqm)
        if baseline is not None and label != baseline and (env, baseline) in samples:
            group = _against(group, samples[env, label], samples[env, baseline], baseline)
        compared.append(group)
    tested = [i for i, group in enumerate(compared) if group.p is not None]
    for i, p in zip(tested, holm([compared[i].p or 0.0 for i in tested]), strict=True):
        compared[i] = compared[i]._replace(p=float(p))
    return sorted(compared, key=lambda g: (g.env, g.mean[0] is None, -(g.mean[0] or 0.0) * sign_of(g.measure)))


def _sample(rows: Sequence[Row], measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The seeds and scores of the runs that ended; one that has nothing to measure counts as diverged."""
    ended = [row for row in rows if row.measures is not None]
    sign = sign_of(measure)
    raw = [getattr(row.measures, measure) for row in ended]
    values = [np.nan if value is None else sign * value for value in raw]
    return np.array([row.seed for row in ended], np.int64), scores(values, [row.status == "diverged" for row in ended])


def _against(
    group: Group, mine: tuple[np.ndarray, np.ndarray], theirs: tuple[np.ndarray, np.ndarray], baseline: str
) -> Group:
    at, other = common_seeds(mine[0], theirs[0])
    pair = paired(mine[1][at], theirs[1][other])
    better = probability_of_improvement(mine[1], theirs[1])
    difference = None
    if pair is not None and pair.difference is not None:
        difference = signed(pair.difference, sign_of(group.measure))
    chance = None if better is None else (better.mean, better.low, better.high)
    p = None if pair is None else pair.p_rank if pair.dropped else pair.p
    return group._replace(baseline=baseline, difference=difference, p=p, better=chance)
