"""Figure 1: learning curves of UCLS and its baselines in the three domains."""

from collections.abc import Iterable, Mapping
from typing import Any

from ucls.paper.drawing.plot import Line, Panel, Plot, line_of
from ucls.paper.evidence import (
    EPISODES,
    REWARD_STEPS,
    Evidence,
    episode_band,
    episodes_band,
    optimum,
    reward_band,
    thinned,
)
from ucls.paper.figures.figure_theorem import long_rlsvi
from ucls.paper.numbers import listing
from ucls.paper.runs.domains import DOMAINS, ONE_STATE, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import MAIN, Group, contenders
from ucls.stats import band, cumulative_reward

THOUSAND = 1000.0
CONTINUING = (RIVER, ONE_STATE)  # without episodes: their curves show the reward per step


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return [*(group for env in MAIN for group in contenders(env).values()), long_rlsvi()]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The curves over steps, and over episodes as the paper prints the episodic domains."""
    title = "Learning curves in the three domains"
    by_steps = tuple(curve_panel(evidence, env, contenders(env)) for env in MAIN)
    long = {**contenders(PUDDLE), "rlsvi": long_rlsvi()}
    by_episodes = (
        episode_panel(evidence, SPARSE, contenders(SPARSE)),
        episode_panel(evidence, PUDDLE, long)._replace(log_x=True),  # RLSVI finishes twenty times as many as the others
        total_panel(evidence, RIVER, contenders(RIVER)),
    )
    caption = f"{curve_caption(MAIN)} Competitors are tuned on other seeds; UCLS is not tuned."
    more = (
        "The same over episodes, as the paper prints it: a line ends where no run finished more episodes. RLSVI has a "
        "million steps in Puddle World, as there. In River Swim the reward of all steps so far, mean over runs."
    )
    return Plot("figure-1", title, caption, by_steps), Plot("figure-1-episodes", title, more, by_episodes)


def curve_caption(envs: Iterable[str]) -> str:
    """What the learning curves of `curve_panel` in these domains show."""
    means = listing([DOMAINS[env].title for env in envs if env in CONTINUING])
    rest = f" (in {means} the mean reward of the last {REWARD_STEPS:,} steps)" if means else ""
    return f"Median over runs of the last {EPISODES} episodes{rest}, with 95% bootstrap bands."


def curve_panel(evidence: Evidence, env: str, shown: Mapping[str, Group], **world: Any) -> Panel:
    """Return the learning curves of some groups in a domain, over steps; `world` are its non-default settings."""
    best = optimum(env, **world)
    lines: list[Line] = []
    steps = 0
    for key, group in shown.items():
        if not (results := evidence.results(group)):
            continue
        steps = max(steps, evidence.steps(group))
        if env in CONTINUING:
            band = reward_band(results, evidence.resolution(group))
        elif env == PUDDLE:
            band = episode_band(results, evidence.steps(group), "episode_returns", -1)
        else:
            band = episode_band(results, evidence.steps(group), "episode_steps")
        lines.append(line_of(band, key, scale=THOUSAND))
    title = ", ".join([DOMAINS[env].title, *(f"{name} {value:g}" for name, value in world.items())])
    if env in CONTINUING:
        return Panel(title, "thousand steps", "reward per step", tuple(lines), best.reward_rate, limits=(0, None))
    if env == PUDDLE:
        return Panel(title, "thousand steps", "cost per episode", tuple(lines), -best.episode_return, log_y=True)
    return Panel(title, "thousand steps", "steps per episode", tuple(lines), best.episode_steps, log_y=True)


def episode_panel(evidence: Evidence, env: str, shown: Mapping[str, Group]) -> Panel:
    """The learning curves of some groups in an episodic domain, over episodes."""
    best = optimum(env)
    array, sign = ("episode_returns", -1) if env == PUDDLE else ("episode_steps", 1)
    lines = [
        line_of(episodes_band(results, array, sign), key)
        for key, group in shown.items()
        if (results := evidence.results(group))
    ]
    line = -best.episode_return if env == PUDDLE else best.episode_steps
    y = "cost per episode" if env == PUDDLE else "steps per episode"
    return Panel(DOMAINS[env].title, "episodes", y, tuple(lines), line, log_y=True)


def total_panel(evidence: Evidence, env: str, shown: Mapping[str, Group]) -> Panel:
    """The reward of all steps so far, over steps."""
    lines = []
    for key, group in shown.items():
        if results := [result for _, result in evidence.results(group)]:
            curves = [result.arrays["curve"] for result in results]
            totals = cumulative_reward(curves, evidence.resolution(group), [result.steps for result in results])
            lines.append(line_of(thinned(band(totals, "mean")), key, scale=THOUSAND))
    return Panel(DOMAINS[env].title, "thousand steps", "reward so far", tuple(lines), limits=(0, None))
