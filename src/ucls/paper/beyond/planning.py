"""UCLS-Plan compared with UCLS-Exact, and with optimistic Sarsa and UCLS-L with tuned settings.

In every domain with default settings; in River Swim also without `return_max`, and in Deep Sea up to size 100.
"""

from typing import Any

from ucls._util.palette import STYLES
from ucls.paper.beyond.comparison import METRICS, NOT_RUN, WORDS, apart, each_run, optimistic_sarsa, sample
from ucls.paper.beyond.deep_sea import solved, spread
from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import FINAL, Evidence, optimum
from ucls.paper.figures.figure_1 import curve_caption, curve_panel
from ucls.paper.numbers import grouped, mean_of_runs
from ucls.paper.runs.domains import CLASSIC, DEEP_SEA, DOMAINS, ONE_STATE, PUDDLE, RIVER, ROOM, SPARSE
from ucls.paper.runs.groups import Group, tuned

PLAN, UNTOLD = "ucls-plan", "UCLS-Plan, return_max not given"
NEAR = 0.1  # of the optimum
SIZES = {20: 400, 50: 400, 100: 700}  # of Deep Sea, with the number of episodes
SLOW = (SPARSE, CLASSIC)  # where UCLS-Exact takes a minute per run
MANY, FEW = 30, 10  # runs
HEADS = [
    *("domain", "metric", "algorithm", "mean", "UCLS-Plan minus it"),
    *("worst run", "optimum", "runs within 10% of optimum", "runs"),
]


def plan(env: str, **settings: Any) -> Group:
    """UCLS-Plan with default settings, or with these."""
    steps = 20_000 if env == ONE_STATE else 50_000
    return Group(PLAN, env, PLAN, tuple(settings.items()), steps, reading=ROOM)


def deep_sea(size: int) -> Group:
    """UCLS-Plan in Deep Sea of a size; each seed has its own action map."""
    most = MANY if size < max(SIZES) else FEW
    return plan(DEEP_SEA, size=size)._replace(steps=size * SIZES[size], most=most, by_seed="mapping_seed")


def shown(env: str) -> dict[str, Group]:
    """The algorithms in a domain, by their name in tables."""
    exact = Group("ucls-exact", env, "ucls-exact", (), plan(env).steps, reading=ROOM, most=FEW if env in SLOW else None)
    groups = {"UCLS-Plan": plan(env), "UCLS-Exact": exact}
    if env in (SPARSE, PUDDLE, RIVER):
        groups |= {STYLES[key][0]: tuned(key, env, ROOM) for key in ("sarsa-optimistic", "ucls-l")}
    else:
        groups["Sarsa, optimistic"] = optimistic_sarsa(env)._replace(steps=plan(env).steps)
    return groups | ({UNTOLD: plan(env, return_max="unknown")} if env == RIVER else {})


ENVS = (SPARSE, PUDDLE, RIVER, CLASSIC, ONE_STATE)


def groups() -> list[Group]:
    """The runs behind the figure and the table."""
    return [group for env in ENVS for group in shown(env).values()] + [deep_sea(size) for size in SIZES]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """Learning curves in every domain."""
    panels = tuple(
        curve_panel(evidence, env, {group.key: group for name, group in shown(env).items() if name != UNTOLD})
        for env in ENVS
    )
    return (Plot("planning", "UCLS-Plan and baselines", curve_caption(ENVS), panels),)


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, metric and algorithm, and for each size of Deep Sea."""
    lines = []
    for env in ENVS:
        for metric in dict.fromkeys((*METRICS.get(env, ()), FINAL[env])):
            mine = sample(evidence, plan(env), metric)
            for name, group in shown(env).items():
                values = sample(evidence, group, metric)
                mean = mean_of_runs(values.mean, grouped, NOT_RUN)
                less = "-" if group == plan(env) else apart(evidence, mine, values)[0]
                worst = values.sign * float(values.scores.min()) if len(values.scores) else None
                level, near = _near(env, metric, values)
                found = NOT_RUN if worst is None else grouped(worst), level, near, str(len(values.scores))
                lines.append([DOMAINS[env].title, WORDS[metric], name, mean, less, *found])
    return [*lines, *(_solved(evidence, size) for size in SIZES)]


def _near(env: str, metric: str, values: Any) -> tuple[str, str]:
    """The optimum of a final metric, and how many runs come within a tenth of it; a dash for other metrics."""
    best = optimum(env)
    levels = {
        "final_reward_per_step": best.reward_rate,
        "final_return": best.episode_return,
        "final_episode_length": best.episode_steps,
    }
    if (level := levels.get(metric)) is None:
        return "-", "-"
    near = sum(values.sign * (value - level) >= -NEAR * abs(level) for value in each_run(values))
    return grouped(level), f"{near} of {len(values.scores)}"


def _solved(evidence: Evidence, size: int) -> list[str]:
    """The episodes until Deep Sea of a size is solved: the median run, and the slowest."""
    runs = solved(evidence, deep_sea(size))
    title, metric = f"Deep Sea, size {size}", "episodes until solved"
    if not runs:
        return [title, metric, "UCLS-Plan", NOT_RUN, "-", "-", "-", "-", "0"]
    middle, _, slowest = spread(runs)
    count = f"{len(runs) - runs.count(None)} of {len(runs)} solved"
    return [title, metric, "UCLS-Plan", f"{middle} (median)", "-", str(slowest), "-", count, str(len(runs))]
