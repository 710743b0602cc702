"""Compare the labels of a study, also with a baseline on common seeds."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ucls._util.earlier import NAMES
from ucls.core.metrics import Metrics, sign_of, signed
from ucls.envs import default_metric
from ucls.errors import unknown
from ucls.stats import common_seeds, holm, paired, probability_of_improvement, scores, summarize_many
from ucls.study.storage.records import Row


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
    """A metric of the runs of a group that ended: by seed, signed so that more is better."""

    seeds: np.ndarray
    scores: np.ndarray


def compare_study(rows: Sequence[Row], metric: str | None = None, baseline: str | None = None) -> list[Group]:
    """Compare all labels in each environment, the best first; shorter episodes are better."""
    if metric is not None and metric not in Metrics._fields:
        raise unknown("metric", metric, Metrics._fields, NAMES)
    if baseline is not None and baseline not in (labels := sorted({row.label for row in rows})):
        raise unknown("label", baseline, labels)
    members: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        members.setdefault((row.env, row.label), []).append(row)
    metrics = {env: metric or _own_metric(env, rows) for env, _ in members}
    samples = {(env, label): _sample(some, metrics[env]) for (env, label), some in members.items()}
    groups = _summarized(members, metrics, samples)
    if baseline is not None:
        groups = _corrected([_against(group, samples, baseline) for group in groups])
    return sorted(groups, key=lambda g: (g.env, g.mean[0] is None, -(g.mean[0] or 0.0) * sign_of(g.metric)))


def _own_metric(env: str, rows: Sequence[Row]) -> str:
    """The default metric of an environment; `mean_return` if a run completed no episode."""
    own = default_metric(env)
    sound = [row.metrics for row in rows if row.env == env and row.metrics is not None and row.status == "done"]
    lacking = own == "final_return" and any(metrics.final_return is None for metrics in sound)
    return "mean_return" if lacking else own


def _sample(rows: Sequence[Row], metric: str) -> Sample:
    """The metric of every finished run; a run without one counts as diverged."""
    ended = [row for row in rows if row.metrics is not None]
    sign = sign_of(metric)
    raw = [getattr(row.metrics, metric) for row in ended]
    values = [np.nan if value is None else sign * value for value in raw]
    seeds = np.array([row.seed for row in ended], np.int64)
    return Sample(seeds, scores(values, [row.status == "diverged" for row in ended]))


def _summarized(
    members: Mapping[tuple[str, str], Sequence[Row]],
    metrics: Mapping[str, str],
    samples: Mapping[tuple[str, str], Sample],
) -> list[Group]:
    """The groups by themselves."""
    values = [sample.scores for sample in samples.values()]
    summaries = [summarize_many(values, statistic=statistic) for statistic in ("mean", "median", "iqm")]
    groups = []
    for i, ((env, label), some) in enumerate(members.items()):
        states = [row.status for row in some]
        diverged, failed, waiting, corrupted = (states.count(s) for s in ("diverged", "failed", "waiting", "corrupted"))
        runs = len(some) - failed - waiting - corrupted
        mean, median, iqm = (_ends(signed(summary[i][:3], sign_of(metrics[env]))) for summary in summaries)
        groups.append(Group(env, label, metrics[env], runs, diverged, failed, waiting, corrupted, mean, median, iqm))
    return groups


def _against(group: Group, samples: Mapping[tuple[str, str], Sample], baseline: str) -> Group:
    """The group with how it differs from the baseline, if that is another and runs in its environment."""
    mine, theirs = samples[group.env, group.label], samples.get((group.env, baseline))
    if group.label == baseline or theirs is None:
        return group
    at, other = common_seeds(mine.seeds, theirs.seeds)
    pair = paired(mine.scores[at], theirs.scores[other])
    better = probability_of_improvement(mine.scores, theirs.scores)
    difference = None
    if pair is not None and pair.difference is not None:
        difference = _ends(signed(pair.difference, sign_of(group.metric)))
    chance = None if better is None else _ends(better)
    p = None if pair is None else pair.p_rank if pair.dropped else pair.p
    return group._replace(baseline=baseline, difference=difference, p=p, better=chance)


def _ends(estimate: Sequence[float | None]) -> tuple[float | None, float | None, float | None]:
    """A number and the ends of its interval, None where there is none; JSON has no NaN."""
    mean, low, high = (None if value is None or np.isnan(value) else float(value) for value in estimate)
    return mean, low, high


def _corrected(groups: Sequence[Group]) -> list[Group]:
    """Correct the p values for all comparisons."""
    tested = [i for i, group in enumerate(groups) if group.p is not None]
    corrected = dict(zip(tested, holm([groups[i].p or 0.0 for i in tested]), strict=True))
    return [group._replace(p=float(corrected[i])) if i in corrected else group for i, group in enumerate(groups)]
