"""The declaration of a claim: a judge, decorated with everything else that belongs to the claim.

A judge compares the claim with runs, which `runs` lists as data, so that they can be made before anything is judged.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ucls.paper.claims.check import Claim
from ucls.paper.evidence import Evidence
from ucls.paper.report import Verdict
from ucls.paper.runs.groups import Group

HELD, FAILED, OPEN, TURNS = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.DEPENDS

Judge = Callable[[Evidence], Claim]


class Declared(NamedTuple):
    """A claim as declared: `part` is the figure or table it is shown with, `because` the reason for each verdict.

    `any_length` marks theorems, which hold for any number of steps.
    """

    title: str
    part: str
    runs: Callable[[], list[Group]]
    judge: Judge
    because: Mapping[Verdict, str] = {}
    any_length: bool = False


CLAIMS: dict[int, Declared] = {}


def claim(
    number: int,
    title: str,
    *,
    part: str,
    runs: Callable[[], list[Group]],
    because: Mapping[Verdict, str] = {},
    any_length: bool = False,
) -> Callable[[Judge], Judge]:
    """Declare the claim of a number; the decorated function judges it."""

    def declare(judge: Judge) -> Judge:
        CLAIMS[number] = Declared(title, part, runs, judge, because, any_length)
        return judge

    return declare
