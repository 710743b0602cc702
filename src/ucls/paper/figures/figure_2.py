"""Figure 2: how the confidence p changes UCLS and GV-UCB in River Swim."""

from ucls._util.palette import BLUES, STYLES
from ucls.paper.drawing.plot import Line, Panel, Plot, line_of, points_of
from ucls.paper.evidence import REWARD_STEPS, Evidence, optimum, reward_band
from ucls.paper.figures.figure_1 import THOUSAND
from ucls.paper.runs.domains import RIVER
from ucls.paper.runs.groups import Group, counts_only, ucls

LEVELS = (1e-5, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.1)
SHOWN = (1e-5, 0.001, 0.01, 0.1)
BESIDE = ("gv-ucb-corrected", "ucls-counts")  # not in the paper, and at these levels only


def group_of(agent: str, p: float) -> Group:
    """Return the runs of an algorithm with a confidence; GV-UCB as printed, or with Corollary 1 corrected.

    `ucls-counts` is UCLS with nothing learned of the variance.
    """
    if agent == "ucls":
        return ucls(RIVER) if p == 0.1 else ucls(RIVER, p=p)
    if agent == "ucls-counts":
        return counts_only(RIVER) if p == 0.1 else counts_only(RIVER, p=p)
    settings = {"p": p} | ({"global_cov": "corrected"} if agent == "gv-ucb-corrected" else {})
    keep = agent == "gv-ucb" and p == LEVELS[0]
    return Group(agent, RIVER, "gv-ucb", tuple(settings.items()), keep=keep)


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    printed = [group_of(agent, p) for agent in ("ucls", "gv-ucb") for p in LEVELS]
    return printed + [group_of(agent, p) for agent in BESIDE for p in SHOWN]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The reward over steps at four levels, and the whole reward at every level."""
    best = optimum(RIVER).reward_rate
    panels = []
    for agent in ("ucls", "gv-ucb"):
        lines = []
        for p, shade in zip(SHOWN, BLUES, strict=True):
            group = group_of(agent, p)
            if results := evidence.results(group):
                band = reward_band(results, evidence.resolution(group))
                lines.append(line_of(band, agent, f"p = {p:g}", THOUSAND)._replace(color=shade))
        title = STYLES[agent][0]
        panels.append(Panel(title, "thousand steps", "reward per step", tuple(lines), best, limits=(0, None)))
    bars = [bar for agent in ("ucls", "gv-ucb", *BESIDE) if (bar := _sensitivity(evidence, agent))]
    steps = evidence.steps(ucls(RIVER))
    panels.append(Panel("all steps", "p", "reward", tuple(bars), best * steps, log_x=True, limits=(0, None)))
    caption = (
        f"Reward per step over the last {REWARD_STEPS:,} steps at four levels, and the reward of all steps at every "
        "level of the paper; GV-UCB as its box prints it and, at four levels, with the covariance that Corollary 1 "
        "assumes; UCLS also with B = I and a = 0, so that its radius only counts visits."
    )
    return (Plot("figure-2", "Sensitivity to the confidence p in River Swim", caption, tuple(panels)),)


def _sensitivity(evidence: Evidence, agent: str) -> Line | None:
    points = []
    for p in SHOWN if agent in BESIDE else LEVELS:
        mean = evidence.sample(group_of(agent, p), "reward").mean
        if mean.center is not None:
            points.append((p, mean.center, mean.low, mean.high, mean.runs))
    if not points:
        return None
    name, color = STYLES[agent]
    return points_of(name, color, points)
