"""Classic Mountain Car: UCLS compared with DGPQ, whose reward shift turns the sparse task into this one."""

from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence
from ucls.paper.figures.figure_1 import curve_panel, episode_panel
from ucls.paper.runs.domains import CLASSIC
from ucls.paper.runs.groups import Group, tuned, ucls


def shown() -> dict[str, Group]:
    """Return the compared algorithms."""
    return {"ucls": ucls(CLASSIC), "dgpq": tuned("dgpq", CLASSIC)}


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return list(shown().values())


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves over steps and over episodes."""
    panels = (curve_panel(evidence, CLASSIC, shown()), episode_panel(evidence, CLASSIC, shown()))
    return (Plot("mountain-car", "Classic Mountain Car", "UCLS untuned, DGPQ tuned.", panels),)
