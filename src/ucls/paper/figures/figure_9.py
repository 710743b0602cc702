"""Figure 9: the final policies of UCLS and GV-UCB in River Swim, greedy on the mean and on mean + radius."""

import functools
from typing import NamedTuple

import numpy as np

from ucls._util.palette import BLUSH, INK, SKY, STYLES
from ucls.core.run import Run
from ucls.core.saving import checkpoint
from ucls.diagnostics import Policies, policies
from ucls.paper.drawing.plot import Line, Panel, Plot, line_of, points_of
from ucls.paper.evidence import REWARD_STEPS, Evidence, optimum, reward_band
from ucls.paper.figures.figure_1 import THOUSAND
from ucls.paper.figures.figure_2 import LEVELS, group_of
from ucls.paper.runs.domains import RIVER
from ucls.paper.runs.groups import Group, ucls
from ucls.stats import summarize

PALE = {"ucls": SKY, "gv-ucb": BLUSH}  # of what was earned while learning


class Ended(NamedTuple):
    """The final policies of a group's runs: their values in every state, and their reward per step."""

    seeds: np.ndarray
    states: np.ndarray
    optimal: np.ndarray
    mean: np.ndarray
    bound: np.ndarray
    weights: np.ndarray
    earned: np.ndarray

    def regrets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the regret of the two policies of every run from the start states."""
        return (self.optimal - self.mean) @ self.weights, (self.optimal - self.bound) @ self.weights


def shown() -> dict[str, Group]:
    """UCLS, and GV-UCB at the p of the caption."""
    return {"ucls": ucls(RIVER), "gv-ucb": group_of("gv-ucb", LEVELS[0])}


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return list(shown().values())


@functools.lru_cache(maxsize=8)
def ended(evidence: Evidence, group: Group) -> Ended | None:
    """Evaluate the final policies of the runs of a group, exactly."""
    final: list[Policies] = []
    seeds = []
    for seed, result in evidence.results(group):
        if result.learner is not None:
            about, arrays = checkpoint.from_bytes(result.learner)
            final.append(policies(Run.revive(about, arrays)))
            seeds.append(seed)
    if not final:
        return None
    one = final[0]
    mean, bound = np.array([p.mean for p in final]), np.array([p.bound for p in final])
    earned = np.array([p.earned for p in final])
    return Ended(np.array(seeds), one.states[:, 0], one.optimal, mean, bound, one.d, earned)


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """Return the values of both policies over the river, and their reward compared with that during learning."""
    lines, rewards = [], []
    optimal, best = None, optimum(RIVER).reward_rate
    for key, group in shown().items():
        name, color = STYLES[key]
        if (end := ended(evidence, group)) is None:
            continue
        at = slice(None, None, max(1, len(end.states) // 100))
        optimal = Line("optimal policy", INK, end.states[at], end.optimal[at], dash=True)
        learning = reward_band(evidence.results(group), evidence.resolution(group))
        rewards.append(line_of(learning, key, f"{name}, learning", THOUSAND)._replace(color=PALE[key]))
        for which, values, earned in (("M", end.mean, end.earned[:, 0]), ("M+CIR", end.bound, end.earned[:, 1])):
            columns = [summarize(column) for column in values[:, at].T]
            points = [(x, *c[:4]) for x, c in zip(end.states[at], columns, strict=True)]
            one = points_of(f"{name} ({which})", color, points)
            lines.append(one._replace(points=False, dash=which == "M+CIR"))
            level = summarize(earned)
            ends = [(x, *level[:4]) for x in (0.0, evidence.steps(group) / THOUSAND)]
            flat = points_of(f"{name} ({which})", color, ends)
            rewards.append(flat._replace(points=False, dash=which == "M+CIR"))
    panels = (
        Panel("value over the river", "position", "value of the policy", (*lines, *([optimal] if optimal else []))),
        Panel("against learning", "thousand steps", "reward per step", tuple(rewards), best, limits=(0, None)),
    )
    caption = (
        "Exact values of the policies after the last step: greedy on the mean (M) and on mean + radius (M+CIR), the "
        f"mean over runs. UCLS with p = 0.1, GV-UCB with p = {LEVELS[0]:g}, as printed. On the right their "
        "reward per step, as flat lines, and that of the agent while it learned (the last "
        f"{REWARD_STEPS:,} steps)."
    )
    return (Plot("figure-9", "Final policies in River Swim", caption, panels),)
