"""Compare the labels of a study, also with a baseline on common seeds."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ucls.core.metrics import Metrics, sign_of, signed
from ucls.envs import default_metric
from ucls.errors import unknown
from ucls.stats import common_seeds, holm, paired, probability_of_improvement, scores, summarize_many
from ucls.study.storage.records import Row

STATES = ("done", "diverged", "failed", "waiting", "corrupted")


class Group(NamedTuple):
    """The results of one label in one environment.

    `mean`, `median` and `iqm` are over the runs that did not diverge, each with the ends of its 95% interval, which are
    None for a single run. Compared with the baseline: `difference` is the mean over common seeds, `p` its
    permutation test corrected (Holm) for all comparisons of the study, `better` the probability that a run of this
    label beats one of the baseline's.
    """

    env: str
    label: str
    metric: str
    runs: int
    diverged: int
    failed: int
    waiting: int
    corrupted: int
    mean: tuple[float | None, float | None, float | None]
    median: tuple[float | None, float | None, float | None]
    iqm: tuple[float | None, float | None, float | None]
    baseline: str | None = None
    difference: tuple[float | None, float | None, float | None] | None = None
    p: float | None = None
    better: tuple[float | None, float | None, float | None] | None = None


class Sample(NamedTuple):
    """The runs of a label in an environment: by seed, the metric of finished runs, signed so that more is better; and
    how many are in each state."""

    metric: str
    seeds: np.ndarray
    scores: np.ndarray
    states: Counter[str]


Samples = Mapping[tuple[str, str], Sample]  # by environment and label


class _Collected:
    """The values read from the runs of one group: numbers, so that a million runs fit in memory."""

    def __init__(self) -> None:
        self.seeds, self.values, self.others = array("q"), array("d"), array("d")
        self.states: Counter[str] = Counter()
        self.lacking = False


def compare_study(rows: Iterable[Row], metric: str | None = None, baseline: str | None = None) -> list[Group]:
    """Compare all labels in each environment, the best first; shorter episodes are better."""
    return compare_samples(collect_samples(rows, metric), baseline)


def compare_samples(samples: Samples, baseline: str | None = None) -> list[Group]:
    """Compare the samples of all labels in each environment, the best first."""
    refuse_unknown_label(samples, baseline)
    groups = _summarized(samples)
    if baseline is not None:
        groups = _corrected([_against(group, samples, baseline) for group in groups])
    return sorted(groups, key=lambda g: (g.env, g.mean[0] is None, -(g.mean[0] or 0.0) * sign_of(g.metric)))


def refuse_unknown_label(samples: Samples, baseline: str | None) -> None:
    """Refuse a baseline that no run has as its label."""
    if baseline is not None and baseline not in (labels := sorted({label for _, label in samples})):
        raise unknown("label", baseline, labels)


def collect_samples(rows: Iterable[Row], metric: str | None = None) -> dict[tuple[str, str], Sample]:
    """The samples of a study, of its metric or that of each environment."""
    if metric is not None and metric not in Metrics._fields:
        raise unknown("metric", metric, Metrics._fields)
    found: dict[tuple[str, str], _Collected] = {}
    own: dict[str, str] = {}
    for row in rows:
        if (group := found.get((row.env, row.label))) is None:
            group = found[row.env, row.label] = _Collected()
            own.setdefault(row.env, metric or default_metric(row.env))
        group.states[row.status] += 1
        if row.metrics is None:
            continue
        value, other = getattr(row.metrics, own[row.env]), row.metrics.mean_return
        diverged = row.status == "diverged"
        group.lacking = group.lacking or (value is None and not diverged)
        group.seeds.append(row.seed)
        group.values.append(math.nan if value is None or diverged else value)
        group.others.append(math.nan if other is None or diverged else other)
    for env, name in own.items():  # where a run completed no episode, all are compared by the mean return
        if metric is None and name == "final_return" and any(g.lacking for (of, _), g in found.items() if of == env):
            own[env] = "mean_return"
            for (of, _), group in found.items():
                group.values = group.others if of == env else group.values
    return {(env, label): _sample(own[env], group) for (env, label), group in found.items()}


def _sample(metric: str, group: _Collected) -> Sample:
    """The metric of every finished run; a run without one counts as diverged."""
    values = sign_of(metric) * np.array(group.values, np.float64)
    return Sample(metric, np.array(group.seeds, np.int64), scores(values), group.states)


def _summarized(samples: Samples) -> list[Group]:
    """Return the groups without comparison."""
    values = [sample.scores for sample in samples.values()]
    summaries = [summarize_many(values, statistic=statistic) for statistic in ("mean", "median", "iqm")]
    groups = []
    for i, ((env, label), sample) in enumerate(samples.items()):
        diverged, failed, waiting, corrupted = (sample.states[s] for s in STATES[1:])
        runs = diverged + sample.states["done"]
        mean, median, iqm = (ends_of(signed(summary[i][:3], sign_of(sample.metric))) for summary in summaries)
        groups.append(Group(env, label, sample.metric, runs, diverged, failed, waiting, corrupted, mean, median, iqm))
    return groups


def _against(group: Group, samples: Samples, baseline: str) -> Group:
    """Return the group with its difference from the baseline, if that is another group with runs in its environment."""
    mine, theirs = samples[group.env, group.label], samples.get((group.env, baseline))
    if group.label == baseline or theirs is None:
        return group
    at, other = common_seeds(mine.seeds, theirs.seeds)
    pair = paired(mine.scores[at], theirs.scores[other])
    better = probability_of_improvement(mine.scores, theirs.scores)
    difference = None
    if pair is not None and pair.difference is not None:
        difference = ends_of(signed(pair.difference, sign_of(group.metric)))
    chance = None if better is None else ends_of(better)
    p = None if pair is None else pair.p_rank if pair.dropped else pair.p
    return group._replace(baseline=baseline, difference=difference, p=p, better=chance)


def ends_of(estimate: Sequence[float | None]) -> tuple[float | None, float | None, float | None]:
    """A number and the ends of its interval, None where there is none; JSON has no NaN."""
    mean, low, high = (None if value is None or np.isnan(value) else float(value) for value in estimate)
    return mean, low, high


def _corrected(groups: Sequence[Group]) -> list[Group]:
    """Correct the p values for all comparisons."""
    tested = [i for i, group in enumerate(groups) if group.p is not None]
    corrected = dict(zip(tested, holm([groups[i].p or 0.0 for i in tested]), strict=True))
    return [group._replace(p=float(corrected[i])) if i in corrected else group for i, group in enumerate(groups)]
