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

# What changed of the checks of several claims.
FRACTIONS = "reaching the optimum is judged by the fraction of runs, not by a mean"
SARSA = "epsilon-greedy Sarsa is among the baselines, as in the paper's figure"
THOUSAND = "there are 1,000 runs instead of 30"
SUCCEEDS = "success and failure are judged by the same fraction of runs, 80%"
HUNDRED = "there are 100 runs"
TABLE = "the hash table is collision-free and baselines are tuned with it"
OTHERWISE = "other interpretations of unspecified details are tested"

Judge = Callable[[Evidence], Claim]


class Before(NamedTuple):
    """The verdict of the first 30 runs, if the checks were changed since, and what was changed."""

    verdict: Verdict
    changed: str


class Declared(NamedTuple):
    """A claim as declared: `part` is the figure or table it is shown with, `because` the reason for each verdict.

    `any_length` marks theorems, which hold for any number of steps.
    """

    title: str
    part: str
    runs: Callable[[], list[Group]]
    judge: Judge
    because: Mapping[Verdict, str] = {}
    before: Before | None = None
    any_length: bool = False


CLAIMS: dict[int, Declared] = {}


def claim(
    number: int,
    title: str,
    *,
    part: str,
    runs: Callable[[], list[Group]],
    because: Mapping[Verdict, str] = {},
    before: Before | None = None,
    any_length: bool = False,
) -> Callable[[Judge], Judge]:
    """Declare the claim of a number; the decorated function judges it."""

    def declare(judge: Judge) -> Judge:
        CLAIMS[number] = Declared(title, part, runs, judge, because, before, any_length)
        return judge

    return declare
