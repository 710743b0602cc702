"""Long runs: does UCLS-Exact lose performance over ten times as many steps?

The run is split into tenths. The regret per step of the final tenth is compared with that of the best one, both as
fractions of the optimal reward per step.
"""

import numpy as np

from ucls.paper.beyond.comparison import NOT_RUN, exact
from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.figures.figure_1 import curve_caption, curve_panel
from ucls.paper.numbers import grouped, interval
from ucls.paper.runs.domains import CLASSIC, DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import Group
from ucls.stats import bootstrap_mean
from ucls.study.storage.result import Result

STEPS, TENTHS, LOST = 500_000, 10, 0.2
RUNS = {RIVER: 10, PUDDLE: 10, SPARSE: 4, CLASSIC: 4}


def group_of(env: str) -> Group:
    """The long runs."""
    return exact(env)._replace(steps=STEPS, most=RUNS[env])


def groups() -> list[Group]:
    """The runs behind the figure and the table."""
    return [group_of(env) for env in RUNS]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves of the long runs."""
    panels = tuple(curve_panel(evidence, env, {"ucls-exact": group_of(env)}) for env in RUNS)
    return (Plot("beyond-long", f"UCLS-Exact over {STEPS:,} steps", curve_caption(RUNS), panels),)


def regrets(result: Result, rate: float, resolution: int) -> np.ndarray:
    """The regret per step of every tenth of a run, as a fraction of the optimal reward per step."""
    curve = result.arrays["curve"]
    bins = np.full(len(curve), resolution)
    bins[-1] = result.steps - bins[:-1].sum()
    tenths = min(TENTHS, len(curve))
    earned, steps = ([part.sum() for part in np.array_split(values, tenths)] for values in (curve, bins))
    return (rate - np.array(earned) / np.array(steps)) / abs(rate)


HEADS = ["domain", "final 10%", "best 10%", "final minus best", "runs that lost more than 20%", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain: means over runs with their intervals."""
    lines = []
    for env in RUNS:
        sound = [result for _, result in evidence.results(group_of(env)) if not result.diverged]
        lost = len(evidence.results(group_of(env))) - len(sound)
        title = DOMAINS[env].title
        if not sound:
            lines.append([title, f"all {lost} diverged" if lost else NOT_RUN, "-", "-", "-", str(lost)])
            continue
        resolution = evidence.resolution(group_of(env))
        by_run = np.array([regrets(result, optimum(env).reward_rate, resolution) for result in sound])
        last, best = by_run[:, -1], by_run.min(axis=1)
        means = [interval(bootstrap_mean(values), grouped) for values in (last, best, last - best)]
        worse = f"{int((last - best > LOST).sum()) + lost} of {len(sound) + lost}"
        lines.append([title, *means, worse, str(len(sound) + lost)])
    return lines
