"""Runs behind claims that no figure of the paper shows: the theorem along a run, UCLS's solvers, RLSVI's schedule."""

from typing import Any

import numpy as np

from ucls._util.palette import AMBER, BLUE, GREEN, STYLES, VERMILION
from ucls.paper.drawing.plot import Line, Panel, Plot
from ucls.paper.evidence import Evidence
from ucls.paper.runs.domains import PUDDLE, RIVER
from ucls.paper.runs.groups import ENOUGH, Group, tuned, ucls
from ucls.stats import Curves, band

SOLVERS = ("preconditioned", "sherman_morrison", "fixed_step", "conjugate_gradient", "direct", "pseudo_inverse")
LONG = 1_000_000
WIDE = 1000.0  # a c_max with which UCLS is optimistic at the start: by itself it never is


def solver(name: str) -> Group:
    """UCLS in River Swim with another way to move w."""
    return ucls(RIVER) if name == SOLVERS[0] else ucls(RIVER, solver=name)


def theorem(key: str, **settings: Any) -> Group:
    """Runs along which the Optimistic Values Theorem is measured, from the start states."""
    given = {"p": 0.01, **settings} if key == "gv-ucb" else settings
    return Group(key, RIVER, key, tuple(given.items()), probe="start", heavy=True)


def optimistic() -> Group:
    """Return runs of UCLS that are optimistic at the start, for which the theorem has consequences."""
    return theorem("ucls", c_max=WIDE)._replace(deep=True)


def frequent_rlsvi() -> Group:
    """RLSVI in River Swim, sampling fifty times as often as in the paper."""
    return tuned("rlsvi", RIVER, resample_every=100)


def long_rlsvi() -> Group:
    """RLSVI in Puddle World with the million steps that the paper gives it."""
    return tuned("rlsvi", PUDDLE)._replace(steps=LONG, heavy=True, least=ENOUGH)


def groups() -> list[Group]:
    """Return the runs behind the claims."""
    more = [frequent_rlsvi(), long_rlsvi(), theorem("ucls"), optimistic(), theorem("gv-ucb")]
    return [*(solver(name) for name in SOLVERS), *more]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The quantities of the theorem along the runs."""
    panels = []
    names = {"optimism": GREEN, "radius": BLUE, "value_error": AMBER, "regret": VERMILION}
    for key in ("ucls", "gv-ucb"):
        runs = [result for _, result in evidence.results(theorem(key)) if not result.diverged]
        lines = []
        for name, color in names.items() if runs else ():
            heights = np.array([run.arrays[f"probe.{name}"] for run in runs])
            at = runs[0].arrays["probe.step"]
            middle = band(Curves(at, heights, np.ones_like(heights, bool)), "median")
            label = name.replace("_", " ")
            lines.append(Line(label, color, at / 1000, middle.center, middle.low, middle.high, middle.runs))
        panels.append(
            Panel(
                STYLES[key][0], "thousand steps", "value, from the start states", tuple(lines), 0.0, optimum_label="0"
            )
        )
    caption = (
        "Along runs in River Swim, from the start states: optimism E[Q~ - Q*], radius f(t), value error g(t) and "
        "regret of the policy that is followed; medians. Where optimism is not below 0, regret is at most f + g."
    )
    return (Plot("theorem", "The Optimistic Values Theorem along a run", caption, tuple(panels)),)
