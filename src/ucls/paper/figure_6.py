"""Figure 6: UCLS-L, at linear cost, beside UCLS."""

from ucls.figures.plot import Plot
from ucls.paper.domains import SPARSE
from ucls.paper.evidence import Evidence
from ucls.paper.figure_1 import curve_panel
from ucls.paper.groups import MAIN, Group, tuned, ucls


def shown(env: str) -> dict[str, Group]:
    """UCLS and UCLS-L, and UCLS with its p swept as UCLS-L's was in Sparse Mountain Car."""
    swept = {"ucls-p": tuned("ucls-p", SPARSE)} if env == SPARSE else {}
    return {"ucls": ucls(env), "ucls-l": tuned("ucls-l", env), **swept}


def groups() -> list[Group]:
    """What the figure is made of."""
    return [group for env in MAIN for group in shown(env).values()]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves."""
    caption = (
        "UCLS, untuned, and UCLS-L with its p and step sizes tuned; in Sparse Mountain Car also UCLS with p swept."
    )
    panels = tuple(curve_panel(evidence, env, shown(env)) for env in MAIN)
    return (Plot("figure-6", "UCLS-L, the linear version", caption, panels),)
