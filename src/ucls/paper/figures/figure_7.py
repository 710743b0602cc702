"""Figure 7: additional methods: optimistic Sarsa, GV-UCB and DGPQ compared with UCLS."""

from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence
from ucls.paper.figures.figure_1 import curve_panel
from ucls.paper.runs.domains import SPARSE
from ucls.paper.runs.groups import MAIN, Group, tuned, ucls

P = 0.5


def gv_ucb(env: str) -> Group:
    """GV-UCB at the p of the figure's caption."""
    return Group("gv-ucb", env, "gv-ucb", (("p", P),), heavy=env == SPARSE)


def shown(env: str) -> dict[str, Group]:
    """Return the algorithms of a panel."""
    baselines = {key: tuned(key, env) for key in ("sarsa-optimistic", "dgpq")}
    return {"ucls": ucls(env), **baselines, "gv-ucb": gv_ucb(env)}


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return [group for env in MAIN for group in shown(env).values()]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves."""
    caption = f"Sarsa with optimistic values and DGPQ, both tuned; GV-UCB with p = {P} as in the paper; UCLS untuned."
    panels = tuple(curve_panel(evidence, env, shown(env)) for env in MAIN)
    return (Plot("figure-7", "Additional methods", caption, panels),)
