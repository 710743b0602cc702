"""The parts of a reproduction: every figure and table, of the paper and beyond it, with one interface.

A part is a module with `groups()`, the runs that it is made of, and with `plots(evidence)`, or with `HEADS` and
`rows(evidence)`, or with both: figures, a table, or figures and a table.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from ucls.errors import unknown
from ucls.paper.beyond import bars, comparison, deep_sea, long, parts, planning
from ucls.paper.beyond import map as settings_map
from ucls.paper.claims import CLAIMS
from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence
from ucls.paper.figures import (
    figure_1,
    figure_2,
    figure_3,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    figure_mountain_car,
    figure_theorem,
)
from ucls.paper.runs.groups import Group
from ucls.paper.tables import table_causes, table_learned, table_one_setting, table_open_choices

Table = tuple[str, list[str], list[list[str]]]  # the title, the heads, the rows


class Part(NamedTuple):
    """A part by its name: its module, the title of its table if it has one, and when it is made.

    `beyond` marks what is no part of the paper, `asked` what is made only if it is named.
    """

    name: str
    module: ModuleType
    title: str = ""
    beyond: bool = False
    asked: bool = False

    def groups(self) -> list[Group]:
        """The runs that it consists of, and those of its claims."""
        return [*self.module.groups(), *(group for number in self.claims for group in CLAIMS[number].runs())]

    @property
    def claims(self) -> list[int]:
        """The numbers of its claims, whose runs it includes."""
        return sorted(number for number, claim in CLAIMS.items() if claim.part == self.name)

    @property
    def draws(self) -> bool:
        """Whether it has figures."""
        return hasattr(self.module, "plots")

    def plots(self, evidence: Evidence) -> tuple[Plot, ...]:
        """Its figures, if it has any."""
        return self.module.plots(evidence) if self.draws else ()

    def tables(self, evidence: Evidence) -> list[Table]:
        """Its table, if it has one."""
        return [(self.title, self.module.HEADS, self.module.rows(evidence))] if self.title else []


PARTS = (
    Part("1", figure_1),
    Part("2", figure_2),
    Part("3", figure_3),
    Part("5", figure_5),
    Part("6", figure_6),
    Part("7", figure_7),
    Part("8", figure_8),
    Part("9", figure_9),
    Part("mountain-car", figure_mountain_car),
    Part("theorem", figure_theorem),
    Part("learned", table_learned, "Learned covariance"),
    Part("choices", table_open_choices, "Unspecified details"),
    Part("causes", table_causes, "Ablations"),
    Part("one-setting", table_one_setting, "One setting for all domains"),
    Part("beyond", comparison, "Beyond the paper", beyond=True),
    Part("beyond-bars", bars, "Bars of our own", beyond=True),
    Part("deep-sea", deep_sea, "Deep Sea", beyond=True, asked=True),
    Part("beyond-parts", parts, "Parts of the bound", beyond=True, asked=True),
    Part("beyond-map", settings_map, beyond=True, asked=True),
    Part("planning", planning, "UCLS-Plan", beyond=True, asked=True),
    Part("beyond-long", long, "Long runs", beyond=True, asked=True),
)


def parts_of(names: Sequence[str]) -> list[Part]:
    """The parts of these names, in their order; without any, all that are made by default."""
    known = {part.name: part for part in PARTS}
    for name in names:
        if name not in known:
            raise unknown("figure", name, known)
    return [known[name] for name in names] or [part for part in PARTS if not part.asked]


def groups_of(chosen: Sequence[Part]) -> list[Group]:
    """The groups of some parts, each once."""
    return list(dict.fromkeys(group for part in chosen for group in part.groups()))
