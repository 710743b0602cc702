"""The claims in plain words: their titles, and the reasons for verdicts."""

from ucls.paper.claims import CLAIMS
from ucls.paper.claims.check import Claim


def title_of(claim: Claim) -> str:
    """The claim in a few words."""
    return CLAIMS[claim.number].title if claim.number in CLAIMS else claim.sentence


def because(claim: Claim) -> str:
    """Return the reason for a verdict, if it is known."""
    return CLAIMS[claim.number].because.get(claim.verdict, "") if claim.number in CLAIMS else ""
