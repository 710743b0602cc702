"""Sensitivity of UCLS-Exact to its prior: v0, the maximum return (`return_max`), and m, its weight in visits."""

from ucls._util.palette import VIOLETS
from ucls.paper.beyond.comparison import WORDS, exact, sample
from ucls.paper.drawing.plot import Panel, Plot, points_of
from ucls.paper.evidence import Evidence
from ucls.paper.runs.domains import CLASSIC, DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import Group
from ucls.stats import Summary

# The more visits the prior is worth, the darker.
COLORS = dict(zip((0.1, 0.3, 1.0, 3.0, 10.0), VIOLETS, strict=True))
VALUES = {
    RIVER: (5.0, 10.0, 22.0, 50.0, 100.0, 200.0, 1000.0),
    PUDDLE: (-30.0, -10.0, 0.0, 1.0, 10.0, 30.0, 100.0),
    SPARSE: (0.3, 1.0, 2.0, 5.0, 10.0),
    CLASSIC: (-100.0, -30.0, 0.0, 10.0, 100.0),
}
DECLARED = {RIVER: 100.0, PUDDLE: 0.0, SPARSE: 1.0, CLASSIC: 0.0}
SHOWN = {RIVER: "reward", PUDDLE: "final_return", SPARSE: "goals", CLASSIC: "goals"}
CARS, CAR_STEPS = (SPARSE, CLASSIC), 20_000


def group_of(env: str, v0: float, m: float) -> Group:
    """The runs with a v0 and an m."""
    group = exact(env, return_max=v0, prior_visits=m)
    return group._replace(steps=CAR_STEPS, most=3) if env in CARS else group._replace(most=5)


def levels(env: str) -> tuple[float, ...]:
    """The values of m in a domain."""
    return tuple(m for m in COLORS if env not in CARS or 0.3 <= m <= 3.0)


def groups() -> list[Group]:
    """The runs behind the figure."""
    return [group_of(env, v0, m) for env, tried in VALUES.items() for v0 in tried for m in levels(env)]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The metric of each domain over v0, a line for each m, and the level with the declared values."""
    caption = (
        "Mean performance over v0 (`return_max`) with 95% intervals, a line for each m. The dashed line is the level "
        f"with the declared v0 and m = 1. The two Mountain Car domains have {CAR_STEPS:,} steps."
    )
    panels = tuple(panel(evidence, env) for env in VALUES)
    return (Plot("beyond-map", "Sensitivity to return_max", caption, panels),)


def panel(evidence: Evidence, env: str) -> Panel:
    """One domain."""
    lines = []
    for m in levels(env):
        means = {v0: mean_of(evidence, env, v0, m) for v0 in VALUES[env]}
        points = [(v0, x.center, x.low, x.high, x.runs) for v0, x in means.items() if x.center is not None]
        lines += [points_of(f"m = {m:g}", COLORS[m], points)] if points else []
    usual = mean_of(evidence, env, DECLARED[env], 1.0).center
    costs = env == PUDDLE
    return Panel(
        DOMAINS[env].title,
        f"v0; {DECLARED[env]:g} is declared",
        "cost per episode" if costs else WORDS[SHOWN[env]],
        tuple(lines),
        usual,
        log_x=min(VALUES[env]) > 0,
        log_y=costs,
        limits=(None if costs else 0, None),
        optimum_label="as declared, m = 1",
    )


def mean_of(evidence: Evidence, env: str, v0: float, m: float) -> Summary:
    """The mean of the domain's metric; in Puddle World as a cost."""
    values = sample(evidence, group_of(env, v0, m), SHOWN[env])
    return values._replace(sign=-1 if env == PUDDLE else values.sign).mean
