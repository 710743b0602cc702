"""The claims in plain words: their titles, the reasons for verdicts, and what changed since the first ones."""

from ucls.paper.claims import CLAIMS
from ucls.paper.claims.check import Check, Claim
from ucls.report import Verdict


def title_of(claim: Claim) -> str:
    """The claim in a few words."""
    return CLAIMS[claim.number].title if claim.number in CLAIMS else claim.sentence


def because(claim: Claim) -> str:
    """Why the verdict is what it is, if that was found out for this one."""
    return CLAIMS[claim.number].because.get(claim.verdict, "") if claim.number in CLAIMS else ""


def was(claim: Claim) -> str:
    """The earlier verdict, and how its checks have changed since, if the verdict is a different one now."""
    before = CLAIMS[claim.number].before if claim.number in CLAIMS else None
    if before is None or claim.short or before.verdict is claim.verdict:
        return ""
    return f"Earlier verdict: {before.verdict.value}. Since then, {before.changed}."


def telling(claim: Claim) -> Check | None:
    """The check that says most: one that fails, else one that is inconclusive, else the first."""
    order = (False, None, True)
    return min(claim.checks, key=lambda check: order.index(check.holds), default=None)


def summary(claim: Claim) -> str:
    """The result of a claim in plain sentences, or the check that decides it where there are none."""
    check = (
        telling(claim) if claim.verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED) and not because(claim) else None
    )
    counted = f"{claim.held} of {len(claim.checks)} checks hold"
    words = f"Sensitive to {claim.depends}." if claim.verdict is Verdict.DEPENDS else ""
    said = f"{counted}." if check is None else f"{counted}; {check.what}: {check.found}."
    return " ".join(filter(None, (words, because(claim), said)))
