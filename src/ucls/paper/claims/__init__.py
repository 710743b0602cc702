"""What the paper claims, each held against the runs: `check` has the kinds of check, the others the claims."""

from ucls.paper.claims import bounds, learning, settings
from ucls.paper.claims.check import OF_ANY_LENGTH, Claim, Judge
from ucls.paper.evidence import Evidence


def judge_all(evidence: Evidence) -> list[Claim]:
    """Every claim, judged."""
    judges: list[Judge] = [*learning.JUDGES, *settings.JUDGES, *bounds.JUDGES]
    short = evidence.scale.steps < 1
    claims = sorted((judge(evidence) for judge in judges), key=lambda claim: claim.number)
    return [claim._replace(short=short and claim.number not in OF_ANY_LENGTH) for claim in claims]
