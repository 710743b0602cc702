"""Compare the labels of a study: what each achieved, and how it differs from a baseline on common seeds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.envs import default_measure
from ucls.errors import unknown
from ucls.runs.measures import Measures, sign_of, signed
from ucls.stats import common_seeds, holm, paired, probability_of_improvement, scores, summarise_many
from ucls.study.store import Row
from ucls.tables import console, fits, print_table


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
    found = []
    for i, ((env, label), members) in enumerate(groups.items()):
        mean, median, iqm = (signed(summary[i][:3], sign_of(measures[env])) for summary in summaries)
        states = [row.status for row in members]
        diverged, failed, waiting, damaged = (states.count(s) for s in ("diverged", "failed", "waiting", "damaged"))
        runs = len(members) - failed - waiting - damaged
        group = Group(env, label, measures[env], runs, diverged, failed, waiting, damaged, mean, median, iqm)
        if baseline is not None and label != baseline and (env, baseline) in samples:
            group = _against(group, samples[env, label], samples[env, baseline], baseline)
        found.append(group)
    tested = [i for i, group in enumerate(found) if group.p is not None]
    for i, p in zip(tested, holm([found[i].p or 0.0 for i in tested]), strict=True):
        found[i] = found[i]._replace(p=float(p))
    return sorted(found, key=lambda g: (g.env, g.mean[0] is None, -(g.mean[0] or 0.0) * sign_of(g.measure)))


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


def print_comparison(groups: Sequence[Group], to: Any = None) -> None:
    """Print a table for each environment."""
    from rich.markup import escape

    to = to or console()
    for env in dict.fromkeys(group.env for group in groups):
        mine = [group for group in groups if group.env == env]
        title, heads = f"{env}: {mine[0].measure}", ["label", "runs", "mean", "95%", "median", "IQM"]
        against = next((group.baseline for group in mine if group.baseline), None)
        rows = [_words(group, against is not None, escape(group.label)) for group in mine]
        more = [f"less {against}", "95%", "p", "better"] if against is not None else []
        if fits([*heads, *more], rows, to):
            print_table([*heads, *more], rows, title, to)
            continue
        print_table(heads, [row[: len(heads)] for row in rows], title, to)
        if more:
            compared = [[row[0], *row[len(heads) :]] for row in rows if any(row[len(heads) :])]
            print_table([heads[0], *more], compared, f"{title}, less {against}", to)
    if any(group.baseline for group in groups):
        note = (
            "differences on common seeds; p: permutation test, Holm's correction; better: chance to beat the baseline"
        )
        to.print(f"[dim]{note}[/]")


def _words(group: Group, against: bool, label: str) -> list[str]:
    trouble = [f"{n} {word}" for word in ("diverged", "failed", "waiting", "damaged") if (n := getattr(group, word))]
    if trouble:
        label += f" [red]({', '.join(trouble)})[/]"
    cells = [label, str(group.runs), _number(group.mean[0]), _interval(group.mean), _number(group.median[0])]
    cells.append(_number(group.iqm[0]))
    if against and not group.baseline:
        cells += [""] * 4
    if against and group.baseline:
        d, b = group.difference, group.better
        cells += [_number(d[0]) if d else "-", _interval(d) if d else "-"]
        cells += ["-" if group.p is None else f"{group.p:.2g}", f"{b[0]:.2f}" if b else "-"]
    return cells


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:,.4g}" if abs(x) < 1e4 else f"{x:,.0f}"


def _interval(values: Sequence[float | None]) -> str:
    return "-" if values[1] is None else f"{_number(values[1])}..{_number(values[2])}"
