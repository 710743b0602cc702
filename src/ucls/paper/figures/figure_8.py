"""Figure 8: the best and the worst runs of UCLS and DGPQ."""

import numpy as np

from ucls._util.palette import STYLES
from ucls.envs import default_metric
from ucls.paper.drawing.plot import Line, Panel, Plot
from ucls.paper.evidence import EPISODES, REWARD_STEPS, Evidence, optimum
from ucls.paper.runs.domains import DOMAINS, PUDDLE, RIVER
from ucls.paper.runs.groups import MAIN, Group, tuned, ucls
from ucls.stats import moving_mean
from ucls.study.storage.result import Result


def shown(env: str) -> dict[str, Group]:
    """Return the algorithms of a panel."""
    return {"ucls": ucls(env), "dgpq": tuned("dgpq", env)}


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return [group for env in MAIN for group in shown(env).values()]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The best and the worst run of both in each domain."""
    panels = []
    for env in MAIN:
        best, lines = optimum(env), []
        for key, group in shown(env).items():
            results = [result for _, result in evidence.results(group)]
            ranked = sorted(results, key=lambda r: (not r.diverged, getattr(r.metrics, default_metric(env))))
            for which, run in (("worst", ranked[0]), ("best", ranked[-1])) if ranked else ():
                name, color = STYLES[key]
                label = f"{name}, {which}" + (" (diverged)" if run.diverged else "")
                lines.append(Line(label, color, *_curve(run, env, evidence.resolution(group)), dash=which == "worst"))
        level = {RIVER: best.reward_rate, PUDDLE: -(best.episode_return or 0)}.get(env, best.episode_steps)
        y = {RIVER: "reward per step", PUDDLE: "cost per episode"}.get(env, "steps per episode")
        limits = (0, None) if env == RIVER else (None, None)
        panels.append(
            Panel(DOMAINS[env].title, "thousand steps", y, tuple(lines), level, log_y=env != RIVER, limits=limits)
        )
    caption = (
        "The best and the worst run of each by the domain's metric: means of "
        f"{EPISODES} episodes or {REWARD_STEPS:,} steps."
    )
    return (Plot("figure-8", "Best and worst runs of UCLS and DGPQ", caption, tuple(panels)),)


def _curve(run: Result, env: str, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """One run over thousands of steps."""
    if env == RIVER:
        sums = run.arrays["curve"]
        rate = moving_mean(sums, max(1, REWARD_STEPS // resolution)) / resolution
        return np.arange(1, len(sums) + 1) * resolution / 1000, rate
    lengths = run.arrays["episode_steps"]
    values = -run.arrays["episode_returns"] if env == PUDDLE else lengths
    return np.cumsum(lengths) / 1000, moving_mean(values, EPISODES)
