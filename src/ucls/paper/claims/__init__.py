"""The claims of the paper, each compared with runs: `check` has the kinds of check, the others the claims."""

import functools
from collections.abc import Iterable

from ucls.paper.claims import bounds, learning, sarsa, settings
from ucls.paper.claims.check import OF_ANY_LENGTH, Claim, Judge
from ucls.paper.evidence import Evidence, Recorder
from ucls.paper.groups import Group

JUDGES: dict[int, Judge] = dict(sorted({**learning.JUDGES, **sarsa.JUDGES, **settings.JUDGES, **bounds.JUDGES}.items()))
WITHOUT_RUNS = 12  # it walks chains of its own


def judge_all(evidence: Evidence, numbers: Iterable[int] = tuple(JUDGES)) -> list[Claim]:
    """Every claim, or those of some numbers, judged."""
    short = evidence.scale.steps < 1
    claims = [JUDGES[number](evidence) for number in sorted(numbers)]
    return [claim._replace(short=short and claim.number not in OF_ANY_LENGTH) for claim in claims]


@functools.cache
def groups_behind(number: int) -> tuple[Group, ...]:
    """The runs that a claim is judged by, whatever it turns on among them: those that its judge asks for."""
    if number == WITHOUT_RUNS:
        return ()
    recorder = Recorder()
    JUDGES[number](recorder)
    return tuple(recorder.asked)
